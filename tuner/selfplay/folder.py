"""The folder of a self-play run: games and learner, saved so that the run can continue after any interruption.

`checkpoint.npz` is replaced after every batch and records the lengths of the files that grow: `history.jsonl` with a line for
each batch, the games, and `games.keys` with an eight-byte key of each game. Longer files are truncated; if they are longer
than a killed run leaves them, the excess is saved as `history.jsonl.damaged-1` and so on.
"""

from __future__ import annotations

import contextlib
import io
import json
import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import IO

import numpy as np

from games.streams import InputError
from tuner.fit.learners.rules import NEVER_NEGATIVE
from tuner.io.files import replace_file
from tuner.io.run_folder import HISTORY, keep_beside, locked, write_all
from tuner.selfplay.learner import Learner

CHECKPOINT, KEYS, START, PARAMS = "checkpoint.npz", "games.keys", "start.yaml", "params.yaml"
STATE = "state."
NUMBERS = ("games", "cpu_seconds")  # of a line, from which a run continues
MOST_LINE = 1 << 16  # bytes
GO_ON = f"the run cannot continue, but a new one can start from {PARAMS}"


class Folder:
    """Reads an earlier run and writes batches. Nothing is changed before all of the run is checked."""

    def __init__(self, path: Path, games: str, note: Callable[[str], None]) -> None:
        self.path, self._note = path, note
        self._names = (HISTORY, games, KEYS)
        with contextlib.ExitStack() as opened:
            try:
                self._lock = opened.enter_context(locked(path))
                self._saved = self._read()
            except OSError as problem:
                raise InputError(f"{problem.filename or path}: cannot be used: {problem.strerror}") from None
            opened.pop_all()
        self._streams: list[IO[bytes]] = []
        self._sizes = [0] * len(self._names)
        self.keys: set[int] = set()

    def history(self) -> list[dict]:
        """Return the lines of all batches so far."""
        path, lines = self.path / HISTORY, []
        with open(path, "rb") as stream:
            for number, raw in enumerate(stream.read(self._sizes[0]).splitlines(keepends=True), 1):
                try:
                    line = json.loads(raw) if raw.endswith(b"\n") else None
                except (ValueError, RecursionError):
                    line = None
                if not isinstance(line, dict) or line.get("batch") != number or not all(
                        type(line.get(name)) in (int, float) and 0 <= line[name] < math.inf for name in NUMBERS):
                    raise InputError(f"{path}:{number}: damaged, expected the line of batch {number}; {GO_ON}")
                lines.append(line)
        return lines

    def restore(self, learner: Learner) -> bool:
        """Set a new learner to the state of the checkpoint and truncate the files to it; return whether there is a checkpoint."""
        saved, paths = self._saved, [self.path / name for name in self._names]
        found = [path.stat().st_size if path.exists() else 0 for path in paths]
        if saved is not None:
            self._require_whole(saved, learner, found)
            learner.weights, learner.average, learner.batches = saved["weights"], saved["average"], int(saved["batches"])
            learner.state = {name: saved[STATE + name] for name in learner.rule.names}
            learner.kept = dict(zip(saved["kept_batches"].tolist(), saved["kept"], strict=True))
        elif any(found):
            raise InputError(f"{self.path / CHECKPOINT}: is missing, but games were played; restore it; {GO_ON}")
        try:
            self._streams = [open(path, "ab", buffering=0) for path in paths]
        except OSError as problem:
            raise InputError(f"{problem.filename}: cannot be used: {problem.strerror}") from None
        self._cut_off(found)
        self.keys = set(np.fromfile(self.path / KEYS, np.uint64).tolist())
        return saved is not None

    def _require_whole(self, saved: dict[str, np.ndarray], learner: Learner, found: list[int]) -> None:
        """InputError for a checkpoint that does not fit this learner or these files."""
        path, shape = self.path / CHECKPOINT, learner.weights.shape
        weights = ("weights", "average", *(STATE + name for name in learner.rule.names))
        counts = ("batches", "kept_batches", "sizes")
        for name in (*weights, "kept", *counts):
            if name not in saved:
                raise InputError(f"{path}: damaged, it lacks {name}; {GO_ON}")
            array, whole = saved[name], name in counts
            least = 0 if whole or name.removeprefix(STATE) in NEVER_NEGATIVE else -np.inf
            right = array.dtype.kind == "i" if whole else array.dtype == np.float64
            if not (right and np.isfinite(array).all() and (array >= least).all()):
                raise InputError(f"{path}: damaged, expected {'counts' if whole else 'numbers'} in {name}; {GO_ON}")
        shapes = {name: shape for name in weights} | {"batches": (), "sizes": (len(self._names),), "kept": (
            len(saved["kept"]) if saved["kept"].ndim else 0, *shape), "kept_batches": saved["kept"].shape[:1]}
        for name, wanted in shapes.items():
            if saved[name].shape != wanted:
                raise InputError(f"{path}: {name} has shape {saved[name].shape}, expected {wanted}; {GO_ON}")
        self._sizes = saved["sizes"].tolist()
        for name, size, there in zip(self._names, self._sizes, found, strict=True):
            if there < size:
                raise InputError(f"{self.path / name}: has {there:,} bytes, expected {size:,} as in {CHECKPOINT}; {GO_ON}")
            if not os.path.isfile(self.path / name):
                raise InputError(f"{self.path / name}: is not a file, expected {size:,} bytes as in {CHECKPOINT}; {GO_ON}")
        batches = int(saved["batches"])
        lines = len(self.history())
        if lines != batches:
            raise InputError(f"{path}: has {batches:,} batches, {HISTORY} has {lines:,}; {GO_ON}")
        kept = saved["kept_batches"].tolist()
        if lacking := learner.needed(batches) - set(kept):
            raise InputError(f"{path}: damaged, it lacks the weights after {min(lacking)} batches; {GO_ON}")
        if len(set(kept)) < len(kept) or max(kept) > batches:
            raise InputError(f"{path}: damaged, kept_batches do not fit {batches} batches; {GO_ON}")

    def _cut_off(self, found: list[int]) -> None:
        """Truncate the files to the checkpoint. A killed run leaves one more batch, its line first; save any other excess."""
        with open(self.path / HISTORY, "rb") as stream:
            stream.seek(self._sizes[0])
            beyond = stream.read()
        killed = beyond.count(b"\n") <= 1 and len(beyond) < MOST_LINE and (beyond or found == self._sizes)
        for size, there, name in zip(self._sizes, found, self._names, strict=True):
            if there > size and not killed:
                kept = keep_beside(self.path / name, size)
                self._note(f"{self.path / name}: moved {there - size:,} bytes beyond the length in {CHECKPOINT} to {kept}")
        for stream, size in zip(self._streams, self._sizes, strict=True):
            stream.truncate(size)

    def append(self, learner: Learner, line: dict, games: str, keys: list[int]) -> None:
        """Save a batch: its games, and then the checkpoint that makes it count."""
        pieces = (json.dumps(line, separators=(",", ":")).encode() + b"\n", games.encode("utf-8", "replace"),
                  np.array(keys, np.uint64).tobytes())
        try:
            self._sizes = [size + write_all(stream, piece)
                           for size, stream, piece in zip(self._sizes, self._streams, pieces, strict=True)]
            self.checkpoint(learner)
        except OSError as problem:
            raise InputError(f"{self.path}: cannot be written: {problem.strerror}; earlier batches are kept") from None
        self.keys.update(keys)

    def checkpoint(self, learner: Learner) -> None:
        """Write the state of the learner."""
        content = io.BytesIO()
        np.savez(content, weights=learner.weights, average=learner.average, batches=learner.batches,
                 kept=np.array(list(learner.kept.values())), kept_batches=np.array(list(learner.kept)),
                 sizes=np.array(self._sizes), **{STATE + name: array for name, array in learner.state.items()})
        replace_file(self.path / CHECKPOINT, content.getvalue())

    def close(self) -> None:
        for stream in (*self._streams, self._lock):
            stream.close()

    def _read(self) -> dict[str, np.ndarray] | None:
        path = self.path / CHECKPOINT
        if not path.exists():
            return None
        try:
            with np.load(path, allow_pickle=False) as saved:
                return {name: saved[name] for name in saved.files}
        except Exception as problem:  # a damaged archive may raise anything
            raise InputError(f"{path}: damaged ({str(problem).partition(chr(10))[0]}); {GO_ON}") from None
