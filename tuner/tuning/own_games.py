"""Rounds of `tuner tune --own-games N`: the weights play games, learn from them, and play again while that helps.

A round helps if its weights score more than half in a match against those that it began with. Another one follows while a round
helps and moves the values of positions, up to --own-rounds; a later round that does not help is undone. The change of the
held-out loss is shown, but a file that predicts results better need not win (docs/what-the-numbers-mean.md).
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from games.streams import InputError
from tuner.datagen.run import games_of
from tuner.datagen.settings import Settings, default_rules
from tuner.datasets.format import is_dataset
from tuner.diagnostics.findings import held_out_results, results_problems
from tuner.ingest.build import expand
from tuner.io.progress import Display
from tuner.parallel import Executor
from tuner.tuning.fitted import FAR, Fitted
from tuner.tuning.methods import OWN_ROUNDS, resolved, value_change
from tuner.tuning.options import TuneOptions
from tuner.tuning.own_match import played
from tuner.tuning.start import Start


class OwnRounds(NamedTuple):
    """The result of the last round that is kept, the sources that it learned from, the number of rounds
    kept, and of all rounds, the last of which may have been undone, their match, how far values moved,
    and the change of the loss of the results of held-out games (None without any)."""

    fitted: Fitted
    sources: list[str]
    rounds: int
    matches: list[dict]


def learn_from_own_games(begun: Start, start: str, sources: Sequence[str], folder: Path, options: TuneOptions, command: str,
                         learn: Callable[[Start, list[str], Path], Fitted], executor: Executor, display: Display) -> OwnRounds:
    """Play, on the executor, and learn in rounds; `learn` fits to the sources from a start, with its files in a folder."""
    require_playable(begun, sources, folder, options)
    assert options.own_games is not None and begun.engine is not None, "required above"
    most = options.own_rounds or OWN_ROUNDS
    kept: OwnRounds | None = None
    matches: list[dict] = []
    for number in range(1, most + 1):
        games = folder / f"own-games-{number}"
        resign, draw = default_rules(begun.engine.game)
        settings = Settings(start=start, games=options.own_games, seed=options.seed + number - 1, terms=options.terms,
                            resign=resign, draw=draw)
        display.note(f"round {number}: {options.own_games:,} games of " + (
            f"{start}" if number == 1 else f"the weights of round {number - 1}") + " against its copies")
        found = games_of(begun.engine, begun.parameters, settings, games, executor, command, display)
        if found.interrupted:
            raise KeyboardInterrupt
        for line in found.lines[1:-1]:
            display.note(line)
        read_from, place = [*sources, str(games)], folder if number == 1 else folder / f"round-{number}"
        place.mkdir(exist_ok=True)
        fitted = learn(begun, read_from, place)
        moved = value_change(fitted.result, begun.parameters)
        change = _change(fitted)
        display.note(f"round {number}: values of positions moved by {moved:.3f} on average; {_change_text(change)}")
        match = played(begun.parameters, fitted.result.parameters, options.own_games, options.seed + number,
                       options.terms, executor, command, display)
        matches.append({**match._asdict(), "moved": round(moved, 4), "held_out": change})
        rival = start if number == 1 else f"the weights of round {number - 1}"
        display.note(f"round {number}: the learned weights score {match} against {rival}")
        if kept is not None and not match.better:
            display.note(f"round {number} is undone: it does not win its match")
            shutil.rmtree(place)
            shutil.rmtree(games)
            return kept
        if kept is not None:
            _move_up(place, folder)
        kept = OwnRounds(fitted, read_from, number, matches)
        if number < most and not (match.better and moved > FAR):
            display.note("no further round: " + (f"values move by {FAR:g} or less" if match.better else
                                                 f"round {number} does not win its match"))
            break
        begun = begun._replace(parameters=fitted.result.parameters)
    assert kept is not None, "there is one round or more"
    return kept


def require_playable(begun: Start, sources: Sequence[str], folder: Path, options: TuneOptions) -> None:
    """InputError, before any game is played, for options and sources that cannot be used with own games."""
    if begun.engine is None or begun.game is None:
        raise InputError(f"--own-games: {sources[0]} holds rows that another program counted, so there is no search to play "
                         "with; leave it out")
    if begun.game.roll is not None:
        raise InputError(f"--own-games: games of {begun.game.name} differ by their dice, not by noise in evaluations; learn from "
                         "self-play: tuner selfplay")
    if "-" in sources:
        raise InputError("--own-games: standard input can be read only once, but every round reads the games again; name files")
    if options.reading.min_elo:
        raise InputError(f"--min-elo {options.reading.min_elo}: own games have no Elo, so none would be left; leave it out")
    expand([source for source in sources if not is_dataset(source)], begun.game.suffixes, begun.game.holds_games)
    # options are checked as if the games were there
    games = folder / f"own-games{begun.game.suffixes[0]}"
    games.touch()
    try:
        resolved(options, begun.game, begun.parameters, [*sources, str(games)])
    finally:
        games.unlink()


def _change(fitted: Fitted) -> dict | None:
    """Return the change of the log loss of the results of held-out games; None without any."""
    return held_out_results(fitted.result, results_problems(fitted.result, fitted.read.results))


def _change_text(change: dict | None) -> str:
    if change is None:
        return "no games were held out"
    interval = f" [{change['low']:+.5f}, {change['high']:+.5f}]" if change["low"] is not None else ""
    return (f"loss of the results of {change['games']:,} held-out games {change['before']:.5f} -> {change['after']:.5f}, change "
            f"{change['difference']:+.5f}{interval}")


def _move_up(place: Path, folder: Path) -> None:
    """Replace files and folders of an earlier round by those in `place`, and remove it."""
    for path in place.iterdir():
        target = folder / path.name
        if target.is_dir():
            shutil.rmtree(target)
        os.replace(path, target)
    place.rmdir()
