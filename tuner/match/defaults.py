"""Settings of matches that depend on the game: the usual ones, and those that it does not have."""

from __future__ import annotations

from typing import NamedTuple

from games.record import Game
from games.streams import InputError
from tuner.match.entrants import bundled
from tuner.match.settings import DEFAULT_DEPTH, DEFAULT_RANDOM_PLIES, Settings
from tuner.statistics.sprt import POINTS

LUCK_JUDGES = ("network", "classic")


class Usual(NamedTuple):
    """The depth of searches, the random plies of openings, the model of a sequential test, and the evaluation that measures luck
    in a game with dice."""

    depth: int
    random_plies: int
    model: str
    luck: str | None


def usual_of(game: Game) -> Usual:
    """Return the usual settings of matches of a game."""
    return Usual(DEFAULT_DEPTH if game.deepest is None else 1, DEFAULT_RANDOM_PLIES if game.roll is None else 0,
                 "normalized" if game.points == 1 else POINTS, None if game.roll is None else _judge(game))


def _judge(game: Game) -> str:
    """Return the bundled evaluation that measures luck: a network, if the game has one."""
    return f"{game.name}/{next(name for name in LUCK_JUDGES if bundled(game.name, name))}"


def require_suitable(settings: Settings, game: Game) -> None:
    """InputError for settings that matches of this game do not have."""
    name = game.name
    if game.roll is None and settings.luck is not None:
        raise InputError(f"--luck {settings.luck}: games of {name} have no dice; leave it out")
    if game.roll is not None:
        if settings.openings is not None:
            raise InputError(f"--openings {settings.openings}: games of {name} begin with their own dice; leave it out")
        if settings.random_plies:
            raise InputError(f"--random-plies {settings.random_plies}: games of {name} differ by their dice; leave it out")
    if game.points > 1:
        for option, given in (("--resign", settings.resign), ("--draw", settings.draw), ("--plies", settings.plies)):
            if given:
                raise InputError(f"{option}: games of {name} are played to the end, which decides how many points they win; "
                                 "leave it out")
    if settings.sprt is not None and (settings.model == POINTS) != (game.points > 1):
        raise InputError(f"--model {settings.model}: matches of {name} are in points a game; leave it out" if game.points > 1 else
                         f"--model {settings.model}: a game of {name} wins one point; choose normalized or logistic")
    if game.deepest is not None:
        if settings.hash is not None:
            raise InputError(f"--hash: the search of {name} keeps no table; leave it out")
        for side, control in zip("ab", settings.controls, strict=True):
            limits = {limit for limit, value in control.items() if value}
            if limits != {"depth"} or control["depth"] > game.deepest:
                raise InputError(f"the search of {name} has one limit, a depth of 1 to {game.deepest} plies, not "
                                 f"{settings.control('ab'.index(side)).text}; choose one with --depth")
