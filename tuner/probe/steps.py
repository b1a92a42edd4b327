"""How far each option is moved to measure its effect."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from games.evaluators import EngineOption
from games.streams import InputError

SHARE = 4  # the step is the value over this, so that rounding of scores matters little
LEAST = 8  # usual step of small values
LARGEST = 20000  # of a weight


@dataclass(frozen=True)
class Step:
    """An option with its value, its range, and the two moves whose difference is its effect; `far` is a third one, for tests of
    linearity."""

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


def steps_of(options: Mapping[str, EngineOption], names: Sequence[str], values: Mapping[str, int],
             delta: int | None = None) -> list[Step]:
    """Return the steps of options from `values`, by default the engine's own; `delta` is the same step for all.

    At the end of a range both moves go to the same side. InputError for a range without room.
    """
    return [_step(options[name], values.get(name, int(options[name].default)), delta) for name in names]


def _step(option: EngineOption, value: int, delta: int | None) -> Step:
    assert option.low is not None and option.high is not None
    low, high = max(option.low, -LARGEST), min(option.high, LARGEST)
    if not low <= value <= high:
        raise InputError(f"the option {option.name!r} is {value}, expected {low} to {high}")
    below, above = value - low, high - value
    step = delta or max(round(abs(value) / SHARE), LEAST)
    step = min(step, max(below, above) // 2)
    if step < 1:
        raise InputError(f"the option {option.name!r} ranges from {low} to {high}: no room for a step; leave it out of --options")
    if below < step:
        return Step(option.name, value, low, high, 0, step, 2 * step)
    if above < step:
        return Step(option.name, value, low, high, -step, 0, -2 * step)
    return Step(option.name, value, low, high, -step, step, 2 * step if above >= 2 * step else -2 * step)
