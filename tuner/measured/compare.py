"""Compare the counts of rows that an engine prints with measured ones."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from tuner.core.text import plural
from tuner.datasets.dataset import Dataset
from tuner.export.into.definitions import definitions_of
from tuner.export.into.plan import Target, plan, read_source_file
from tuner.export.numbers import rounded
from tuner.measured.counts import STEP
from tuner.measured.measure import measurement_in
from tuner.measured.numbers import Numbers, site_of
from tuner.measured.plan import EvalsPlan
from tuner.parameters.parameters import Parameters

COMPARED = 1000  # positions
NEAR = 3.0 / STEP  # by which a count may be another one: of rounded evaluations
MOST_SHOWN = 10  # numbers


def compare_rows(
    data: Dataset,
    parameters: Parameters,
    evals: EvalsPlan,
    folder: Path,
    workers: int,
    note: Callable[[str], None],
) -> list[str]:
    """Return a line for each number whose counts in rows differ from those that are measured: in
    how many positions, and the furthest of them; a line that they agree if they do."""
    some = np.unique(np.linspace(0, data.positions - 1, COMPARED).astype(np.int64))
    texts = data.texts(some)
    placed: dict[tuple[str, int], list[Target]] = {}

    def find(source: Path) -> Numbers:
        files = [source / name for name in evals.source.files]
        names = None if evals.source.map is None else Path(evals.source.map)
        for target in plan(rounded(parameters, flipped=evals.source.flip), files, names):
            placed.setdefault((target.source.path, target.number.start), []).append(target)
        sources = [read_source_file(path) for path in files]
        definitions = definitions_of(sources)
        sites = [site_of(targets[0], definitions) for targets in placed.values()]
        columns = np.array([targets[0].column for targets in placed.values()])
        return Numbers(Path(), parameters, sites, columns, sources, definitions)

    measurement = measurement_in(folder, evals, texts, workers, note, find)
    sample = measurement.sample(texts)
    places = range(len(placed))
    measured = measurement.counts(sample, places, lambda done: None, known=True)
    phase, scale = data.phase_scale[data.phase[some]].T
    factors = data.staging.shares(phase)
    factors[-1] *= scale
    counts = data.rows(0, data.positions).matrix(data.columns)[some]
    found = []
    for k, targets in enumerate(placed.values()):
        own = np.zeros(len(some))
        own[measured[k].places] = measured[k].counts
        rows = sum(factors[t.stage] * counts[:, [t.column]].toarray()[:, 0] for t in targets)
        differs = np.abs(rows - own)
        if (far := differs > NEAR).any():
            at = int(differs.argmax())
            label = " and ".join(target.label for target in targets)
            found.append(
                (
                    int(far.sum()),
                    f"{label} ({targets[0].source.at(targets[0].number.start)}): in {far.sum():,}"
                    f" of {plural(len(some), 'position')} the rows count something else, furthest"
                    f" in {texts[at]}: {rows[at]:.2f}, measured {own[at]:.2f}",
                )
            )
    lines = [line for _, line in sorted(found, key=lambda each: -each[0])]
    if not lines:
        shown = plural(len(placed), "number")
        return [f"the counts of {shown} are those that are measured, in {len(some):,} positions"]
    rest = len(lines) - MOST_SHOWN
    return lines[:MOST_SHOWN] + ([f"and {rest:,} more numbers"] if rest > 0 else [])
