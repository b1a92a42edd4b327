"""Make what the games of self-play need from its settings."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from games.contest import Control, Openings
from games.record import Game, available, find
from games.search.searcher import UNLIMITED, Limits
from games.streams import InputError
from tuner.engine.engine import Engine
from tuner.engine.loading import load_engine, parameter_path, quiescence_of
from tuner.engine.spec import evaluation_spec
from tuner.match.entrants import NETWORK, OWN, PARAMETERS, RANDOM, PlayerSpec, network_player, understood
from tuner.match.openings import Book, Generator, Opening
from tuner.networks.evaluation import network_evaluation
from tuner.parameters.heading import heading_of
from tuner.parameters.parameters import DEFAULT_GAME
from tuner.selfplay.backups import BACKUPS
from tuner.selfplay.given_games import GivenGames
from tuner.selfplay.learner import Learner
from tuner.selfplay.play import Plan
from tuner.selfplay.settings import Settings
from tuner.selfplay.workers import MEGABYTES, PAST, SELF, SelfplaySpec

OPPONENT_MEGABYTES = 4


def require_playable(game: Game) -> None:
    """InputError for a game without a search."""
    if game.searcher is None or game.contest is None:
        raise InputError(f"{game.name} has no search to play with; its games come from elsewhere")


class Usual(NamedTuple):
    """Usual settings: the method, the depth of searches, the random plies of openings, the longest game in plies, and learning
    rates where they differ from those of the update rules (`RULES`)."""

    method: str
    depth: int
    random_plies: int
    plies: int
    rates: dict[str, float]


def usual_of(game: Game) -> Usual:
    """Return the usual settings of a game."""
    return Usual("rootstrap", 3, 4, 160, {}) if game.roll is None else Usual("td-leaf", 1, 0, 2000, {"adam": 1.0})


def usual_for(params: str) -> Usual:
    """Return the usual settings for a parameter file; those of a game without dice for a file that no game of ours plays with.
    InputError if there is no such file."""
    name = heading_of(parameter_path(params)).game
    return usual_of(find(name if name in available() else DEFAULT_GAME))


def require_suitable(game: Game, settings: Settings) -> None:
    """InputError for settings that self-play of this game does not have."""
    name = game.name
    if game.deepest is not None and (settings.depth is None or settings.depth > game.deepest):
        limit = f"--nodes {settings.nodes}" if settings.depth is None else f"--depth {settings.depth}"
        raise InputError(f"{limit}: the search of {name} has one limit, a depth of 1 to {game.deepest} plies; choose one with "
                         "--depth")
    if settings.wins and game.points == 1:
        raise InputError(f"--wins: games of {name} win one point, never more; leave it out")
    if game.roll is None:
        return
    if BACKUPS[settings.method].harvest is not None:
        raise InputError(f"--method {settings.method}: searches over dice have no tree to learn from; choose td-leaf or td")
    if settings.method == "td-leaf" and settings.depth != 1:
        raise InputError(f"--depth {settings.depth}: deeper than one ply, a search over dice has no single leaf to learn from; "
                         "choose --method td, or --depth 1")
    if settings.random_plies or settings.balanced:
        option = "--balanced" if settings.balanced else f"--random-plies {settings.random_plies}"
        raise InputError(f"{option}: games of {name} differ by their dice; leave it out")


def openings_of(engine: Engine, settings: Settings, note: Callable[[str], None]) -> Callable[[int], Opening]:
    """Return a function from the number of a game to its opening."""
    game = engine.game
    if settings.openings is None:
        if settings.random_plies == 0:
            return lambda number: Opening(game.start(), [])
        judge = quiescence_of(engine, "classic")
        searcher = judge.engine.searcher(judge.parameters, megabytes=MEGABYTES) if settings.balanced else None
        return Generator(game, settings.random_plies, settings.seed, searcher, note).opening
    if os.path.exists(settings.openings):
        if game.contest.openings is None:
            raise InputError(f"{game.name} reads no openings; --random-plies N makes some")
        found = game.contest.openings(settings.openings, note)
        return _from_ply(found, settings, note) if settings.from_ply else Book(found, "random", settings.seed).opening
    if settings.from_ply:
        raise InputError(f"--openings {settings.openings}: not a file; --from-ply expects a file of games")
    try:
        start = game.position(settings.openings)
    except ValueError as problem:
        raise InputError(f"--openings {settings.openings}: neither a file nor a position: {problem}") from None
    return Book(Openings(start[None]), "sequential", settings.seed).opening


def _from_ply(openings: Openings, settings: Settings, note: Callable[[str], None]) -> Callable[[int], Opening]:
    """Return the openings that leave given games at a random ply."""
    assert settings.openings is not None and settings.from_ply is not None, "see Settings.require_sense"
    games = GivenGames(openings, settings.openings, *settings.from_ply, settings.seed)
    if games.left_out:
        note(f"{settings.openings}: {games.left_out:,} of {len(openings):,} games have at most {settings.from_ply[0]} plies: "
             "they are left out")
    return games.opening


def plan_of(settings: Settings) -> Plan:
    """Return how games are played."""
    limits = Limits(depth=settings.depth) if settings.depth is not None else Limits(nodes=settings.nodes or UNLIMITED)
    return Plan(limits, settings.random_plies if settings.openings else 0, settings.explore, settings.plies)


def spec_of_games(learner: Learner) -> SelfplaySpec:
    """Return what games depend on. InputError for an opponent of another game."""
    settings = learner.settings
    control = Control(depth=settings.depth, nodes=settings.nodes)
    others = tuple((name, _opponent(name, learner.engine, settings, control)) for name in dict.fromkeys(settings.opponents)
                   if name not in (SELF, PAST))
    return SelfplaySpec(evaluation_spec(learner.engine, learner.parameters), plan_of(settings), control, settings.seed,
                        settings.opponents, others, learner.backup.harvest)


def _opponent(name: str, engine: Engine, settings: Settings, control: Control) -> PlayerSpec:
    named = understood(name)
    if named.game not in (None, engine.game.name):
        raise InputError(f"--opponent {name}: plays {named.game}, the learner {engine.game.name}")
    if named.kind == RANDOM:
        return PlayerSpec(name, control)
    if named.kind == PARAMETERS:
        its, parameters = load_engine(named.what, settings.terms, add_missing=True)
        return PlayerSpec(name, control, PARAMETERS, evaluation_spec(its, parameters), megabytes=OPPONENT_MEGABYTES)
    if named.kind == OWN:
        return PlayerSpec(name, control, OWN, command=named.what)
    if named.kind == NETWORK:
        return network_player(name, network_evaluation(Path(named.what)).file, control, OPPONENT_MEGABYTES)
    return PlayerSpec(name, control, named.protocol_in(engine.game), command=named.what)
