"""The settings of games to learn from: values that were given, and otherwise the usual ones of the
game and the player."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from games.record import Game, find
from tuner.core.records import InputError, make
from tuner.evaluation.loading import games_path, parameter_path
from tuner.io.run_folder import read_told
from tuner.options.games import (
    ENGINE_DEPTH,
    ENGINE_PART,
    MAX_PLIES,
    SECTION,
    USUAL_DRAW,
    VARY,
    GamesSettings,
)
from tuner.options.option import refuse
from tuner.parameters.parameters import DEFAULT_GAME
from tuner.parameters.reader import heading_of
from tuner.play.players import engine_named
from tuner.play.rules import rules_of

OF_ENGINES = {"vary": "--vary", "hash": "--hash", "options": "--option"}
OF_COPIES = {"noise": "--noise", "terms": "--terms"}
WITHOUT_DICE = ("depth", "nodes", "random_plies", "openings", "plies", "resign", "draw", "play_on")


def default_rules(game: Game) -> tuple[tuple[str, ...], tuple[str, ...] | None]:
    """Return `resign` and `draw` of a game by default: no draws by scores in games in which level
    games are seldom drawn."""
    contest = game.contest
    resign = ("movecount=2", f"score={contest.lost_in_practice:.0f}", "twosided=true")
    return resign, USUAL_DRAW if contest.level_is_drawn else None


def games_settings(
    start: str, given: Mapping[str, Any], terms: Iterable[str | Path] = ()
) -> GamesSettings:
    """Return the settings of new games of a parameter file or of an engine, as PROTOCOL:COMMAND:
    values that were given, and otherwise the usual ones. InputError for options that no games can
    have."""
    engine = engine_named(start)
    if given.get("openings") is not None and given.get("random_plies") is not None:
        raise InputError("--random-plies and --openings: both choose openings; leave one out")
    values: dict[str, Any] = {"openings": None, "syzygy": None}
    paths = tuple(os.path.abspath(path) for path in terms)
    if engine is None:
        heading = heading_of(parameter_path(start))
        name = heading.game
        if not heading.of_rows:
            values["resign"], values["draw"] = default_rules(find(name))
        _refuse(OF_ENGINES, given, "the players are evaluations, which have --noise")
    else:
        name = engine.game or DEFAULT_GAME
        values |= _of_engine(find(name))
        _refuse(OF_COPIES, {**given, "terms": paths}, f"{engine.name} plays, which has --vary")
        if find(name).has_dice:
            flags = {each: f"--{each.replace('_', '-')}" for each in (*WITHOUT_DICE, *OF_ENGINES)}
            _refuse(flags, given, f"engines play {name} as they are, to the end, by their own dice")
    if given.get("nodes") is not None:
        values["depth"] = None
    if given.get("openings") is not None:
        values["random_plies"] = 0
    values |= given
    if values["openings"] is not None:
        values["openings"] = os.path.abspath(games_path(str(values["openings"]), name))
    if values["syzygy"] is not None:
        values["syzygy"] = os.path.abspath(os.path.expanduser(values["syzygy"]))
    settings = make(GamesSettings, {**values, "start": start, "terms": paths})
    rules_of(settings)  # words that no rule has are refused
    return settings


def _of_engine(game: Game) -> dict[str, Any]:
    """Return what is usual for games of an engine."""
    usual: dict[str, Any] = {"noise": 0.0, "part": ENGINE_PART}
    if game.has_dice:
        return usual | {
            "depth": None,
            "vary": 0.0,
            "random_plies": 0,
            "plies": MAX_PLIES,
            "resign": None,
            "draw": None,
            "play_on": 0.0,
        }
    resign, draw = default_rules(game)
    return usual | {"depth": ENGINE_DEPTH, "vary": VARY, "resign": resign, "draw": draw}


def _refuse(flags: Mapping[str, str], given: Mapping[str, Any], why: str) -> None:
    refuse((flag, given.get(name), why) for name, flag in flags.items())


def holds_own_games(source: str) -> bool:
    """Return whether a source is a folder of games of an evaluation that `tuner games` wrote."""
    if not Path(source).is_dir():
        return False
    told = read_told(Path(source))
    start = told.settings.get("start") if told and told.section == SECTION else None
    return isinstance(start, str) and engine_named(start) is None
