"""The row check: compare the evaluations of rows with rest + counts * weights, and name the fault
that explains the differences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from tuner.core.text import plural
from tuner.datasets.rows.changes import (
    Change,
    Unused,
    changes_of,
    closest_group,
    faults_of,
    find_changes,
    weights_of,
)
from tuner.datasets.rows.corrections import (
    Correction,
    finer,
    missing_numbers,
    never_counted,
    tapers,
)
from tuner.datasets.rows.sample import (
    EXPLAINED,
    ROUNDING,
    RowFault,
    RowSample,
    Sampler,
    Trial,
    sample_of,
    tolerance,
)
from tuner.datasets.rows.values import RowBatch
from tuner.parameters.parameters import Layout, Stages

UNKNOWN = "unknown"  # the kind of a fault that none of those looked for explains
ENOUGH = 0.999  # share of rows within rounding with which the rows fit
MOSTLY = 0.8  # the same where the rest is off by one centipawn more, as by whole divisions
FEWEST_SIDES = 0.9  # share of the rows whose side to move must be known
FEW, MOST_WEIGHTS = 3, 8  # changes, and weights alone, that are named together
CLEAR_CORRELATION = 0.1  # between evaluations and results
FEWEST_RESULTS = 500


def diagnose(
    sample: RowSample,
    weights: np.ndarray,
    layout: Layout,
    stages: Stages,
    used: np.ndarray,
) -> tuple[RowFault, ...]:
    """Return the faults that explain the differences, the first one to fix first; `used`
    (columns,) counts all rows' nonzeros.

    If none does, say so, and name what comes closest.
    """
    trial = Trial(sample, weights)
    if found := _rounded(trial) or _first(trial, finer(trial, stages)):
        return found
    beyond = np.abs(trial.difference) - trial.tolerance
    if (beyond <= ROUNDING).all() and (beyond <= 0).mean() >= MOSTLY:
        return ()
    unused, views = never_counted(layout, weights, used), list(_views(trial, stages))

    def change(view: Trial, changes: Sequence[Change], most: int) -> tuple[RowFault, ...]:
        return faults_of(find_changes(view, changes, most), view, stages.names, unused)

    def explain(view: Trial) -> tuple[RowFault, ...]:
        found = change(view, changes_of(view, layout), FEW)
        if len(found) == 1:
            return found
        missing = [
            (float(np.abs(counted.difference).mean()), replace(fault, explained=share))
            for fault, counted in missing_numbers(view, layout, used)
            if (share := counted.explained(counted.predicted)) is not None
        ]
        if missing:
            return (min(missing, key=lambda each: each[0])[1],)
        return found or _first(view, tapers(view, stages))

    for fault, view in views:
        if found := _first(view, [Correction(fault.kind, view.predicted, fault.text)]):
            return found
    if found := explain(trial):
        return found
    for fault, view in views:
        if found := explain(view):
            return (replace(fault, explained=found[0].explained), *found)
    lacking = {name for name, columns in unused if len(columns) == 1}
    for fault, counted in missing_numbers(trial, layout, used):
        if fault.name in lacking:
            if found := change(counted, changes_of(counted, layout), FEW):
                return (replace(fault, explained=found[0].explained), *found)
    if not unused and (found := change(trial, weights_of(trial, layout), MOST_WEIGHTS)):
        return found
    if (explained := _explained_by_sign(trial)) is not None:
        text = (
            "In many rows the evaluation agrees after its sign is changed: evaluations are of the"
            " side to move, or counts are. Print both of the first player's view (for chess"
            " White's)."
        )
        return (RowFault("perspective", "", text, explained),)
    return _unexplained(trial, layout, weights, unused)


def _first(trial: Trial, corrections: Iterable[Correction]) -> tuple[RowFault, ...]:
    """Return the fault of the first correction that explains the differences, or nothing."""
    for kind, predicted, text, rounding in corrections:
        if (share := trial.explained(predicted, rounding)) is not None:
            return (RowFault(kind, "", text, share),)
    return ()


def _explained_by_sign(trial: Trial) -> float | None:
    """Return the share of the differing rows that agree after a change of sign; None unless this
    explains the differences."""
    opposite = np.abs(trial.sample.evaluation + trial.predicted) <= trial.tolerance
    share = float(opposite[trial.differs].mean()) if trial.differs.any() else 0.0
    return share if share >= EXPLAINED and trial.differs.mean() > 0.1 else None


def _rounded(trial: Trial) -> tuple[RowFault, ...]:
    """Return the finding that the engine has the weights of the parameter file with fewer decimals,
    if the rows that differ then agree."""
    for decimals in (0, 1, 2):
        predicted = trial.sample.predicted(np.round(trial.weights, decimals))
        agrees = np.abs(trial.sample.evaluation - predicted) <= trial.tolerance
        if agrees.mean() >= ENOUGH and (share := trial.explained(predicted)) is not None:
            what = "whole numbers" if decimals == 0 else f"{decimals} decimal{'s' * (decimals > 1)}"
            rest = (
                ": nothing is wrong."
                if agrees.all()
                else (
                    "."
                    if share == 1
                    else (
                        f", except {100 * (1 - share):.2g} % of them, which are wrong in another"
                        " way: see the largest difference."
                    )
                )
            )
            return (
                RowFault(
                    "rounded",
                    "",
                    f"With the weights of the parameter file rounded to {what}, as `tuner export"
                    f" --into` writes them, the rows that differ agree{rest}",
                    share,
                ),
            )
    return ()


def _views(trial: Trial, stages: Stages) -> Iterator[tuple[RowFault, Trial]]:
    """Yield faults of all rows that are no changes of weights, and the rows without them: the
    evaluation from another side, the phase from the other end, or both."""
    sample, sided = trial.sample, []
    if (sample.side != 0).mean() >= FEWEST_SIDES:
        evaluation = sample.evaluation * np.where(sample.side == -1, -1, 1)
        fault = RowFault("perspective", "", _perspective(sample))
        sided.append((fault, trial.viewed(evaluation=evaluation)))
    yield from sided
    if len(stages.names) > 1 and (sample.scale == 1).all():
        first, *_, last = stages.downward
        text = (
            f"The stages are exchanged: phase counts steps of {last}, or the weights of {first} and"
            f" {last} are exchanged in one of the two. phase counts steps of {first}, and 0 is all"
            f" {last}: correct it there, or print {stages.phases} - phase."
        )
        factors = stages.shares(np.maximum(stages.phases - sample.phase, 0))
        yield RowFault("stages", "", text), trial.viewed(factors=factors)
        for fault, view in sided:
            yield replace(fault, text=f"{fault.text} {text}"), view.viewed(factors=factors)


def _perspective(sample: RowSample) -> str:
    """Return a sentence on which of evaluations and counts are of the side to move, based on the
    results."""
    advice = "Negate {} where the second player (for chess Black) is to move."
    stated, turned = _correlations(sample)
    if stated - turned > CLEAR_CORRELATION:
        return (
            "The counts are of the side to move, while the evaluations, by the results, are of the"
            " first player's view. " + advice.format("counts and rest")
        )
    if turned - stated > CLEAR_CORRELATION:
        return (
            "The evaluations are of the side to move, the counts of the first player's view. "
            + advice.format("eval")
        )
    return (
        "The evaluations are of the side to move and the counts of the first player's view, or the"
        " reverse. " + advice.format("the one of the side to move")
    )


def _correlations(sample: RowSample) -> tuple[float, float]:
    """Return how evaluations correlate with results, as they are and turned to the first player's
    view if by side to move."""
    known = np.flatnonzero(~np.isnan(sample.outcome) & (sample.side != 0))
    outcome, evaluation = sample.outcome[known], np.clip(sample.evaluation[known], -1000, 1000)
    turned = evaluation * sample.side[known]
    if len(known) < FEWEST_RESULTS or 0 in (outcome.std(), evaluation.std(), turned.std()):
        return 0.0, 0.0
    return float(np.corrcoef(evaluation, outcome)[0, 1]), float(np.corrcoef(turned, outcome)[0, 1])


def side_of_results(sample: RowSample) -> tuple[RowFault, ...]:
    """Return the fault of counts and evaluations that agree, but are both of the side to move, as
    the results show."""
    stated, turned = _correlations(sample)
    if stated > CLEAR_CORRELATION or turned - stated <= CLEAR_CORRELATION:
        return ()
    return (
        RowFault(
            "perspective",
            "",
            f"Counts and evaluations agree, but their correlation with the results is {stated:.2f},"
            f" and {turned:.2f} after the sign is changed where the second player is to move:"
            " results are of the first player's view (for chess White's), counts and evaluations"
            " of the side to move. Negate both there.",
        ),
    )


def _unexplained(
    trial: Trial, layout: Layout, weights: np.ndarray, unused: Unused
) -> tuple[RowFault, ...]:
    """Return a sentence that no single fault explains the differences, with the closest one."""
    found = []
    if unused:
        names = [name for name, _ in unused]
        more = f" and {len(names) - 4} others" if len(names) > 4 else ""
        found.append(
            RowFault(
                "missing",
                names[0],
                f"No row counts {', '.join(names[:4])}{more}, although the weights are not 0. If "
                "the engine evaluates it, count it in the rows; if not, take it out of the "
                "parameter file.",
            )
        )
    name, share = closest_group(trial, layout)
    near = share >= 0.05
    text = f"No {'other ' * bool(unused)}fault explains the differences, nor do a few together."
    if near:
        text += (
            f" Closest is {name}: another factor would explain {100 * share:.0f} % of their"
            " variance."
        )
    found.append(
        RowFault(
            UNKNOWN,
            name if near else "",
            f"{text} Print rest in each row, with what the engine adds and the rows "
            "do not count; or check a position with a large difference term by term.",
        )
    )
    return tuple(found)


@dataclass(frozen=True)
class RowCheck:
    """The result of the check. Differences are evaluation - (rest + counts · weights), in
    centipawns.

    `rows` were read, `checked` of them have an evaluation, `exact` of those agree within rounding,
    and `near` within one centipawn more.
    `largest` is the difference of largest size, in row `largest_row` (from 1) with the position
    `largest_text`. `faults` explain what does not agree."""

    rows: int
    checked: int
    exact: int
    near: int
    largest: float
    largest_row: int
    largest_text: str
    mean: float
    faults: tuple[RowFault, ...]

    @property
    def share(self) -> float:
        """Share of the checked rows that agree."""
        return self.exact / self.checked if self.checked else 0.0

    @property
    def fits(self) -> bool:
        """Whether rows and weights, which the engine may round, are its evaluation; False without
        evaluations, and with rows by side to move."""
        kinds = {fault.kind for fault in self.faults}
        return (
            self.checked > 0
            and (
                self.share >= ENOUGH
                or "rounded" in kinds
                or (self.near >= ENOUGH * self.checked and self.share >= MOSTLY)
            )
            and "perspective" not in kinds
        )

    def lines(self) -> list[str]:
        """Return the findings as lines of text."""
        if not self.checked:
            return [
                f"none of {plural(self.rows, 'row')} has an evaluation (eval), so it is unknown"
                " whether counts and weights agree with the engine; print eval in each row"
            ]
        found = [
            f"{self.exact:,} of {plural(self.checked, 'row')}"
            f" ({_percent(self.exact, self.checked)}) agree"
            f" with the engine's evaluation within rounding; mean difference {self.mean:.2f}"
            " centipawns"
        ]
        if self.exact < self.checked:
            text = f": {self.largest_text}" if self.largest_text else ""
            found.append(
                f"largest difference: {self.largest:+.1f} centipawns (engine minus rows) in row "
                f"{self.largest_row:,}{text}"
            )
        if self.checked < self.rows:
            found.append(
                f"{self.rows - self.checked:,} rows have no evaluation and were not checked"
            )
        if not self.fits:
            return [*found, *(fault.text for fault in self.faults)]
        if self.exact < self.checked:
            found.append("the row check passes")
        return [*found, *(fault.text for fault in self.faults if fault.kind != UNKNOWN)]

    def as_dict(self) -> dict[str, Any]:
        """Return the findings as plain data."""
        return {
            **asdict(self),
            "faults": [asdict(fault) for fault in self.faults],
            "share": self.share,
            "fits": self.fits,
        }


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
    """Compare the evaluations of rows with rest + counts · weights, and name the fault that
    explains the difference.

    `weights` is (stages, columns) in centipawns, `letters` are those of the sides to move in
    positions, the first player's first. All rows are compared; faults are looked for in an
    even sample of 200,000, and named only if the correction makes the rows agree that did not."""
    rows = checked = exact = near = 0
    largest, largest_row, largest_text, total = 0.0, 0, "", 0.0
    used, sampler = np.zeros(layout.size, np.int64), Sampler()
    for batch in batches:
        known = np.flatnonzero(~np.isnan(batch.evaluation))
        used += np.bincount(batch.index, minlength=layout.size)
        sample = sample_of(batch, layout.size, stages, letters)
        if len(known) < len(batch.phase):
            sample = sample.take(known)
        if len(known):
            difference = sample.evaluation - sample.predicted(weights)
            size = np.abs(difference)
            beyond = size - tolerance(sample.evaluation, sample.scale)
            exact += int((beyond <= 0).sum())
            near += int((beyond <= ROUNDING).sum())
            total += float(size.sum())
            at = int(size.argmax())
            if size[at] > abs(largest):
                largest, largest_row = float(difference[at]), rows + int(known[at]) + 1
                largest_text = batch.text[known[at]] if batch.text else ""
            sampler.add(sample)
        rows, checked = rows + len(batch.phase), checked + len(known)
    faults: tuple[RowFault, ...] = ()
    taken = sampler.sample()
    if taken is not None:
        faults = (
            diagnose(taken, weights, layout, stages, used) if exact < checked else ()
        ) or side_of_results(taken)
    return RowCheck(
        rows,
        checked,
        exact,
        near,
        largest,
        largest_row,
        largest_text,
        total / max(checked, 1),
        faults,
    )
