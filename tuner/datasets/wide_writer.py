"""Write positions that another program counted: with everything that format 2 has, and then without what they do not need."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from games.streams import InputError
from tuner.datasets.array_files import ArrayWriter
from tuner.datasets.format import ARRAYS, OPTIONAL, WIDE
from tuner.datasets.rows import Rows
from tuner.datasets.writer import DatasetWriter

MOST_CODES = 1 << 16  # pairs of phase and scale: values of a wide phase
PIECE = 1 << 20  # numbers converted at a time


class WideWriter(DatasetWriter):
    """A writer of rows whose `phase` are steps of the phase; the scale of the last stage, the rest, evaluations, scores and texts
    are optional. `finish` leaves out arrays that say nothing, and makes counts and phases as small as they fit."""

    def __init__(self, target: Path) -> None:
        super().__init__(target, {**ARRAYS, **WIDE, **OPTIONAL})
        self._codes: dict[tuple[int, float], int] = {}
        self._narrow, self._text_bytes = True, 0

    def add_rows(self, rows: Rows, scale: np.ndarray, evaluation: np.ndarray, score: np.ndarray,
                 text: Sequence[str] | None) -> None:
        """Append positions, whose arrays are those of `tuner.rows.batch.RowBatch`. InputError for too many different scales."""
        n = len(rows.phase)
        pairs = np.stack([rows.phase.astype(np.float64), scale.astype(np.float64)], axis=1)
        kinds, of = np.unique(pairs, axis=0, return_inverse=True)
        codes = [self._codes.setdefault((int(step), factor), len(self._codes)) for step, factor in kinds.tolist()]
        if len(self._codes) > MOST_CODES:
            raise InputError(f"more than {MOST_CODES:,} different pairs of phase and scale; round the scale, such as to 1/128")
        small = rows.count.astype(np.int8)
        self._narrow &= bool((rows.count == small).all())
        self.add_positions(rows._replace(phase=np.array(codes, np.uint16)[of.ravel()]))
        for name, values in (("evaluation", evaluation), ("score", score)):
            self.add_optional(name, values, not np.isnan(values).all())
        rest = np.zeros(n, np.float32) if rows.rest is None else rows.rest
        self.add_optional("rest", rest, bool(rest.any()))
        texts = [some.encode("utf-8", "replace") for some in text] if text is not None else [b""] * n
        ends = self._text_bytes + np.cumsum([len(some) for some in texts], dtype=np.int64)
        self._text_bytes = int(ends[-1]) if n else self._text_bytes
        self.add_optional("text", np.frombuffer(b"".join(texts), np.uint8), self._text_bytes > 0)
        self.add_optional("text_end", ends, self._text_bytes > 0)

    def finish(self, manifest: dict) -> None:
        """Close the files and rename the folder to the target, replacing an older dataset."""
        pairs = sorted(self._codes)
        plain = all(factor == 1 for _, factor in pairs)
        new = {pair: pair[0] if plain else place for place, pair in enumerate(pairs)}
        recoded = np.array([new[pair] for pair in self._codes], np.uint16)
        narrow = self._narrow and int(recoded.max(initial=0)) <= 255
        self._convert("phase", ARRAYS["phase"] if narrow else WIDE["phase"], lambda codes: recoded[codes])
        if narrow:
            self._convert("count", ARRAYS["count"], lambda counts: counts)
        super().finish(manifest if plain else {**manifest, "shares": [[step, factor] for step, factor in pairs]})

    def _convert(self, name: str, kind: type, function) -> None:
        """Replace an array by a function of it, with items of another type."""
        self._arrays[name].close()
        old, path = self._folder / f"{name}.old", self._folder / f"{name}.npy"
        os.rename(path, old)
        values, writer = np.load(old, mmap_mode="r"), ArrayWriter(path, kind)
        self._arrays[name] = writer
        for begin in range(0, len(values), PIECE):
            writer.append(function(values[begin:begin + PIECE]))
        del values
        old.unlink()
