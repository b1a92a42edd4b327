"""The best values of an optimisation: as files, and in the match that decides about them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path

from games.record import Game
from tuner.evaluation.loading import load_parameters
from tuner.evaluation.own_numbers import with_numbers
from tuner.io.files import replace_file
from tuner.io.run_folder import CONFIG, read_config
from tuner.io.terminal import Display
from tuner.optimize.numbers import NUMBERS, Number, read_numbers
from tuner.options.match import MatchSettings
from tuner.options.optimize import SECTION, OptimizeSettings
from tuner.parallel import Executor
from tuner.parameters.writer import write_parameters
from tuner.play.match.match import MatchRun
from tuner.play.run import RunResult, new_run, resumed_run
from tuner.statistics.sprt import POINTS

LINES, OPTIONS, PARAMETERS = "best.txt", "options.txt", "best.yaml"
COPY = "a.yaml"  # of the file of our own player
BETTER = "H1"  # the decision of a test for the best values


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
    """Write the best values into the folder of a run: as lines like those of the input, as commands
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


def match_settings(
    settings: OptimizeSettings, folder: Path, numbers: Sequence[Number], best: Mapping[str, float]
) -> MatchSettings:
    """Return the match of the best values against the given ones, with other openings or dice."""
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


def decided(result: RunResult, executor: Executor, display: Display) -> RunResult:
    """Return the result of a run with that of the match that decides, which is played, or goes on,
    in the folder of the run; the same result if there is nothing to decide."""
    folder, best = Path(result.plain["run"]), result.plain["best"]
    settings = read_config(folder, SECTION, OptimizeSettings)
    numbers = read_numbers(folder / NUMBERS)
    if result.interrupted or not settings.match_games:
        return result
    if all(best[number.name] == number.value for number in numbers):
        line = "the best values are the given ones: there is no match to play"
        return RunResult([*result.lines, line], {**result.plain, "better": False}, False)
    place = folder / f"match-{result.plain['games']}"
    match = match_settings(settings, folder, numbers, best)
    display.note(
        f"the match that decides: at most {settings.match_games:,} games of the best values"
        " against the given ones, with other openings or dice"
    )
    if (place / CONFIG).exists():
        found = resumed_run(MatchRun, place, executor, None, display)
    else:
        found = new_run(MatchRun(match, None, display), place, executor, "tuner optimize")
    better = found.plain["sprt"]["decision"] == BETTER
    verdict = "" if found.interrupted else _verdict(found.plain["sprt"]["decision"])
    return RunResult(
        [*result.lines, "", *found.lines, *([verdict] if verdict else [])],
        {**result.plain, "match": found.plain, "better": better},
        found.interrupted,
    )


def _verdict(decision: str | None) -> str:
    if decision == BETTER:
        return "the best values are better than the given ones"
    why = "the match found no such gain" if decision else "the match did not decide in its games"
    return f"nothing says that the best values are better: {why}; keep the given ones"
