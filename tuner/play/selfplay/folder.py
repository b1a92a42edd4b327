"""The folder of a self-play run: games and learner, saved so that the run can continue after any
interruption.

`checkpoint.npz` is replaced after every batch and records the lengths of the files that grow:
`history.jsonl` with a line for each batch and, if weights are learned, the games and `games.keys`
with an eight-byte key of each game. Longer files are truncated; if they are longer than a killed
run leaves them, the excess is saved as `history.jsonl.damaged-1` and so on."""

from __future__ import annotations

import io
import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

from games.streams import InputError
from tuner.io.files import replace_file
from tuner.io.run_folder import HISTORY, keep_beside
from tuner.play.journal import GrowingFiles, json_line, json_object

CHECKPOINT, START = "checkpoint.npz", "start.yaml"
NUMBERS = ("games", "cpu_seconds")  # of a line, from which a run continues
MOST_LINE = 1 << 16  # bytes


class Expected(NamedTuple):
    """An array of a checkpoint: its shape, the kind or name of its dtype, and its minimum."""

    shape: tuple[int, ...]
    dtype: str = "float64"
    least: float = -np.inf

    def fits(self, array: np.ndarray) -> bool:
        """Return whether an array has this dtype, and finite numbers that are not below the
        least."""
        if self.dtype not in (array.dtype.kind, array.dtype.name):
            return False
        return bool(np.isfinite(array).all() and (array >= self.least).all())


class SavedLearning(Protocol):
    """The learner of a checkpoint."""

    batches: int

    def arrays(self) -> dict[str, np.ndarray]:
        """Return all that the learner needs to continue, apart from `batches`."""

    def expected(self, saved: dict[str, np.ndarray]) -> dict[str, Expected]:
        """Return the expected arrays of a checkpoint; their shapes may follow from those
        saved."""

    def fault(self, saved: dict[str, np.ndarray], history: list[dict]) -> str | None:
        """Return what is wrong with a checkpoint whose arrays are as expected, with the lines of
        its batches; None if nothing is."""

    def take(self, saved: dict[str, np.ndarray]) -> None:
        """Continue from a checkpoint."""


def _line_of(raw: bytes, number: int) -> dict[str, Any]:
    """Decode the line of a batch; ValueError if it is not."""
    line = json_object(raw)
    numbers = [line.get(name, -1) for name in NUMBERS]
    if (
        not raw.endswith(b"\n")
        or line.get("batch") != number
        or not all(type(value) in (int, float) and 0 <= value < math.inf for value in numbers)
    ):
        raise ValueError("not the line of this batch")
    return line


class Folder:
    """Reads an earlier run and writes batches. Nothing is changed before all of the run is checked.

    `others` are the files that grow with the history, and `learned` is the file from which
    another run can start."""

    def __init__(
        self, path: Path, learned: str, others: tuple[str, ...], note: Callable[[str], None]
    ) -> None:
        self.path, self._note = path, note
        self._go_on = f"the run cannot continue, but a new one can start from {learned}"
        self._files = GrowingFiles(path, (HISTORY, *others), "earlier batches are kept")
        self._sizes = [0] * len(self._files.paths)

    def history(self) -> list[dict]:
        """Return the lines of all batches so far."""
        path, lines = self.path / HISTORY, []
        with open(path, "rb") as stream:
            for number, raw in enumerate(stream.read(self._sizes[0]).splitlines(keepends=True), 1):
                try:
                    lines.append(_line_of(raw, number))
                except ValueError:
                    raise InputError(
                        f"{path}:{number}: damaged, expected the line of batch {number};"
                        f" {self._go_on}"
                    ) from None
        return lines

    def restore(self, learner: SavedLearning) -> bool:
        """Set a new learner to the state of the checkpoint and truncate the files to it; return
        whether there is a checkpoint."""
        with self._files.opened():
            saved, sizes = self._read(), self._files.sizes
            if saved is not None:
                self._require_whole(saved, learner, sizes)
                learner.take(saved)
                self._cut_off(sizes)
            elif any(sizes):
                raise InputError(
                    f"{self.path / CHECKPOINT}: is missing, but games were played; restore it;"
                    f" {self._go_on}"
                )
        return saved is not None

    def _require_whole(
        self, saved: dict[str, np.ndarray], learner: SavedLearning, found: list[int]
    ) -> None:
        """InputError for a checkpoint that does not fit this learner or these files."""
        path = self.path / CHECKPOINT
        wanted = learner.expected(saved) | {
            "batches": Expected((), "i", 0),
            "sizes": Expected((len(self._sizes),), "i", 0),
        }
        for name, expected in wanted.items():
            if name not in saved:
                raise InputError(f"{path}: damaged, it lacks {name}; {self._go_on}")
            if not expected.fits(saved[name]):
                kind = "counts" if expected.dtype == "i" else "numbers"
                raise InputError(f"{path}: damaged, expected {kind} in {name}; {self._go_on}")
        for name, expected in wanted.items():
            if saved[name].shape != expected.shape:
                raise InputError(
                    f"{path}: {name} has shape {saved[name].shape}, expected {expected.shape};"
                    f" {self._go_on}"
                )
        self._sizes = saved["sizes"].tolist()
        for grown, size, there in zip(self._files.paths, self._sizes, found, strict=True):
            if there < size:
                raise InputError(
                    f"{grown}: has {there:,} bytes, expected {size:,} as in {CHECKPOINT};"
                    f" {self._go_on}"
                )
            if not grown.is_file():
                raise InputError(
                    f"{grown}: is not a file, expected {size:,} bytes as in {CHECKPOINT};"
                    f" {self._go_on}"
                )
        batches = int(saved["batches"])
        lines = self.history()
        if len(lines) != batches:
            raise InputError(
                f"{path}: has {batches:,} batches, {HISTORY} has {len(lines):,}; {self._go_on}"
            )
        if fault := learner.fault(saved, lines):
            raise InputError(f"{path}: damaged, {fault}; {self._go_on}")

    def _cut_off(self, found: list[int]) -> None:
        """Truncate the files to the checkpoint. A killed run leaves one more batch, its line first;
        save any further excess."""
        with open(self.path / HISTORY, "rb") as stream:
            stream.seek(self._sizes[0])
            beyond = stream.read()
        killed = (
            beyond.count(b"\n") <= 1
            and len(beyond) < MOST_LINE
            and (beyond or found == self._sizes)
        )
        for path, size, there in zip(self._files.paths, self._sizes, found, strict=True):
            if there > size and not killed:
                kept = keep_beside(path, size)
                self._note(
                    f"{path}: moved {there - size:,} bytes beyond the length in {CHECKPOINT} to"
                    f" {kept}"
                )
            os.truncate(path, size)

    def append(self, learner: SavedLearning, line: dict, *others: bytes) -> None:
        """Save a batch: its line, what it adds to further files, and then the checkpoint that
        makes it count."""
        pieces = (json_line(line), *others)
        self._files.append(*pieces)
        self._sizes = [size + len(piece) for size, piece in zip(self._sizes, pieces, strict=True)]
        with self._files.writing():
            self.checkpoint(learner)

    def checkpoint(self, learner: SavedLearning) -> None:
        """Write the state of the learner."""
        content = io.BytesIO()
        np.savez(content, **learner.arrays(), batches=learner.batches, sizes=np.array(self._sizes))  # type: ignore[arg-type]
        replace_file(self.path / CHECKPOINT, content.getvalue())

    def close(self) -> None:
        self._files.close()

    def _read(self) -> dict[str, np.ndarray] | None:
        path = self.path / CHECKPOINT
        if not path.exists():
            return None
        try:
            with np.load(path, allow_pickle=False) as saved:
                return {name: saved[name] for name in saved.files}
        except Exception as problem:  # a damaged archive may raise anything
            raise InputError(
                f"{path}: damaged ({str(problem).partition(chr(10))[0]}); {self._go_on}"
            ) from None
