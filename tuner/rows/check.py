"""The row check: is the evaluation of each row rest + counts · weights? If not, which fault explains the difference?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from tuner.parameters.layout import Layout
from tuner.rows.batch import RowBatch
from tuner.rows.diagnosis import ENOUGH, Fault, diagnose, side_of_results
from tuner.rows.residuals import Sampler, sample_of, tolerance


@dataclass(frozen=True)
class RowCheck:
    """What the check found. Differences are evaluation - (rest + counts · weights), in centipawns.

    `rows` were read, `checked` of them have an evaluation, `exact` of those agree within rounding. `largest` is the difference of
    largest size, in row `largest_row` (from 1) with the position `largest_text`. `faults` explain what does not agree.
    """

    rows: int
    checked: int
    exact: int
    largest: float
    largest_row: int
    largest_text: str
    mean: float
    faults: tuple[Fault, ...]

    @property
    def share(self) -> float:
        """Share of the checked rows that agree."""
        return self.exact / self.checked if self.checked else 0.0

    @property
    def fits(self) -> bool:
        """Whether rows and weights, which the engine may round, are its evaluation; False without evaluations, and with rows by
        side to move."""
        kinds = {fault.kind for fault in self.faults}
        return self.checked > 0 and (self.share >= ENOUGH or "rounded" in kinds) and "perspective" not in kinds

    def lines(self) -> list[str]:
        """Return the findings as lines of text."""
        if not self.checked:
            return [f"none of {self.rows:,} rows has an evaluation (eval), so it is unknown whether counts and weights agree "
                    "with the engine; print eval in each row"]
        found = [f"{self.exact:,} of {self.checked:,} rows ({_percent(self.exact, self.checked)}) agree with the engine's "
                 f"evaluation within rounding; mean difference {self.mean:.2f} centipawns"]
        if self.exact < self.checked:
            text = f": {self.largest_text}" if self.largest_text else ""
            found.append(f"largest difference: {self.largest:+.1f} centipawns (engine minus rows) in row "
                         f"{self.largest_row:,}{text}")
        if self.checked < self.rows:
            found.append(f"{self.rows - self.checked:,} rows have no evaluation and were not checked")
        return [*found, *(fault.text for fault in self.faults)]

    def as_dict(self) -> dict[str, Any]:
        """Return the findings as plain data."""
        return {**asdict(self), "faults": [asdict(fault) for fault in self.faults], "share": self.share, "fits": self.fits}


def _percent(part: int, whole: int) -> str:
    """Return a share that says 100 % only for all."""
    value = 100 * part / whole
    return f"{value:.0f} %" if part in (0, whole) else f"{min(max(value, 0.01), 99.99):.2f} %"


def check_rows(batches: Iterable[RowBatch], weights: np.ndarray, phases: int, layout: Layout, stages: Sequence[str]) -> RowCheck:
    """Compare the evaluations of rows with rest + counts · weights, and name the fault that explains the difference.

    `weights` is (stages, columns) in centipawns, `phases` the steps of the first stage. All rows are compared; faults are looked
    for in an even sample of 200,000, and named only if the correction makes the rows agree that did not.
    """
    rows = checked = exact = 0
    largest, largest_row, largest_text, total = 0.0, 0, "", 0.0
    used, sampler = np.zeros(layout.size, np.int64), Sampler()
    for batch in batches:
        known = np.flatnonzero(~np.isnan(batch.evaluation))
        used += np.bincount(batch.index, minlength=layout.size)
        sample = sample_of(batch, layout.size, len(weights), phases)
        if len(known) < len(batch.phase):
            sample = sample.take(known)
        if len(known):
            difference = sample.evaluation - sample.predicted(weights)
            size = np.abs(difference)
            exact += int((size <= tolerance(sample.evaluation, sample.scale)).sum())
            total += float(size.sum())
            at = int(size.argmax())
            if size[at] > abs(largest):
                largest, largest_row = float(difference[at]), rows + int(known[at]) + 1
                largest_text = batch.text[known[at]] if batch.text else ""
            sampler.add(sample)
        rows, checked = rows + len(batch.phase), checked + len(known)
    faults: tuple[Fault, ...] = ()
    taken = sampler.sample()
    if taken is not None:
        faults = (diagnose(taken, weights, phases, layout, stages, used) if exact < checked else ()) or side_of_results(taken)
    return RowCheck(rows, checked, exact, largest, largest_row, largest_text, total / max(checked, 1), faults)
