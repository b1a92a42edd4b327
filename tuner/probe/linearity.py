"""What the options of an engine do: evaluations while they are moved, the rows that follow, and
which of them are linear."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from games.record import Asked, EngineOption, Evaluator, PositionBatch, SearchLimits
from games.streams import InputError
from tuner.datasets.rows.values import RowBatch
from tuner.export.numbers import TERM, parameter_names
from tuner.parallel import Threads
from tuner.parameters.layout import Layout, Place
from tuner.parameters.parameters import ENGINE_OPTIONS, Parameters

Settings = Mapping[str, int]  # values of options by their names


class Evaluations(NamedTuple):
    """Evaluations (settings, n) in centipawns of the first player's view, NaN where there is none:
    in check, or a mate.

    `same` (settings, n): whether the search had the PV of the first settings, so that both
    evaluated the same leaf; always for static evaluations."""

    values: np.ndarray
    same: np.ndarray

    @property
    def comparable(self) -> np.ndarray:
        """The evaluations, NaN where the PV is another."""
        return np.where(self.same, self.values, np.nan)


class Answers:
    """Asks engines, all of one program, for evaluations: static ones, or by searches with `limits`.

    `base` are the values of all options that are ever moved; `progress` is given the number of
    positions of each pass when it ends. `fresh`: start the engine again for each settings, for
    engines that keep tables of evaluations by earlier values."""

    def __init__(
        self,
        engines: Sequence[Evaluator],
        limits: SearchLimits | None,
        base: Settings,
        progress: Callable[[int], None] = lambda positions: None,
    ) -> None:
        self._engines, self.limits, self._progress = (
            [_Moved(engine, limits) for engine in engines],
            limits,
            progress,
        )
        self.base, self.fresh = dict(base), False

    @property
    def engines(self) -> int:
        """How many processes there are."""
        return len(self._engines)

    def asked(self, positions: np.ndarray) -> Asked:
        """Prepare positions (n, words)."""
        return self._engines[0].engine.asked(positions)

    def __call__(self, asked: Asked, moved: Sequence[Settings]) -> Evaluations:
        """Evaluate all positions with `base`, changed by each of these settings in turn."""
        passes = [{**self.base, **settings} for settings in moved]
        values = np.empty((len(passes), len(asked)))
        lines: list[list[tuple[str, ...]]] = [[] for _ in passes]

        def work(engine: _Moved, number: int) -> int:
            values[number], lines[number] = engine.evaluate(asked, passes[number], self.fresh)
            self._progress(len(asked))
            return number + 1

        def end(engine: _Moved) -> None:
            if threads.pending:  # a fault or an interrupt
                engine.engine.abort()

        with Threads(work, self._engines, abort=end) as threads:
            for number in range(len(passes)):
                threads.submit(number)
            for _ in threads.completed():
                pass
        same = (
            np.ones(values.shape, np.bool_)
            if self.limits is None
            else np.array(
                [[a == b for a, b in zip(line, lines[0], strict=True)] for line in lines], np.bool_
            ).reshape(values.shape)
        )
        return Evaluations(values, same)


class _Moved:
    """An engine and the values of its options, so that only those that change are sent."""

    def __init__(self, engine: Evaluator, limits: SearchLimits | None) -> None:
        self.engine, self._limits = engine, limits
        self._values: dict[str, int] = {}

    def evaluate(
        self, asked: Asked, settings: Settings, fresh: bool
    ) -> tuple[np.ndarray, list[tuple[str, ...]]]:
        """Return evaluations (n,) with these settings, and the PVs of searches."""
        if fresh:
            self.engine.restart()
        self.engine.set(
            {name: value for name, value in settings.items() if self._values.get(name) != value}
        )
        self._values.update(settings)
        if self._limits is None:
            return self.engine.evaluations(asked), []
        found = list(self.engine.searches(asked, self._limits))
        return np.array([one.score if one.mate is None else np.nan for one in found]), [
            one.pv for one in found
        ]


def way_of(engine: Evaluator, limits: SearchLimits | None, text: str) -> str:
    """Say how an engine evaluates; InputError if it has no static evaluation and no search is
    wanted."""
    if limits is not None:
        return f"scores of searches to {limits.text}, while their PV stays the same"
    if not engine.evaluates():
        raise InputError(
            f"{text}: has no command `eval` whose answer is known; give --eval-pattern, or --depth"
            " 1 to use scores of searches"
        )
    return "static evaluations"


SHARE = 4  # the step is the value over this, so that rounding of scores matters little
LEAST_STEP = 8  # usual step of small values
LARGEST_WEIGHT = 20000  # of a weight


@dataclass(frozen=True)
class Step:
    """An option with its value, its range, and the two moves whose difference is its effect; `far`
    is a third one, for tests of linearity."""

    name: str
    value: int
    low: int
    high: int
    down: int
    up: int
    far: int

    @property
    def moves(self) -> list[int]:
        """The moves other than 0 by which the effect is measured."""
        return [move for move in (self.down, self.up) if move]

    @property
    def width(self) -> int:
        return self.up - self.down


def steps_of(
    options: Mapping[str, EngineOption],
    names: Sequence[str],
    values: Mapping[str, int],
    delta: int | None = None,
) -> list[Step]:
    """Return the steps of options from `values`, by default the engine's own; `delta` is the same
    step for all.

    At the end of a range both moves go to the same side. InputError for a range without room.
    """
    return [
        _step(options[name], values.get(name, int(options[name].default)), delta) for name in names
    ]


def _step(option: EngineOption, value: int, delta: int | None) -> Step:
    assert option.low is not None and option.high is not None
    low, high = max(option.low, -LARGEST_WEIGHT), min(option.high, LARGEST_WEIGHT)
    if not low <= value <= high:
        raise InputError(f"the option {option.name!r} is {value}, expected {low} to {high}")
    below, above = value - low, high - value
    step = delta or max(round(abs(value) / SHARE), LEAST_STEP)
    step = min(step, max(below, above) // 2)
    if step < 1:
        raise InputError(
            f"the option {option.name!r} ranges from {low} to {high}: no room for a step; leave it"
            " out of --options"
        )
    if below < step:
        return Step(option.name, value, low, high, 0, step, 2 * step)
    if above < step:
        return Step(option.name, value, low, high, -step, 0, -2 * step)
    return Step(
        option.name, value, low, high, -step, step, 2 * step if above >= 2 * step else -2 * step
    )


LARGEST = 1 << 23  # evaluations in memory at a time
MOST_POSITIONS = 4096


@dataclass
class KeptRows:
    """How many positions became rows, and why the others did not."""

    rows: int = 0
    unknown: int = 0  # in check, or a mate
    changed: int = 0  # another PV
    bent: int = 0  # not linear there


def layout_of_options(options: Sequence[str], steps: Sequence[Step]) -> Layout:
    """The parameters of options: single numbers of one term, named so that `tuner match --with`
    finds the options again. `options` are the names of all of the engine's."""
    names = dict(zip(options, parameter_names(options), strict=True))
    return Layout(tuple(Place(TERM, names[step.name], (), i) for i, step in enumerate(steps)))


def parameters_of(game: str, layout: Layout, steps: list[Step], learned: dict) -> Parameters:
    """The parameters of options at their current values, bounded by their ranges; one stage.
    `learned` says which they are."""
    values = np.array([[step.value for step in steps]], float)
    bounds = tuple(
        (place.path, (float(step.low), float(step.high)))
        for place, step in zip(layout.places, steps, strict=True)
    )
    names = {place.path: step.name for place, step in zip(layout.places, steps, strict=True)}
    return Parameters(
        game,
        layout,
        ("all",),
        values,
        bounds=bounds,
        learned={**learned, ENGINE_OPTIONS: names},
        phases=1,
    )


def jacobian(
    answers: Answers,
    steps: Sequence[Step],
    batches: Iterable[PositionBatch],
    text: Callable[[np.ndarray], str],
    tolerance: float | None = None,
    kept: KeptRows | None = None,
) -> Iterator[RowBatch]:
    """Yield the rows of positions at the values of the steps: count = d evaluation / d option, rest
    = evaluation - sum of count times value.

    `text` writes a position. With a `tolerance` in centipawns, positions where an option deviates
    from linear by more are left out. Positions without evaluation are left out too, and with
    searches those whose PV is not the same in all of them: `kept` counts them. Small batches are
    joined, because some engines are started again for each settings and batch."""
    kept = KeptRows() if kept is None else kept
    answers.base.update({step.name: step.value for step in steps})
    most = min(MOST_POSITIONS, max(64, LARGEST // (2 * len(steps) + 1)))
    parts = [
        (
            batch.positions,
            batch.outcomes,
            np.repeat(batch.identities, np.diff(batch.first, append=len(batch.positions))),
            batch.recorded,
        )
        for batch in batches
    ]
    if not parts:
        return
    positions, outcomes, games, scores = (
        np.concatenate(arrays) for arrays in zip(*parts, strict=True)
    )
    for begin in range(0, len(positions), most):
        some = slice(begin, begin + most)
        rows = _rows(
            answers,
            steps,
            positions[some],
            outcomes[some],
            games[some],
            scores[some],
            text,
            tolerance,
            kept,
        )
        if len(rows.phase):
            yield rows


def _rows(
    answers: Answers,
    steps: Sequence[Step],
    positions: np.ndarray,
    outcomes: np.ndarray,
    games: np.ndarray,
    scores: np.ndarray,
    text: Callable[[np.ndarray], str],
    tolerance: float | None,
    kept: KeptRows,
) -> RowBatch:
    moves: list[Settings] = [
        {step.name: step.value + move} for step in steps for move in step.moves
    ]
    found = answers(answers.asked(positions), [{}, *moves])
    known = np.isfinite(found.values).all(axis=0)
    good = known & found.same.all(axis=0)
    kept.unknown += int(np.count_nonzero(~known))
    kept.changed += int(np.count_nonzero(known & ~good))
    values = found.values[:, good]
    slopes, bent, row = (
        np.empty((len(steps), values.shape[1])),
        np.zeros(values.shape[1], np.bool_),
        1,
    )
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
    return rows_of(
        values[0, ~bent],
        slopes[:, ~bent].T,
        np.array([step.value for step in steps], float),
        outcomes[good],
        games[good],
        scores[good],
        [text(words) for words in positions[good]],
    )


def rows_of(
    evaluation: np.ndarray,
    counts: np.ndarray,
    values: np.ndarray,
    outcomes: np.ndarray,
    games: np.ndarray,
    scores: np.ndarray,
    texts: list[str],
) -> RowBatch:
    """Return n positions with counts (n, options) at these values of the options (options,); `rest`
    is what they leave of the evaluation (n,). `scores` (n,) are those that the file of games
    records, NaN where there is none."""
    n = len(evaluation)
    counts = counts.astype(np.float32)
    place, index = np.nonzero(counts)
    rest = evaluation - counts.astype(np.float64) @ values
    return RowBatch(
        index.astype(np.int32),
        counts[place, index],
        np.searchsorted(place, np.arange(n + 1)).astype(np.int64),
        np.ones(n, np.int64),
        outcomes.astype(np.float32),
        rest.astype(np.float32),
        np.ones(n, np.float32),
        evaluation.astype(np.float32),
        scores.astype(np.float32),
        games.astype(np.uint64),
        texts,
    )


ROUNDINGS = 4.0  # units: four evaluations enter a test, and each may be cut to whole units
FINEST = 1e-6  # centipawns, of evaluations that are not rounded
UNITS = (100.0, 50.0, 10.0, 5.0, 1.0, 0.5, 0.1, 0.01)
# share of positions, of an option that still counts as linear; they are left out of the rows
MOST_DEVIATING = 0.01
PAIRS = 3  # tested for each option, where there are so many
JOINT = 4  # tests of all options at once
LEAST = 20  # positions with the same PV, for a test of searches


@dataclass(frozen=True)
class Finding:
    """What the tests of an option showed.

    `effect`: mean change of the evaluation in a step, in centipawns; `tested`: comparisons made;
    `deviating`: share of them beyond the tolerance; `largest`: largest deviation in centipawns;
    `with_`: options with which it interacts."""

    step: Step
    linear: bool
    effect: float
    tested: int
    deviating: float
    largest: float
    with_: tuple[str, ...] = ()

    @property
    def idle(self) -> bool:
        """Whether no move of the option changed any evaluation."""
        return self.tested > 0 and not self.effect and not self.largest


@dataclass(frozen=True)
class Linearity:
    """The findings of all options, and the tolerance in centipawns with which they were made.

    `misled` and `misled_largest`: among comparisons of searches whose PV changed, the share beyond
    the tolerance, and the largest deviation; None without such comparisons. `joint` is the largest
    deviation if all linear options move at once."""

    findings: tuple[Finding, ...]
    tolerance: float
    joint: float
    misled: float | None = None
    misled_largest: float = 0.0

    @property
    def idle(self) -> bool:
        """Whether no option changed any evaluation."""
        return all(finding.idle for finding in self.findings)

    @property
    def linear(self) -> list[Step]:
        return [finding.step for finding in self.findings if finding.linear]


def tolerance_of(values: np.ndarray) -> float:
    """The tolerance in centipawns for evaluations that are rounded as these are."""
    values = values[np.isfinite(values)]
    unit = next(
        (
            unit
            for unit in UNITS
            if np.allclose(values / unit, np.round(values / unit), rtol=0, atol=1e-6)
        ),
        FINEST,
    )
    return ROUNDINGS * unit


def examine(
    answers: Answers, asked: Asked, steps: Sequence[Step], tolerance: float | None, seed: int
) -> Linearity:
    """Test options on some positions.

    An engine that gives other evaluations when its options are set back is started again for each
    settings from then on; InputError if that does not help."""
    moves = [{step.name: step.value + move} for step in steps for move in (*step.moves, step.far)]
    found = answers(asked, [{}, *moves])
    if (
        not answers.fresh
        and _differ(found.values[0], answers(asked, [{}] * answers.engines).values).any()
    ):
        answers.fresh = True
        found = answers(asked, [{}, *moves])
    _require_repeatable(found.values[0], answers(asked, [{}]).values[0])
    tolerance = tolerance_of(found.values) if tolerance is None else tolerance
    singles, slopes, misled = [], [], []
    row = 1
    for step in steps:
        rows = {0: 0}
        for move in (*step.moves, step.far):
            rows[move] = row
            row += 1
        slopes.append(
            (found.comparable[rows[step.up]] - found.comparable[rows[step.down]]) / step.width
        )
        raw = (found.values[rows[step.up]] - found.values[rows[step.down]]) / step.width
        deviations = []
        for move in (
            (*step.moves, step.far) if len(step.moves) == 2 else (step.far,)
        ):  # one move alone is the slope itself
            at = rows[move]
            deviations.append(found.comparable[at] - found.values[0] - move * slopes[-1])
            changed = ~(found.same[at] & found.same[rows[step.up]] & found.same[rows[step.down]])
            misled.append((found.values[at] - found.values[0] - move * raw)[changed])
        singles.append(
            _finding(
                step,
                np.concatenate(deviations),
                slopes[-1] * step.width / 2,
                tolerance,
                answers.limits,
            )
        )
    findings = _with_pairs(
        answers, asked, singles, slopes, found, tolerance, np.random.default_rng(seed)
    )
    mixed = np.concatenate(misled)
    mixed = np.abs(mixed[np.isfinite(mixed)])
    joint = _joint(answers, asked, findings, slopes, found, np.random.default_rng(seed + 1))
    return Linearity(
        tuple(findings),
        tolerance,
        joint,
        float(np.mean(mixed > tolerance)) if len(mixed) else None,
        float(mixed.max(initial=0.0)),
    )


def _differ(first: np.ndarray, again: np.ndarray) -> np.ndarray:
    return ~((first == again) | (np.isnan(first) & np.isnan(again)))


def _require_repeatable(first: np.ndarray, again: np.ndarray) -> None:
    other = _differ(first, again)
    if other.any():
        raise InputError(
            f"the engine evaluates {np.count_nonzero(other):,} of {len(first):,} positions"
            " otherwise when its options are set back, by up to"
            f" {np.nanmax(np.abs(first - again)):g} centipawns; expected an engine that obeys"
            " `setoption` and `ucinewgame` and evaluates without chance"
        )


def _finding(
    step: Step,
    deviations: np.ndarray,
    effects: np.ndarray,
    tolerance: float,
    limits: SearchLimits | None,
) -> Finding:
    deviations, effects = (
        values[np.isfinite(values)] for values in (np.abs(deviations), np.abs(effects))
    )
    share = float(np.mean(deviations > tolerance)) if len(deviations) else 1.0
    enough = len(deviations) >= (1 if limits is None else LEAST)
    return Finding(
        step,
        enough and share <= MOST_DEVIATING,
        float(effects.mean()) if len(effects) else 0.0,
        len(deviations),
        share,
        float(deviations.max(initial=0.0)),
    )


def _with_pairs(
    answers: Answers,
    asked: Asked,
    singles: Sequence[Finding],
    slopes: Sequence[np.ndarray],
    found: Evaluations,
    tolerance: float,
    random: np.random.Generator,
) -> list[Finding]:
    """The findings after tests of pairs of linear options: of those that interact, the one with
    most such pairs is not linear, until none is left."""
    linear = [k for k, finding in enumerate(singles) if finding.linear]
    pairs = [(a, b) for i, a in enumerate(linear) for b in linear[i + 1 :]]
    if len(pairs) > (most := max(PAIRS * len(linear), 15)):
        pairs = [pairs[i] for i in sorted(random.choice(len(pairs), most, replace=False))]
    worst: dict[tuple[int, int], float] = {}
    sides = [dict.fromkeys(pair, 1) for pair in pairs]
    for (a, b), deviations in zip(
        pairs, _together(answers, asked, singles, slopes, found, sides), strict=True
    ):
        deviations = deviations[np.isfinite(deviations)]
        if len(deviations) and np.mean(deviations > tolerance) > MOST_DEVIATING:
            worst[a, b] = float(deviations.max())
    result = list(singles)
    left = dict(worst)
    while left:
        counts = np.bincount(np.array(list(left)).ravel(), minlength=len(singles))
        k = int(counts.argmax())
        others = tuple(singles[b if a == k else a].step.name for a, b in worst if k in (a, b))
        largest = max(value for pair, value in worst.items() if k in pair)
        finding = singles[k]
        result[k] = Finding(
            finding.step,
            False,
            finding.effect,
            finding.tested,
            finding.deviating,
            max(finding.largest, largest),
            others,
        )
        left = {pair: value for pair, value in left.items() if k not in pair}
    return result


def _joint(
    answers: Answers,
    asked: Asked,
    findings: Sequence[Finding],
    slopes: Sequence[np.ndarray],
    found: Evaluations,
    random: np.random.Generator,
) -> float:
    """The largest deviation in centipawns if all linear options move at once, up or down by
    chance."""
    linear = [k for k, finding in enumerate(findings) if finding.linear]
    if len(linear) < 3:
        return 0.0
    sides = [
        dict(zip(linear, random.choice([-1, 1], len(linear)).tolist(), strict=True))
        for _ in range(JOINT)
    ]
    deviations = np.concatenate(list(_together(answers, asked, findings, slopes, found, sides)))
    return float(deviations[np.isfinite(deviations)].max(initial=0.0))


def _together(
    answers: Answers,
    asked: Asked,
    findings: Sequence[Finding],
    slopes: Sequence[np.ndarray],
    found: Evaluations,
    sides: Sequence[dict[int, int]],
) -> list[np.ndarray]:
    """Absolute deviations (n,) from the sum of the effects if several options move at once, each up
    (1) or down (-1)."""
    settings: list[Settings] = []
    expected = []
    for chosen in sides:
        moves = {k: _move(findings[k].step, side) for k, side in chosen.items()}
        settings.append(
            {findings[k].step.name: findings[k].step.value + move for k, move in moves.items()}
        )
        expected.append(found.values[0] + sum(move * slopes[k] for k, move in moves.items()))
    if not settings:
        return []
    moved = answers(asked, [{}, *settings])
    return [
        np.abs(line - wanted) for line, wanted in zip(moved.comparable[1:], expected, strict=True)
    ]


def _move(step: Step, side: int) -> int:
    return (step.up or step.down) if side > 0 else (step.down or step.up)
