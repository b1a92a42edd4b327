"""Which options act linearly: steps of several lengths, pairs of options, and all of them at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from games.evaluators import Asked, SearchLimits
from games.streams import InputError
from tuner.probe.answers import Answers, Evaluations, Settings
from tuner.probe.steps import Step

ROUNDINGS = 4.0  # units: four evaluations enter a test, and each may be cut to whole units
FINEST = 1e-6  # centipawns, of evaluations that are not rounded
UNITS = (100.0, 50.0, 10.0, 5.0, 1.0, 0.5, 0.1, 0.01)
MOST_DEVIATING = 0.01  # share of positions, of an option that still counts as linear; they are left out of the rows
PAIRS = 3  # tested for each option, where there are so many
JOINT = 4  # tests of all options at once
LEAST = 20  # positions with the same PV, for a test of searches


@dataclass(frozen=True)
class Finding:
    """What the tests of an option showed.

    `effect`: mean change of the evaluation in a step, in centipawns; `tested`: comparisons made; `deviating`: share of them
    beyond the tolerance; `largest`: largest deviation in centipawns; `with_`: options with which it interacts.
    """

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

    `misled` and `misled_largest`: among comparisons of searches whose PV changed, the share beyond the tolerance, and the largest
    deviation; None without such comparisons. `joint` is the largest deviation if all linear options move at once.
    """

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
    unit = next((unit for unit in UNITS if np.allclose(values / unit, np.round(values / unit), rtol=0, atol=1e-6)), FINEST)
    return ROUNDINGS * unit


def examine(answers: Answers, asked: Asked, steps: Sequence[Step], tolerance: float | None, seed: int) -> Linearity:
    """Test options on some positions.

    An engine that gives other evaluations when its options are set back is started again for each settings from then on;
    InputError if that does not help.
    """
    moves = [{step.name: step.value + move} for step in steps for move in (*step.moves, step.far)]
    found = answers(asked, [{}, *moves])
    if not answers.fresh and _differ(found.values[0], answers(asked, [{}] * answers.engines).values).any():
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
        slopes.append((found.comparable[rows[step.up]] - found.comparable[rows[step.down]]) / step.width)
        raw = (found.values[rows[step.up]] - found.values[rows[step.down]]) / step.width
        deviations = []
        for move in (*step.moves, step.far) if len(step.moves) == 2 else (step.far,):  # one move alone is the slope itself
            at = rows[move]
            deviations.append(found.comparable[at] - found.values[0] - move * slopes[-1])
            changed = ~(found.same[at] & found.same[rows[step.up]] & found.same[rows[step.down]])
            misled.append((found.values[at] - found.values[0] - move * raw)[changed])
        singles.append(_finding(step, np.concatenate(deviations), slopes[-1] * step.width / 2, tolerance, answers.limits))
    findings = _with_pairs(answers, asked, singles, slopes, found, tolerance, np.random.default_rng(seed))
    mixed = np.concatenate(misled)
    mixed = np.abs(mixed[np.isfinite(mixed)])
    joint = _joint(answers, asked, findings, slopes, found, np.random.default_rng(seed + 1))
    return Linearity(tuple(findings), tolerance, joint, float(np.mean(mixed > tolerance)) if len(mixed) else None,
                     float(mixed.max(initial=0.0)))


def _differ(first: np.ndarray, again: np.ndarray) -> np.ndarray:
    return ~((first == again) | (np.isnan(first) & np.isnan(again)))


def _require_repeatable(first: np.ndarray, again: np.ndarray) -> None:
    other = _differ(first, again)
    if other.any():
        raise InputError(f"the engine evaluates {np.count_nonzero(other):,} of {len(first):,} positions otherwise when its "
                         f"options are set back, by up to {np.nanmax(np.abs(first - again)):g} centipawns; expected an engine "
                         "that obeys `setoption` and `ucinewgame` and evaluates without chance")


def _finding(step: Step, deviations: np.ndarray, effects: np.ndarray, tolerance: float,
             limits: SearchLimits | None) -> Finding:
    deviations, effects = (values[np.isfinite(values)] for values in (np.abs(deviations), np.abs(effects)))
    share = float(np.mean(deviations > tolerance)) if len(deviations) else 1.0
    enough = len(deviations) >= (1 if limits is None else LEAST)
    return Finding(step, enough and share <= MOST_DEVIATING, float(effects.mean()) if len(effects) else 0.0, len(deviations),
                   share, float(deviations.max(initial=0.0)))


def _with_pairs(answers: Answers, asked: Asked, singles: Sequence[Finding], slopes: Sequence[np.ndarray], found: Evaluations,
                tolerance: float, random: np.random.Generator) -> list[Finding]:
    """The findings after tests of pairs of linear options: of those that interact, the one with most such pairs is not linear,
    until none is left."""
    linear = [k for k, finding in enumerate(singles) if finding.linear]
    pairs = [(a, b) for i, a in enumerate(linear) for b in linear[i + 1:]]
    if len(pairs) > (most := max(PAIRS * len(linear), 15)):
        pairs = [pairs[i] for i in sorted(random.choice(len(pairs), most, replace=False))]
    worst: dict[tuple[int, int], float] = {}
    sides = [dict.fromkeys(pair, 1) for pair in pairs]
    for (a, b), deviations in zip(pairs, _together(answers, asked, singles, slopes, found, sides), strict=True):
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
        result[k] = Finding(finding.step, False, finding.effect, finding.tested, finding.deviating, max(finding.largest, largest),
                            others)
        left = {pair: value for pair, value in left.items() if k not in pair}
    return result


def _joint(answers: Answers, asked: Asked, findings: Sequence[Finding], slopes: Sequence[np.ndarray], found: Evaluations,
           random: np.random.Generator) -> float:
    """The largest deviation in centipawns if all linear options move at once, up or down by chance."""
    linear = [k for k, finding in enumerate(findings) if finding.linear]
    if len(linear) < 3:
        return 0.0
    sides = [dict(zip(linear, random.choice([-1, 1], len(linear)).tolist(), strict=True)) for _ in range(JOINT)]
    deviations = np.concatenate(list(_together(answers, asked, findings, slopes, found, sides)))
    return float(deviations[np.isfinite(deviations)].max(initial=0.0))


def _together(answers: Answers, asked: Asked, findings: Sequence[Finding], slopes: Sequence[np.ndarray], found: Evaluations,
              sides: Sequence[dict[int, int]]) -> list[np.ndarray]:
    """Absolute deviations (n,) from the sum of the effects if several options move at once, each up (1) or down (-1)."""
    settings: list[Settings] = []
    expected = []
    for chosen in sides:
        moves = {k: _move(findings[k].step, side) for k, side in chosen.items()}
        settings.append({findings[k].step.name: findings[k].step.value + move for k, move in moves.items()})
        expected.append(found.values[0] + sum(move * slopes[k] for k, move in moves.items()))
    if not settings:
        return []
    moved = answers(asked, [{}, *settings])
    return [np.abs(line - wanted) for line, wanted in zip(moved.comparable[1:], expected, strict=True)]


def _move(step: Step, side: int) -> int:
    return (step.up or step.down) if side > 0 else (step.down or step.up)
