"""The best values of an optimization: as files, as text, in the match that decides about them."""

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from games.record import Game
from tuner.core.estimates import ELO, Estimate, fixed
from tuner.core.text import plural
from tuner.evaluation.loading import load_parameters
from tuner.evaluation.own_numbers import with_numbers
from tuner.io.files import replace_file
from tuner.io.run_folder import kind_of
from tuner.io.terminal import Display
from tuner.optimize.local import Optimum
from tuner.optimize.numbers import NUMBERS, Number, read_numbers
from tuner.options.match import MatchSettings, OptimizeSettings
from tuner.parallel import Executor
from tuner.parameters.writer import write_parameters
from tuner.play.match.match import MatchRun
from tuner.play.run import new_run, resumed_run
from tuner.results.match import MatchResult
from tuner.results.optimized import MATTERS, NOTHING, UNKNOWN, Optimized, TunedEstimate, TunedNumber
from tuner.statistics.sprt import POINTS

LINES, OPTIONS, PARAMETERS = "best.txt", "options.txt", "best.yaml"
COPY = "a.yaml"  # of the file of our own player


def texts_of(numbers: Sequence[Number], values: Mapping[str, float]) -> dict[str, str]:
    """Return values as texts by name."""
    return {number.name: number.text(values[number.name]) for number in numbers}


def write_best(
    folder: Path,
    numbers: Sequence[Number],
    best: Mapping[str, float],
    game: Game,
    terms: Sequence[str],
) -> list[Path]:
    """Write the best values into the folder of a run: as lines like the input, as commands
    of UCI and protocols like it, and, if weights are among them, as a parameter file. Return the
    paths."""
    texts = texts_of(numbers, best)
    files = {
        LINES: "".join(f"{number.line(best[number.name])}\n" for number in numbers),
        OPTIONS: "".join(f"setoption name {name} value {text}\n" for name, text in texts.items()),
    }
    for name, text in files.items():
        replace_file(folder / name, text)
    paths = [folder / name for name in files]
    constants = {constant.name for constant in game.contest.constants}
    weights = {name: text for name, text in texts.items() if name not in constants}
    if weights and (folder / COPY).exists():
        given = load_parameters(folder / COPY, terms)
        changed = with_numbers(game, given, weights, str(folder)).parameters
        assert changed is not None, "of parameters that are there"
        write_parameters(folder / PARAMETERS, changed)
        paths.append(folder / PARAMETERS)
    return paths


def final_match(
    settings: OptimizeSettings, folder: Path, numbers: Sequence[Number], best: Mapping[str, float]
) -> MatchSettings:
    """Return the match of the best values against the given ones, with different openings or
    dice."""
    kept = {each.name: getattr(settings, each.name) for each in fields(MatchSettings)}
    copy = folder / COPY
    player = os.path.abspath(copy) if copy.exists() else settings.a
    given = {number.name: number.value for number in numbers}
    options = [
        tuple(f"{name}={text}" for name, text in texts_of(numbers, values).items())
        for values in (best, given)
    ]
    return MatchSettings(
        **kept
        | {
            "a": player,
            "b": player,
            "names": ("best", "given"),
            "games": settings.match_games,
            "sprt": (0.0, settings.gain),
            "model": settings.model if settings.model == POINTS else "logistic",
            "seed": settings.seed + 1,
            "option_a": options[0],
            "option_b": options[1],
            "luck": None,
        }
    )


def decided(result: Optimized, executor: Executor, display: Display) -> Optimized:
    """Return the result of a run with the match that decides, which is played, or goes on,
    in the folder of the run; the same result if there is nothing to decide."""
    folder, settings = Path(str(result.run)), result.settings
    if result.interrupted or not settings.match_games or result.as_given:
        return result
    numbers, best = read_numbers(folder / NUMBERS), result.best
    place = folder / f"match-{result.games}"
    match = final_match(settings, folder, numbers, best)
    display.note(
        f"final match: up to {settings.match_games:,} games of the best values"
        " against the given ones, with different openings or dice"
    )
    if kind_of(place):
        match_result = resumed_run(MatchRun, place, executor, None, display)
    else:
        match_result = new_run(MatchRun(match, None, display), place, executor, "tuner optimize")
    assert isinstance(match_result, MatchResult), "of a run of a match"
    return replace(result, match=match_result, interrupted=match_result.interrupted, advice="")


NEGLIGIBLE = 3.0  # Elo
NAMED = 3  # numbers in a line of progress


class Unit(NamedTuple):
    """The unit of strength: its name, how many of it are an Elo, and digits after the point."""

    name: str
    each: float
    digits: int

    def text(self, elo: float) -> str:
        """Return an amount of Elo in this unit, without its name."""
        return fixed(self.each * elo, self.digits)

    def interval(self, elo: Estimate) -> str:
        """Return an amount with its 95 % interval."""
        return elo.times(self.each).text(self.digits, "+")


def unit_of(game: Game) -> Unit:
    """Return the unit of a game: points a game where games win several."""
    if game.in_points:
        return Unit("points a game", game.points * (1 / ELO) / 2, 3)
    return Unit("Elo", 1.0, 1)


def verdict_of(found: Optimum, i: int) -> str:
    """Return whether a number matters, by the Elo that is lost two steps from its best value, and
    at its given value; unknown as long as the estimate is in doubt."""
    if found.doubt:
        return UNKNOWN
    amounts = (found.cost_of(i), found.worth_of(i))
    if any(elo.low > 0 for elo in amounts):
        return MATTERS
    return NOTHING if all(elo.high < NEGLIGIBLE for elo in amounts) else UNKNOWN


def progress_text(
    numbers: Sequence[Number], best: np.ndarray, found: Optimum | None, games: int, unit: Unit
) -> str:
    """Return the state in a line: games, gain, and the numbers that are worth most."""
    order = range(len(numbers)) if found is None else np.argsort(-found.worth, kind="stable")
    values = ", ".join(
        f"{numbers[i].name} {numbers[i].text(numbers[i].rounded(best[i]))}"
        for i in list(order)[:NAMED]
    )
    gain = "" if found is None else f"  {unit.interval(found.gain)} {unit.name}"
    return f"{plural(games, 'game')}{gain}  {values}"


def describe_estimate(
    numbers: Sequence[Number],
    found: Optimum,
    pairs: int,
    games: int,
    unit: Unit,
    forfeits: Mapping[str, int],
) -> TunedEstimate:
    """Return an estimate as a record; strength in the unit."""
    rows = [
        TunedNumber(
            number.name,
            number.value,
            Estimate(
                float(number.rounded(found.best[i])),
                low=float(number.rounded(found.low[i])),
                high=float(number.rounded(found.high[i])),
            ),
            found.worth_of(i).times(unit.each),
            verdict_of(found, i),
        )
        for i, number in enumerate(numbers)
    ]
    left, left_later = (_finite(unit.each * elo) for elo in (found.left, found.left_later))
    return TunedEstimate(
        pairs,
        games,
        unit.name,
        found.gain.times(unit.each),
        left,
        left_later,
        found.doubt,
        rows,
        dict(sorted(forfeits.items())),
    )


def _finite(value: Any) -> float | None:
    return float(value) if math.isfinite(value) else None
