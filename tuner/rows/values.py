"""What numbers of a row may be: checks of whole batches, results and names of games."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn

import numpy as np

from games.streams import InputError
from tuner.parameters.layout import Layout
from tuner.rows.batch import RowBatch
from tuner.rows.names import shown

LARGEST_COUNT = 1e6
LARGEST_CENTIPAWNS = 1e6
LARGEST_SCALE = 16.0  # of the last stage
LARGEST_PHASE = 65535
LONGEST_TEXT = 1000  # characters of a position
OWN_GAME = 0xE5A1 << 48  # the highest bits of the identity of a row that names no game
OWN_FACTOR, OWN_MASK = 0x9E3779B97F4B, (1 << 48) - 1  # odd: no two rows get the same identity
RESULTS = {"1-0": 1.0, "0-1": -1.0, "1/2-1/2": 0.0, "1/2": 0.0, "½-½": 0.0, "1": 1.0, "0": -1.0, "0.5": 0.0, "1.0": 1.0,
           "0.0": -1.0,
           "": math.nan, "*": math.nan}
WHOLE = re.compile(r"-?\d{1,20}")
EXPECTED_RESULT = "expected the first player's share, 0 to 1, or 1-0, 1/2-1/2, 0-1"
EXPECTED_GAME = "expected a whole number of 64 bits or a text"
Where = Callable[[int], str]  # file and line of a row of a batch


@dataclass(frozen=True)
class Expected:
    """What the rows of a file are read as: a layout, the number of stages, and the steps of the phase (None: any number)."""

    layout: Layout
    stages: int = 2
    phases: int | None = None


def own_games(first: int, n: int) -> np.ndarray:
    """Return identities (n,) uint64 of rows that belong to no named game; `first` is the index of the first row in its file."""
    numbers = np.arange(first, first + n, dtype=np.uint64) * np.uint64(OWN_FACTOR)
    return np.uint64(OWN_GAME) | (numbers & np.uint64(OWN_MASK))


def game_of(value: object) -> int | None:
    """Return the identity (64 bits) of the game that a number or text names; None for other values.

    Whole numbers are their own identity, negative ones in two's complement. Texts are hashed.
    """
    if isinstance(value, str):
        if not WHOLE.fullmatch(value) or not -(1 << 63) <= int(value) < 1 << 64:
            return int.from_bytes(hashlib.blake2b(value.encode("utf-8", "replace"), digest_size=8).digest(), "little") >> 1
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool) and -(1 << 63) <= value < 1 << 64:
        return value & ((1 << 64) - 1)
    return None


def outcome_of(value: object) -> float | None:
    """Return the outcome in [-1, 1] for a result (a share, or 1-0 ...), NaN if it is unknown, None if this is no result."""
    if isinstance(value, str):
        word = value.strip()
        if word in RESULTS:
            return RESULTS[word]
        try:
            value = math.nan if "_" in word else float(word)
        except ValueError:
            return None
        if math.isnan(value):
            return math.nan if word.lower() == "nan" else None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        return None
    return 2.0 * value - 1.0


def checked(batch: RowBatch, expected: Expected, where: Where) -> RowBatch:
    """Return a valid batch: columns in ascending order, no zeros. InputError names the row of the first wrong number."""
    batch = _ordered(batch, expected, where)
    _check_counts(batch, expected, where)
    _check_numbers(batch, where)
    if expected.stages == 1:
        batch = batch._replace(phase=np.zeros_like(batch.phase))
    _check_phase(batch.phase, expected.phases, where)
    if batch.text is not None:
        _check_text(batch.text, where)
        if not any(batch.text):
            batch = batch._replace(text=None)
    if len(batch.count) and not batch.count.all():
        kept = batch.count != 0
        before = np.zeros(len(kept) + 1, np.int64)
        np.cumsum(kept, out=before[1:])
        batch = batch._replace(index=batch.index[kept], count=batch.count[kept], row=before[batch.row])
    return batch


def refuse(where: str, found: str, expected: str, advice: str) -> NoReturn:
    """Raise the InputError of a row."""
    raise InputError(f"{where}: {found}; expected {expected}; {advice}")


def _row_of(batch: RowBatch, nonzero: int) -> int:
    return int(np.searchsorted(batch.row, nonzero, "right")) - 1


def _ordered(batch: RowBatch, expected: Expected, where: Where) -> RowBatch:
    """Sort the columns of each row if need be, and refuse columns that the layout lacks and columns given twice."""
    index, columns = batch.index, expected.layout.size
    if len(index) == 0:
        return batch
    if int(index.min()) < 0 or int(index.max()) >= columns:
        at = int(np.argmax((index < 0) | (index >= columns)))
        refuse(where(_row_of(batch, at)), f"column {int(index[at])} (from 0)", f"columns below {columns}, the parameter file's",
               "use the parameter file that these rows were made for")
    step = np.diff(index) > 0
    starts = batch.row[1:-1]
    step[starts[(starts > 0) & (starts < len(index))] - 1] = True
    if step.all():
        return batch
    of = np.repeat(np.arange(len(batch.phase)), np.diff(batch.row))
    order = np.lexsort((index, of))
    index, count = index[order], batch.count[order]
    twice = (np.diff(index) == 0) & (np.diff(of) == 0)
    if twice.any():
        at = int(np.argmax(twice))
        refuse(where(int(of[at])), f"{expected.layout.labels()[index[at]]} is there twice", "each column once in a row",
               "add the two counts up")
    return batch._replace(index=index, count=count)


def _check_counts(batch: RowBatch, expected: Expected, where: Where) -> None:
    count = batch.count
    if len(count) and not max(count.max(), -count.min()) <= LARGEST_COUNT:  # also for NaN
        at = int(np.argmin(np.abs(count) <= LARGEST_COUNT))
        refuse(where(_row_of(batch, at)), f"the count of {expected.layout.labels()[batch.index[at]]} is {number_text(count[at])}",
               f"a number between {-LARGEST_COUNT:,.0f} and {LARGEST_COUNT:,.0f}", "correct it")


def _check_numbers(batch: RowBatch, where: Where) -> None:
    centipawns = f"centipawns between {-LARGEST_CENTIPAWNS:,.0f} and {LARGEST_CENTIPAWNS:,.0f}"
    for name, values, wrong, expected in (
            ("result", batch.outcome, np.abs(batch.outcome) > 1, "a share of 0 to 1"),
            ("rest", batch.rest, ~(np.abs(batch.rest) <= LARGEST_CENTIPAWNS), centipawns),
            ("scale", batch.scale, ~((batch.scale >= 0) & (batch.scale <= LARGEST_SCALE)), f"a factor of 0 to {LARGEST_SCALE:g}"),
            ("eval", batch.evaluation, np.abs(batch.evaluation) > LARGEST_CENTIPAWNS, centipawns),
            ("score", batch.score, (np.abs(batch.score) > LARGEST_CENTIPAWNS) & ~np.isinf(batch.score),
             f"{centipawns}, or inf or -inf for a mate")):
        if wrong.any():
            at = int(np.argmax(wrong))
            value = (values[at] + 1) / 2 if name == "result" else values[at]
            refuse(where(at), f"{name} is {number_text(value)}", expected, "correct it")


def _check_phase(phase: np.ndarray, phases: int | None, where: Where) -> None:
    most = LARGEST_PHASE if phases is None else phases
    if len(phase) and (phase.min() < 0 or phase.max() > most):
        at = int(np.argmax((phase < 0) | (phase > most)))
        refuse(where(at), f"phase is {phase[at]}", f"a whole number of 0 to {most}, steps of the first stage",
               "limit the phase as the evaluation does, or correct the number of steps" if phases is not None else "correct it")


def _check_text(text: list[str], where: Where) -> None:
    if max(map(len, text), default=0) > LONGEST_TEXT:
        at = next(i for i, word in enumerate(text) if len(word) > LONGEST_TEXT)
        refuse(where(at), f"a position of {len(text[at]):,} characters", f"at most {LONGEST_TEXT:,}", "leave it out")
    if not "".join(text).isprintable():
        at = next(i for i, word in enumerate(text) if not word.isprintable())
        refuse(where(at), f"the position {shown(text[at])!r} contains a control character", "one line of text", "leave it out")


def phases_from(values: np.ndarray, where: Where) -> np.ndarray:
    """Return phases as int64 from numbers that must be whole; NaN is a phase that is missing."""
    wrong = ~(values == np.floor(values)) | (np.abs(values) > 1e15)
    if wrong.any():
        at = int(np.argmax(wrong))
        found = "no phase" if np.isnan(values[at]) else f"phase is {number_text(values[at])}"
        refuse(where(at), found, f"a whole number of 0 to {LARGEST_PHASE}, steps of the first stage",
               "write it, or use a parameter file of one stage" if np.isnan(values[at]) else "correct it")
    return values.astype(np.int64)


def number_text(value: float) -> str:
    """Return a number for an error message."""
    return f"{value:g}"
