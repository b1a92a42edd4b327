"""What an optimisation says of its numbers, for people and as plain data."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from games.record import Game
from tuner.optimize.methods.base import Estimate
from tuner.optimize.numbers import Number
from tuner.statistics.intervals import NORMAL

NEGLIGIBLE = 3.0  # Elo
MATTERS, NOTHING, UNKNOWN = "matters", "does not matter", "not known yet"
LOGIT = math.log(10) / 400
NAMED = 3  # numbers in a line of progress


class Unit(NamedTuple):
    """The unit of strength: its name, how many of it are an Elo, and digits after the point."""

    name: str
    each: float
    digits: int

    def text(self, elo: float, sign: str = "+") -> str:
        """Return an amount of Elo in this unit, without its name."""
        text = f"{self.each * elo:{sign}.{self.digits}f}"
        return text.lstrip("+-") if float(text) == 0 else text

    def interval(self, elo: float, error: float) -> str:
        """Return an amount with its 95 % interval."""
        return f"{self.text(elo)} ± {self.text(NORMAL * error, '')}"


def unit_of(game: Game) -> Unit:
    """Return the unit of a game: points a game where games win several."""
    if game.in_points:
        return Unit("points a game", game.points * LOGIT / 2, 3)
    return Unit("Elo", 1.0, 1)


def verdict_of(found: Estimate, i: int) -> str:
    """Say whether a number matters, by the Elo that is lost two steps from its best value, and at
    its given value; unknown as long as the estimate is in doubt."""
    if found.doubt:
        return UNKNOWN
    amounts = ((found.cost[i], found.cost_error[i]), (found.worth[i], found.worth_error[i]))
    if any(elo - NORMAL * error > 0 for elo, error in amounts):
        return MATTERS
    return NOTHING if all(elo + NORMAL * error < NEGLIGIBLE for elo, error in amounts) else UNKNOWN


def table_lines(numbers: Sequence[Number], found: Estimate, unit: Unit) -> list[str]:
    """Return a table of all numbers, those that are worth most first."""
    heads = ("number", "given", "best", "95 % interval", f"worth in {unit.name}", "")
    rows = [heads]
    for i in np.argsort(-found.worth, kind="stable"):
        number = numbers[i]
        ends = (number.text(number.rounded(end)) for end in (found.low[i], found.high[i]))
        rows.append(
            (
                number.name,
                number.text(number.value),
                number.text(number.rounded(found.best[i])),
                " .. ".join(ends),
                unit.interval(found.worth[i], found.worth_error[i]),
                verdict_of(found, i),
            )
        )
    widths = [max(len(row[k]) for row in rows) for k in range(len(heads))]
    return [
        "  ".join(
            cell.ljust(width) if k in (0, len(heads) - 1) else cell.rjust(width)
            for k, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def summary_lines(found: Estimate, games: int, unit: Unit) -> list[str]:
    """Say what is gained so far, and what more games would buy."""
    lines = [
        f"after {games:,} games: gain over the given values"
        f" {unit.interval(found.gain, found.gain_error)} {unit.name}, by the model",
        f"expected to be left to the optimum: {unit.text(found.left, '')} {unit.name}; after"
        f" {games:,} more games {unit.text(found.left_later, '')}",
    ]
    return [*lines, f"not to be trusted yet: {found.doubt}"] if found.doubt else lines


def progress_text(
    numbers: Sequence[Number], best: np.ndarray, found: Estimate | None, games: int, unit: Unit
) -> str:
    """Return the state in a line: games, gain, and the numbers that are worth most."""
    order = range(len(numbers)) if found is None else np.argsort(-found.worth, kind="stable")
    values = ", ".join(
        f"{numbers[i].name} {numbers[i].text(numbers[i].rounded(best[i]))}"
        for i in list(order)[:NAMED]
    )
    gain = "" if found is None else f"  {unit.interval(found.gain, found.gain_error)} {unit.name}"
    return f"{games:,} games{gain}  {values}"


def plain_estimate(
    numbers: Sequence[Number], found: Estimate, pairs: int, games: int, unit: Unit
) -> dict:
    """Return an estimate as plain data; strength in the unit. Numbers without a finite value are
    None."""
    rows = [
        {
            "name": number.name,
            "given": number.value,
            "best": _finite(number.rounded(found.best[i])),
            "low": _finite(number.rounded(found.low[i])),
            "high": _finite(number.rounded(found.high[i])),
            "worth": _finite(unit.each * found.worth[i]),
            "error": _finite(unit.each * found.worth_error[i]),
            "verdict": verdict_of(found, i),
        }
        for i, number in enumerate(numbers)
    ]
    return {
        "pairs": pairs,
        "games": games,
        "unit": unit.name,
        "gain": _finite(unit.each * found.gain),
        "gain_error": _finite(unit.each * found.gain_error),
        "left": _finite(unit.each * found.left),
        "left_later": _finite(unit.each * found.left_later),
        "doubt": found.doubt,
        "numbers": rows,
    }


def _finite(value: Any) -> float | None:
    return float(value) if math.isfinite(value) else None
