"""Rows of positions: the derivative of the evaluation by each option, by central differences."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from games.record import PositionBatch
from tuner.export.option_names import TERM, parameter_names
from tuner.parameters.layout import Layout, Place
from tuner.probe.answers import Answers, Settings
from tuner.probe.steps import Step
from tuner.rows.batch import RowBatch

LARGEST = 1 << 23  # evaluations in memory at a time
MOST_POSITIONS = 4096


@dataclass
class Kept:
    """How many positions became rows, and why the others did not."""

    rows: int = 0
    unknown: int = 0  # in check, or a mate
    changed: int = 0  # another PV
    bent: int = 0  # not linear there


def layout_of_options(options: Sequence[str], steps: Sequence[Step]) -> Layout:
    """The parameters of options: single numbers of one term, named so that `tuner match --with` finds the options again.
    `options` are the names of all of the engine's."""
    names = dict(zip(options, parameter_names(options), strict=True))
    return Layout(tuple(Place(TERM, names[step.name], (), i) for i, step in enumerate(steps)))


def jacobian(answers: Answers, steps: Sequence[Step], batches: Iterable[PositionBatch], text: Callable[[np.ndarray], str],
             tolerance: float | None = None, kept: Kept | None = None) -> Iterator[RowBatch]:
    """Yield the rows of positions at the values of the steps: count = d evaluation / d option, rest = evaluation - sum of count
    times value.

    `text` writes a position. With a `tolerance` in centipawns, positions where an option deviates from linear by more are left
    out. Positions without evaluation are left out too, and with searches those whose PV is not the same in all of them: `kept`
    counts them. Small batches are joined, because some engines are started again for each settings and batch.
    """
    kept = Kept() if kept is None else kept
    answers.base.update({step.name: step.value for step in steps})
    most = min(MOST_POSITIONS, max(64, LARGEST // (2 * len(steps) + 1)))
    parts = [(batch.positions, batch.outcomes, np.repeat(batch.identities, np.diff(batch.first, append=len(batch.positions))),
              batch.recorded) for batch in batches]
    if not parts:
        return
    positions, outcomes, games, scores = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    for begin in range(0, len(positions), most):
        some = slice(begin, begin + most)
        rows = _rows(answers, steps, positions[some], outcomes[some], games[some], scores[some], text, tolerance, kept)
        if len(rows.phase):
            yield rows


def _rows(answers: Answers, steps: Sequence[Step], positions: np.ndarray, outcomes: np.ndarray, games: np.ndarray,
          scores: np.ndarray, text: Callable[[np.ndarray], str], tolerance: float | None, kept: Kept) -> RowBatch:
    moves: list[Settings] = [{step.name: step.value + move} for step in steps for move in step.moves]
    found = answers(answers.asked(positions), [{}, *moves])
    known = np.isfinite(found.values).all(axis=0)
    good = known & found.same.all(axis=0)
    kept.unknown += int(np.count_nonzero(~known))
    kept.changed += int(np.count_nonzero(known & ~good))
    values = found.values[:, good]
    slopes, bent, row = np.empty((len(steps), values.shape[1])), np.zeros(values.shape[1], np.bool_), 1
    for k, step in enumerate(steps):
        at = {0: values[0]}
        for move in step.moves:
            at[move] = values[row]
            row += 1
        slopes[k] = (at[step.up] - at[step.down]) / step.width
        if tolerance is not None and len(step.moves) == 2:
            bent |= np.abs(at[step.down] - at[0] - step.down * slopes[k]) > tolerance
    kept.bent += int(np.count_nonzero(bent))
    good[good] = ~bent
    kept.rows += int(np.count_nonzero(good))
    return rows_of(values[0, ~bent], slopes[:, ~bent].T, np.array([step.value for step in steps], float), outcomes[good],
                   games[good], scores[good], [text(words) for words in positions[good]])


def rows_of(evaluation: np.ndarray, counts: np.ndarray, values: np.ndarray, outcomes: np.ndarray, games: np.ndarray,
            scores: np.ndarray, texts: list[str]) -> RowBatch:
    """Return n positions with counts (n, options) at these values of the options (options,); `rest` is what they leave of the
    evaluation (n,). `scores` (n,) are those that the file of games records, NaN where there is none."""
    n = len(evaluation)
    counts = counts.astype(np.float32)
    place, index = np.nonzero(counts)
    rest = evaluation - counts.astype(np.float64) @ values
    return RowBatch(index.astype(np.int32), counts[place, index], np.searchsorted(place, np.arange(n + 1)).astype(np.int64),
                    np.ones(n, np.int64), outcomes.astype(np.float32), rest.astype(np.float32), np.ones(n, np.float32),
                    evaluation.astype(np.float32), scores.astype(np.float32), games.astype(np.uint64), texts)
