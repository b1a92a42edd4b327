"""The row check: compare the evaluations of rows with rest + counts * weights."""

import heapq
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np

from tuner.core.text import listed, plural
from tuner.datasets.rows.sample import RowSample, sample_of, tolerance
from tuner.datasets.rows.values import RowBatch
from tuner.parameters.parameters import Layout, Stages

ENOUGH = 0.999  # share of rows within rounding with which the rows fit
# centipawns that whole divisions of terms may add up to, in this share of the rows, and on average
DIVISIONS, MOSTLY, BIASED = 4.0, 0.99, 2.0
MOST_COMPARED = 200_000  # rows whose evaluations are compared with the results
CLEAR_CORRELATION = 0.1  # between evaluations and results
FEWEST_RESULTS = 500
WORST, MOST_TERMS, MOST_NAMED = 3, 6, 4  # rows, terms of each and unused numbers that are shown


class WorstRow(NamedTuple):
    """A row with a large difference: its number, from 1, its position, what the engine and what
    the rows say, and the numbers that say most of it, with their shares, all in centipawns."""

    row: int
    text: str
    engine: float
    rows: float
    terms: list[tuple[str, float]]

    def line(self) -> str:
        """Return it as text."""
        shown = ", ".join(f"{name} {share:+.1f}" for name, share in self.terms)
        at = f"{self.text} (row {self.row:,})" if self.text else f"row {self.row:,}"
        return f"{at}: engine {self.engine:+.1f}, rows {self.rows:+.1f}: {shown}"


@dataclass(frozen=True)
class RowCheck:
    """The result of the check. Differences are evaluation - (rest + counts · weights), in
    centipawns.

    `rows` were read, `checked` of them have an evaluation, `exact` of those agree within rounding,
    `near` within what divisions of terms add up to, and `rounded` if the weights are rounded to
    whole numbers. `mean` is the mean size of the differences, `bias` their mean. `worst` are the
    largest ones, the first one first. `remarks` say what is odd; `of_mover`: evaluations are of the
    side to move, or both they and the counts."""

    rows: int
    checked: int
    exact: int
    near: int
    rounded: int
    mean: float
    bias: float
    worst: tuple[WorstRow, ...]
    remarks: tuple[str, ...]
    of_mover: bool

    @property
    def share(self) -> float:
        """Share of the checked rows that agree."""
        return self.exact / self.checked if self.checked else 0.0

    @property
    def fits(self) -> bool:
        """Whether rows and weights are the engine's evaluation, but for rounding; False without
        evaluations, and with those of the side to move."""
        exact = max(self.exact, self.rounded) >= ENOUGH * self.checked
        divided = self.near >= MOSTLY * self.checked and abs(self.bias) <= BIASED
        return self.checked > 0 and (exact or divided) and not self.of_mover

    def lines(self) -> list[str]:
        """Return the findings as lines of text."""
        if not self.checked:
            return [
                f"none of {plural(self.rows, 'row')} has an evaluation (eval), so it is unknown"
                " whether counts and weights agree with the engine; print eval in each row"
            ]
        parts = [
            f"{self.exact:,} of {plural(self.checked, 'row')}"
            f" ({_percent(self.exact, self.checked)}) agree with the engine's evaluation within"
            f" rounding; mean difference {self.mean:.2f} centipawns"
        ]
        if self.exact < self.checked:
            parts += [f"largest differences: {each.line()}" for each in self.worst[:1]]
            parts += [each.line() for each in self.worst[1:]]
        if self.checked < self.rows:
            parts.append(
                f"{self.rows - self.checked:,} rows have no evaluation and were not checked"
            )
        if self.fits and self.exact < self.checked:
            parts.append("the row check passes: rounding explains the differences")
        return [*parts, *self.remarks]

    def as_dict(self) -> dict[str, Any]:
        """Return the findings as plain data."""
        return {**asdict(self), "share": self.share, "fits": self.fits}


def _percent(part: int, whole: int) -> str:
    """Return a share that is 100 % only for all."""
    value = 100 * part / whole
    return f"{value:.0f} %" if part in (0, whole) else f"{min(max(value, 0.01), 99.99):.2f} %"


def check_rows(
    batches: Iterable[RowBatch],
    weights: np.ndarray,
    layout: Layout,
    stages: Stages,
    letters: str = "wb",
) -> RowCheck:
    """Compare the evaluations of rows with rest + counts · weights, those (stages, columns) in
    centipawns. `letters` are those of the sides to move in positions, the first player's first."""
    rows = checked = exact = near = rounded = turned = 0
    total = bias = 0.0
    used, worst = np.zeros(layout.size, np.int64), list[tuple[float, int, WorstRow]]()
    compared: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
    for batch in batches:
        known = np.flatnonzero(~np.isnan(batch.evaluation))
        used += np.bincount(batch.index, minlength=layout.size)
        sample = sample_of(batch, layout.size, stages, letters).take(known)
        if len(known):
            predicted = sample.predicted(weights)
            difference = sample.evaluation - predicted
            reach = tolerance(sample.evaluation, sample.scale)
            exact += int((np.abs(difference) <= reach).sum())
            near += int((np.abs(difference) <= reach + DIVISIONS).sum())
            whole = sample.predicted(np.round(weights))
            rounded += int((np.abs(sample.evaluation - whole) <= reach).sum())
            of_mover = sample.evaluation * np.where(sample.side == -1, -1, 1)
            turned += int((np.abs(of_mover - predicted) <= reach).sum())
            total, bias = total + float(np.abs(difference).sum()), bias + float(difference.sum())
            for i in np.argsort(-np.abs(difference))[:WORST].tolist():
                text = batch.text[known[i]] if batch.text else ""
                row = rows + int(known[i]) + 1
                found = _worst(sample, i, row, text, weights, layout, float(predicted[i]))
                heapq.heappush(worst, (abs(float(difference[i])), -row, found))
            worst = heapq.nlargest(WORST, worst)
            if rows < MOST_COMPARED:
                compared.append((sample.evaluation, sample.outcome, sample.side))
        rows, checked = rows + len(batch.phase), checked + len(known)
    enough = ENOUGH * max(checked, 1)
    remarks = list(_unused(layout, weights, used)) if exact < enough else []
    mover = None
    if exact >= enough and compared:
        mover = _by_results(*map(np.concatenate, zip(*compared, strict=True)))
    elif turned >= enough:
        mover = (
            "The evaluations are of the side to move, the counts of the first player's view, or the"
            " reverse. Negate the one of the side to move where the second player (for chess Black)"
            " is to move."
        )
    if exact < enough <= rounded:
        remarks = ["With the weights of the parameter file rounded to whole numbers they agree."]
    remarks += [mover] if mover else []
    count = max(checked, 1)
    found_worst = tuple(each for *_, each in sorted(worst, key=lambda each: -each[0]))
    return RowCheck(
        rows,
        checked,
        exact,
        near,
        rounded,
        total / count,
        bias / count,
        found_worst,
        tuple(remarks),
        mover is not None,
    )


def _worst(
    sample: RowSample,
    i: int,
    row: int,
    text: str,
    weights: np.ndarray,
    layout: Layout,
    predicted: float,
) -> WorstRow:
    """Return a row with the numbers that say most of its evaluation."""
    counts = sample.counts[[i]].toarray()[0]
    shares = (sample.factors[:, i] @ weights) * counts
    most = np.argsort(-np.abs(shares))[:MOST_TERMS]
    labels = layout.labels()
    terms = [(labels[k], float(shares[k])) for k in most.tolist() if shares[k]]
    return WorstRow(row, text, float(sample.evaluation[i]), predicted, terms)


def _unused(layout: Layout, weights: np.ndarray, used: np.ndarray) -> Iterator[str]:
    """Yield a sentence on parameters with weights that no row counts."""
    idle = [
        place.path
        for place in layout.places
        if weights[:, place.columns].any() and not used[place.columns].any()
    ]
    if idle:
        yield (
            f"No row counts {listed(idle, MOST_NAMED)}, although the weights are not 0: count it,"
            " or take it out of the parameter file."
        )


def _by_results(evaluation: np.ndarray, outcome: np.ndarray, side: np.ndarray) -> str | None:
    """Return the fault of counts and evaluations that agree, but are both of the side to move, as
    the results show; None if they are not."""
    known = np.flatnonzero(~np.isnan(outcome) & (side != 0))
    results, stated = outcome[known], np.clip(evaluation[known], -1000, 1000)
    turned = stated * side[known]
    if len(known) < FEWEST_RESULTS or 0 in (results.std(), stated.std(), turned.std()):
        return None
    as_stated, as_turned = (np.corrcoef(each, results)[0, 1] for each in (stated, turned))
    if as_stated > CLEAR_CORRELATION or as_turned - as_stated <= CLEAR_CORRELATION:
        return None
    return (
        f"Counts and evaluations agree, but their correlation with the results is {as_stated:.2f},"
        f" and {as_turned:.2f} after the sign is changed where the second player is to move:"
        " results are of the first player's view (for chess White's), counts and evaluations"
        " of the side to move. Negate both there."
    )
