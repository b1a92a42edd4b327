"""Learned weights in matches. Rounds of `tuner tune --own-games N`: the weights play games, learn
from them, and play a match against those that the round began with. `--try MINUTES`: steps of
several lengths towards the weights that predict results best play against the start.

Half of the time of --try is a ladder: all steps play, the better half of them plays on, until one
is left. It was chosen because it did well, so the other half of the time is a final match from
other openings, and only that match decides whether the step is written."""

import math
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from games.streams import InputError
from tuner.core.text import plural
from tuner.evaluation.evaluation import WeightsEvaluation
from tuner.findings.findings import held_out_results, results_problems
from tuner.fit.result import FitResult, at_share
from tuner.io.terminal import Display
from tuner.learn.methods import OWN_ROUNDS, resolved
from tuner.learn.rounds import FAR, Fitted, value_change
from tuner.learn.sources import GAMES, STANDARD_INPUT, Source, sources_of
from tuner.learn.targets import Start
from tuner.options.games import GamesSettings
from tuner.options.match import MatchSettings
from tuner.options.option import no_use, refuse
from tuner.options.tune import TuneSettings
from tuner.parallel import Executor
from tuner.parameters.parameters import Parameters
from tuner.parameters.writer import write_parameters
from tuner.play.match.match import MatchRun
from tuner.play.own_games.run import OwnGamesRun
from tuner.play.own_games.settings import default_rules
from tuner.play.run import new_run
from tuner.results.fit import Change, RoundMatch, Tried, changed, match_text, share_text

# games of the match, at least and at most; own games for each of them in between
MIN_GAMES, MAX_GAMES, PART = 40, 400, 15


def played(
    before: Parameters,
    after: Parameters,
    games: int,
    seed: int,
    terms: Sequence[str | Path],
    executor: Executor,
    command: str,
    display: Display,
) -> RoundMatch:
    """Play games of the learned weights `after` against those `before`, on the executor.
    KeyboardInterrupt if the match is interrupted."""
    with tempfile.TemporaryDirectory(prefix="evaltune-") as folder:
        players = [str(Path(folder) / f"{name}.yaml") for name in ("learned", "before")]
        for path, parameters in zip(players, (after, before), strict=True):
            write_parameters(Path(path), parameters)
        settings = MatchSettings(
            game=before.game,
            a=players[0],
            b=players[1],
            games=games,
            seed=seed,
            terms=tuple(map(str, terms)),
        )
        result = new_run(MatchRun(settings, None, display), None, executor, command)
    if result.interrupted:
        raise KeyboardInterrupt
    elo = result.difference
    return RoundMatch(games, result.summary.score, elo if math.isfinite(elo.half_width) else None)


class OwnRounds(NamedTuple):
    """The result of the last round that is kept, the number of rounds kept, and the matches of all
    rounds, the last of which may have been undone."""

    fitted: Fitted
    rounds: int
    matches: list[RoundMatch]


def learn_with_own_games(
    begun: Start,
    start: str,
    folder: Path,
    options: TuneSettings,
    command: str,
    learn: Callable[[Start, Path], Fitted],
    executor: Executor,
    display: Display,
) -> tuple[Fitted, OwnRounds | None]:
    """Play own games on the executor, and learn in rounds, if the options ask for some; else learn
    once. `learn` fits to the sources from a start, with its files in a folder."""
    if not options.own_games:
        return learn(begun, folder), None
    require_playable(begun, options)
    assert begun.engine is not None, "required above"
    most = options.own_rounds or OWN_ROUNDS
    kept: OwnRounds | None = None
    matches: list[RoundMatch] = []
    for number in range(1, most + 1):
        games = folder / f"own-games-{number}"
        resign, draw = default_rules(begun.engine.game)
        settings = GamesSettings(
            start=start,
            games=options.own_games,
            seed=options.seed + number - 1,
            terms=options.terms,
            resign=resign,
            draw=draw,
        )
        display.note(
            f"round {number}: {plural(options.own_games, 'game')} of "
            + (f"{start}" if number == 1 else f"the weights of round {number - 1}")
            + " against its copies"
        )
        found = new_run(
            OwnGamesRun(settings, None, display, WeightsEvaluation(begun.engine, begun.parameters)),
            games,
            executor,
            command,
        )
        if found.interrupted:
            raise KeyboardInterrupt
        for line in found.summary_lines():
            display.note(line)
        own = sources_of([str(games)], begun.engine.game)
        place = folder if number == 1 else folder / f"round-{number}"
        place.mkdir(exist_ok=True)
        fitted = learn(begun._replace(sources=(*begun.sources, *own)), place)
        moved = value_change(fitted.result, begun.parameters)
        change = _change(fitted)
        display.note(
            f"round {number}: values of positions moved by {moved:.3f} on average;"
            f" {_change_text(change)}"
        )
        match = played(
            begun.parameters,
            fitted.result.parameters,
            min(max(options.own_games // PART // 2 * 2, MIN_GAMES), MAX_GAMES),
            options.seed + number,
            options.terms,
            executor,
            command,
            display,
        )
        matches.append(replace(match, moved=round(moved, 4), held_out=change))
        better = match.score > 0.5
        rival = start if number == 1 else f"the weights of round {number - 1}"
        display.note(
            f"round {number}: the learned weights score {match_text(match)} against {rival}"
        )
        if kept is not None and not better:
            display.note(f"round {number} is undone: it does not win its match")
            shutil.rmtree(place)
            shutil.rmtree(games)
            return kept.fitted, kept
        if kept is not None:
            _move_up(place, folder)
        kept = OwnRounds(fitted, number, matches)
        if number < most and not (better and moved > FAR):
            display.note(
                "no further round: "
                + (
                    f"values move by {FAR:g} or less"
                    if better
                    else f"round {number} does not win its match"
                )
            )
            break
        begun = begun._replace(parameters=fitted.result.parameters)
    assert kept is not None, "there is one round or more"
    return kept.fitted, kept


def require_playable(begun: Start, options: TuneSettings) -> None:
    """InputError, before any game is played, for options and sources that cannot be used with own
    games."""
    sources = begun.sources
    if begun.engine is None or begun.game is None:
        raise InputError(
            no_use(
                "--own-games",
                f"{sources[0].path} holds rows that another program counted, so there is no search"
                " to play with",
            )
        )
    if begun.game.has_dice:
        raise InputError(
            f"--own-games: games of {begun.game.name} differ by their dice, not by noise in"
            " evaluations; learn from self-play: tuner selfplay"
        )
    if any(source.path == STANDARD_INPUT for source in sources):
        raise InputError(
            "--own-games: standard input can be read only once, but every round reads the games"
            " again; name files"
        )
    refuse(
        (
            (
                f"--min-elo {options.min_elo}",
                options.min_elo,
                "own games have no Elo, so none would be left",
            ),
        )
    )
    games = f"own-games{begun.game.files.suffixes[0]}"  # options are checked as if they were there
    resolved(options, begun._replace(sources=(*sources, Source(games, GAMES, (games,)))))


def _change(fitted: Fitted) -> Change | None:
    """Return the change of the log loss of the results of held-out games; None without any."""
    return held_out_results(fitted.result, results_problems(fitted.result, fitted.read.results))


def _change_text(change: Change | None) -> str:
    if change is None:
        return "no games were held out"
    return f"loss of the results of {change.games:,} held-out games {changed(change)}"


def _move_up(place: Path, folder: Path) -> None:
    """Replace files and folders of an earlier round by those in `place`, and remove it."""
    for path in place.iterdir():
        target = folder / path.name
        if target.is_dir():
            shutil.rmtree(target)
        os.replace(path, target)
    place.rmdir()


SHARES = (0.25, 0.5, 1.0)  # of the way, beside the step that `--prior play` takes
APART = 1.3  # ratio of two shares that are worth telling apart
LADDER = 0.5  # share of the time
MIN_FINAL = 200  # games of the final match; those of the ladder have MIN_GAMES


def try_steps(
    begun: Start,
    fitted: Fitted,
    executor: Executor,
    command: str,
    display: Display,
) -> tuple[Fitted, Tried | None]:
    """Return what was fitted at the share of the way that won the ladder, and all matches; the same
    and None without --try. KeyboardInterrupt if a match is interrupted."""
    result, options = fitted.result, fitted.options
    if options.try_ is None:
        return fitted, None
    display.begin("trying steps")
    if not result.share:
        return fitted, Tried()
    seconds, began, total = 60 * options.try_, time.monotonic(), 0

    def match(step: FitResult, share: float, fewest: int, number: int) -> RoundMatch:
        """Play for this share of all the time, at the pace so far."""
        nonlocal total
        games = fewest
        if total:
            pace = (time.monotonic() - began) / total
            games = max(fewest, 2 * int(share * seconds / pace / 2))
        seed, after = options.seed + 1000 * number, step.parameters
        result = played(
            begun.parameters, after, games, seed, options.terms, executor, command, display
        )
        total += games
        display.note(f"{share_text(step.share)} of the way: {match_text(result)} against the start")
        return replace(result, share=round(step.share, 4))

    steps = [at_share(result, begun.parameters, share) for share in shares_to_try(result.share)]
    points, games = dict.fromkeys(map(id, steps), 0.0), dict.fromkeys(map(id, steps), 0)
    ladder: list[RoundMatch] = []
    number, rounds = 0, (len(steps) - 1).bit_length()
    while len(steps) > 1:
        number += 1
        for step in steps:
            ladder.append(match(step, LADDER / rounds / len(steps), MIN_GAMES, number))
            points[id(step)] += ladder[-1].score * ladder[-1].games
            games[id(step)] += int(ladder[-1].games)
        steps.sort(key=lambda step: points[id(step)] / games[id(step)], reverse=True)
        steps = steps[: (len(steps) + 1) // 2]
    left = 1 - (time.monotonic() - began) / seconds
    final = match(steps[0], left, MIN_FINAL, number + 1)
    kept = final.elo.low > 0 if final.elo else final.score > 0.5
    return fitted._replace(result=steps[0]), Tried(ladder, final, kept)


def shares_to_try(step: float) -> list[float]:
    """Return the shares of the way that are tried, beside that of `--prior play`."""
    return [step, *(share for share in SHARES if not 1 / APART < share / step < APART)]
