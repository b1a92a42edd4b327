"""Rows of measured counts: a dataset of games, with the part of each evaluation that no weight
explains as `rest`; and the counts of rows that an engine prints beside measured ones."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from games.record import Game, PositionBatch, ReadOptions, ReadReport
from games.streams import InputError
from tuner.core.text import duration, plural
from tuner.datasets.dataset import Dataset
from tuner.datasets.files import only
from tuner.datasets.rows.build import build_rows
from tuner.datasets.rows.values import RowBatch
from tuner.evaluation.evaluation import WeightsEvaluation
from tuner.export.into.definitions import definitions_of
from tuner.export.into.plan import Target, plan, read_source_file
from tuner.export.numbers import rounded
from tuner.learn.build import Scores, all_batches, prepared
from tuner.learn.engine_rows import with_results
from tuner.learn.sources import Source
from tuner.measured.counts import STEP, Count, Sample, steps_of
from tuner.measured.evals import EvalsFault
from tuner.measured.measure import CHECKED, Measurement, measurement_in
from tuner.measured.numbers import Numbers, narrowed, site_of
from tuner.measured.plan import EvalsPlan
from tuner.parameters.parameters import Parameters

MOST_POSITIONS, PER_GAME = 20_000, 12
TOGETHER, NEAR = 20, 2.0  # numbers that change at once, centipawns


@dataclass(frozen=True)
class Measured:
    """What was measured in the positions of games: `weights`, the numbers whose counts are those of
    weights; `reasons` of the others, by their names; and the share of the positions whose
    evaluation is as predicted, within NEAR centipawns, when TOGETHER weights change at once."""

    weights: Numbers
    reasons: Mapping[str, str]
    together: float

    @property
    def number(self) -> int:
        """How many weights there are."""
        parameters = self.weights.parameters
        return parameters.layout.size - len(parameters.fixed)

    @property
    def lines(self) -> list[str]:
        """What was found, as text."""
        kinds = Counter(self.reasons.values())
        parts = [f"{plural(self.number, 'number')} count as weights do"]
        parts += [f"{count:,} {reason}" for reason, count in kinds.most_common(MOST_KINDS)]
        lines = ["; ".join(parts)]
        lines.append(
            f"{min(TOGETHER, self.number)} weights changed at once: {self.together:.1%} of the"
            f" evaluations are within {NEAR:g} centipawns of what the counts say"
        )
        return lines


MOST_KINDS = 5  # of reasons that are shown


def weights_of(
    measurement: Measurement, counts: Mapping[int, Count]
) -> tuple[Numbers, dict[str, str]]:
    """Return the numbers that are weights, with their map and their parameters in the folder of the
    measurement, and the reasons of the others. What is in a table with weights, but is none, is
    fixed."""
    numbers, labels = measurement.numbers, measurement.numbers.labels
    reasons = {labels[k]: found.reason for k, found in counts.items() if found.reason}
    is_weight = np.array([not counts[k].reason for k in range(len(labels))])
    if not is_weight.any():
        shown = "; ".join(f"{n:,} {why}" for why, n in Counter(reasons.values()).most_common(3))
        raise InputError(f"no number of {plural(len(labels), 'number')} is a weight: {shown}")
    return narrowed(numbers, is_weight, measurement.folder / NAMES, reasons), reasons


NAMES, START = "map.yaml", "start.yaml"  # in the folder of a measurement


class Positions(NamedTuple):
    """Positions of games, at most about MOST_POSITIONS, with the scores (n,) of each batch, their
    sources, and how they were read."""

    batches: list[PositionBatch]
    scores: list[np.ndarray]
    texts: list[str]
    sources: list[dict]
    options: ReadOptions
    report: ReadReport


def read_positions(
    game: Game,
    sources: Sequence[Source],
    reading: ReadOptions,
    quiescence: WeightsEvaluation,
    scores: Scores,
    note: Callable[[str], None],
) -> Positions:
    """Read the positions that are measured. NothingLeft if there are none."""
    report, options = ReadReport(), prepared(reading, quiescence)
    names: list[dict] = []
    batches = list(all_batches(game, sources, options, report, note, names))
    read = _some(batches, MOST_POSITIONS, reading.seed)
    texts = [text for batch in read for text in game.texts(batch.positions)]
    return Positions(read, [scores(batch) for batch in read], texts, names, options, report)


def measure_rows(
    measurement: Measurement,
    positions: Positions,
    target: Path,
    seconds: float,
    note: Callable[[str], None],
    progress: Callable[[int], None],
) -> tuple[Dataset, Measured]:
    """Measure all numbers in positions, and write the counts of those that are weights as a
    dataset. InputError if that takes more than some seconds."""
    sample = measurement.sample(positions.texts)
    expected = measurement.seconds(sample)
    numbers = plural(len(measurement.numbers.sites), "number")
    at = f"{numbers} in {plural(len(sample.texts), 'position')}"
    took = f"about {duration(expected)} on {plural(measurement.workers, 'core')}"
    if expected > seconds:
        raise InputError(
            f"{at}: {took}, more than the {duration(seconds)} that there are; name fewer numbers"
            " (`only` of the source), or read fewer positions of each game (--per-game)"
        )
    note(f"{at}: {took}")
    counts = measurement.counts(sample, range(len(measurement.numbers.sites)), progress)
    weights, reasons = weights_of(measurement, counts)
    data = write_rows(measurement, weights, counts, sample, positions, target)
    return data, Measured(weights, reasons, changed_together(measurement, counts, sample))


def measure_known(
    measurement: Measurement,
    positions: Positions,
    parameters: Parameters,
    target: Path,
    progress: Callable[[int], None],
) -> Dataset:
    """Write the counts of the weights of a parameter file, those that are not fixed, in positions
    as a dataset. InputError if its numbers are not those of the measurement."""
    numbers = measurement.numbers
    if numbers.parameters.layout.describe() != parameters.layout.describe():
        raise InputError(
            f"the parameter file has {plural(parameters.layout.size, 'number')}, the sources have"
            f" {numbers.parameters.layout.size:,} by this map, or others; expected the file and the"
            " map that `tuner dataset --source` wrote"
        )
    sample = measurement.sample(positions.texts)
    free = ~parameters.mask(parameters.fixed)[0]
    places = np.flatnonzero(free[numbers.columns]).tolist()
    counts = measurement.counts(sample, places, progress, known=True)
    weights = numbers._replace(
        sites=[numbers.sites[k] for k in places], columns=numbers.columns[places]
    )
    return write_rows(measurement, weights, counts, sample, positions, target)


def write_rows(
    measurement: Measurement,
    weights: Numbers,
    counts: Mapping[int, Count],
    sample: Sample,
    positions: Positions,
    target: Path,
) -> Dataset:
    """Write the counts of weights in positions as a dataset."""
    rows = _rows(weights.parameters, by_column(measurement.numbers, weights, counts), sample)
    sizes = [len(batch.positions) for batch in positions.batches]
    of = np.repeat(np.arange(len(sizes)), sizes)
    parts = [
        with_results(only(rows, of == k), batch, np.arange(size), scores)
        for k, (batch, size, scores) in enumerate(
            zip(positions.batches, sizes, positions.scores, strict=True)
        )
        if size
    ]
    options = {"evals": measurement.base.evals.command, **positions.options.plain}
    data, _, _ = build_rows(parts, target, weights.parameters, positions.sources, None, options)
    return data


def _some(read: Sequence[PositionBatch], most: int, seed: int) -> list[PositionBatch]:
    """Return random games with about `most` positions."""
    total = sum(len(batch.positions) for batch in read)
    if total <= most:
        return list(read)
    random, some = np.random.default_rng(seed), []
    for batch in read:
        sizes = np.diff(batch.first, append=len(batch.positions))
        kept = random.random(len(sizes)) < most / total
        some.append(batch.only(np.repeat(kept, sizes)))
    return some


def by_column(numbers: Numbers, weights: Numbers, counts: Mapping[int, Count]) -> dict[int, Count]:
    """Return the counts of weights by their columns."""
    at = {(s.source.path, s.number.start): k for k, s in enumerate(numbers.sites)}
    columns = zip(weights.columns.tolist(), weights.sites, strict=True)
    by_number = {column: counts[at[s.source.path, s.number.start]] for column, s in columns}
    return {column: each for column, each in by_number.items() if not each.reason}


def _rows(parameters: Parameters, counts: Mapping[int, Count], sample: Sample) -> RowBatch:
    """Return rows (n) of counts by column; what they lack of the evaluations is `rest`."""
    n, size = len(sample.texts), parameters.layout.size
    places = [np.zeros(0, np.int64), *(each.places for each in counts.values())]
    values = [np.zeros(0), *(each.counts for each in counts.values())]
    columns = np.repeat(list(counts), [len(each.places) for each in counts.values()])
    shape = (n, size)
    matrix = csr_array(
        (np.concatenate(values), (np.concatenate(places), columns.astype(np.int64))), shape=shape
    )
    matrix.sort_indices()
    explained = matrix @ parameters.weights[0]
    return RowBatch(
        matrix.indices.astype(np.int32),
        matrix.data.astype(np.float32),
        matrix.indptr.astype(np.int64),
        np.zeros(n, np.int64),
        np.full(n, np.nan, np.float32),
        (sample.base - explained).astype(np.float32),
        np.ones(n, np.float32),
        sample.base.astype(np.float32),
        np.full(n, np.nan, np.float32),
        np.zeros(n, np.uint64),
        list(sample.texts),
    )


def changed_together(
    measurement: Measurement, counts: Mapping[int, Count], sample: Sample
) -> float:
    """Return the share of evaluations that are as predicted when random weights change at once."""
    usable: dict[int, list[int]] = {}
    for k, count in counts.items():
        if not count.reason:
            usable.setdefault(id(measurement.programs[k]), []).append(k)
    own = max(usable.values(), key=len)
    random = np.random.default_rng(3)
    some = random.choice(own, min(TOGETHER, len(own)), replace=False).tolist()
    n = min(len(sample.texts), CHECKED)
    at = np.sort(random.choice(len(sample.texts), n, replace=False))
    predicted, values = sample.base.copy(), {}
    for k in some:
        site = measurement.numbers.sites[k]
        step = steps_of(site, measurement.numbers.sources)[1] / 3
        values[k] = site.number.value + step
        predicted[counts[k].places] += step * counts[k].counts
    try:
        texts = [sample.texts[i] for i in at.tolist()]
        real = measurement.programs[own[0]].evaluate(values, texts, sample.seconds)
    except EvalsFault:
        return 0.0
    return float(np.mean(np.abs(sample.signs[at] * real - predicted[at]) <= NEAR))


COMPARED = 1000  # positions
COUNT_NEAR = 3.0 / STEP  # by which a count may be another one: of rounded evaluations
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
    ranked = []
    for k, targets in enumerate(placed.values()):
        own = np.zeros(len(some))
        own[measured[k].places] = measured[k].counts
        rows = sum(factors[t.stage] * counts[:, [t.column]].toarray()[:, 0] for t in targets)
        differs = np.abs(rows - own)
        if (far := differs > COUNT_NEAR).any():
            at = int(differs.argmax())
            label = " and ".join(target.label for target in targets)
            ranked.append(
                (
                    int(far.sum()),
                    f"{label} ({targets[0].source.at(targets[0].number.start)}): in {far.sum():,}"
                    f" of {plural(len(some), 'position')} the rows count something else, furthest"
                    f" in {texts[at]}: {rows[at]:.2f}, measured {own[at]:.2f}",
                )
            )
    lines = [line for _, line in sorted(ranked, key=lambda each: -each[0])]
    if not lines:
        shown = plural(len(placed), "number")
        return [f"the counts of {shown} are those that are measured, in {len(some):,} positions"]
    rest = len(lines) - MOST_SHOWN
    return lines[:MOST_SHOWN] + ([f"and {rest:,} more numbers"] if rest > 0 else [])
