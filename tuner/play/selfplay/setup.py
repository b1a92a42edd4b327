"""Make what the games of self-play need from its settings."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from games.record import Control, Game, Openings, UsualSettings, available, find
from games.search.searcher import UNLIMITED, Limits
from games.streams import InputError
from tuner.evaluation.engine import STEPS
from tuner.evaluation.evaluation import load_evaluation, quiescence_of
from tuner.evaluation.loading import games_path, parameter_path
from tuner.options.option import no_use, refuse, refuse_first, sensible
from tuner.options.selfplay import SelfplayOptions, SelfplaySettings
from tuner.parameters.parameters import DEFAULT_GAME
from tuner.parameters.reader import game_of, heading_of
from tuner.play.openings import Book, Generator, Opening
from tuner.play.players import OURS, PlayerSpec, external_player, own_player, understood
from tuner.play.selfplay.games import GivenGames, Plan
from tuner.play.selfplay.learner import BACKUPS, WeightsLearner
from tuner.play.selfplay.measure import TIMES, WITH_DICE, WITHOUT_DICE
from tuner.play.selfplay.workers import MEGABYTES, PAST, SELF, SelfplaySpec

OPPONENT_MEGABYTES = 4


def require_playable(game: Game) -> None:
    """InputError for a game without a search."""
    if game.contest.searcher is None:
        raise InputError(f"{game.name} has no search to play with; its games come from elsewhere")


def usual_for(params: str) -> UsualSettings:
    """Return the usual settings for a parameter file, a network or the name of a game; those of a
    game without dice for a file that no game of ours plays with. InputError if there is no such
    file."""
    name = params if params in available() else heading_of(parameter_path(params)).game
    return find(name if name in available() else DEFAULT_GAME).usual


def settings_for(
    start: str, given: Mapping[str, Any], terms: Iterable[str] = ()
) -> SelfplaySettings:
    """Return the settings of a new run from a parameter file: what was given, and else what is
    usual for its game. InputError for options that have no use together."""
    options, usual = SelfplayOptions(**given), usual_for(start)
    game = start if start in available() else game_of(parameter_path(start))
    openings = options.openings and games_path(options.openings, game)
    method, depth = (
        options.method or usual.method,
        None if options.nodes else options.depth or usual.selfplay_depth,
    )
    searched, treestrap = BACKUPS[method].harvest is not None, method == "treestrap"
    refuse_first(
        (
            (
                treestrap and depth is None,
                "--method treestrap: needs searches of fixed depth; use --depth instead of --nodes",
            ),
            (
                options.from_ply is not None and openings is None,
                "--from-ply: leaves given games at a random ply; name their file with --openings",
            ),
        )
    )
    refuse(
        (
            (
                "--no-blunders",
                not options.blunders and searched,
                f"applies to td and td-leaf, not to {method}",
            ),
            (
                "--noisy",
                not options.gated and not searched,
                f"applies to rootstrap and treestrap; {method} learns from every position",
            ),
            (
                "--lambda",
                treestrap and options.trace is not None,
                "treestrap learns from searches, not from games",
            ),
            (
                "--truncated",
                treestrap and "truncated" in given,
                "treestrap does not learn from results",
            ),
            (
                "--balanced",
                options.balanced and openings is not None,
                "chooses random openings, not those of a file",
            ),
            (
                "--step",
                options.step is not None and options.gradient == "analytic",
                "is for finite differences; the gradient is analytic",
            ),
        )
    )
    values = {
        "games": 1000,
        "random_plies": 0 if openings else usual.selfplay_random_plies,
        "plies": usual.selfplay_plies,
        "decay": 200.0,
        "trace": None if treestrap else 0.7,
        "step": STEPS.get(options.gradient),
        "rate": usual.rates.get(options.rule),
        **given,
        "start": start,
        "depth": depth,
        "method": method,
        "openings": (
            os.path.abspath(openings) if openings and os.path.exists(openings) else openings
        ),
        "terms": tuple(os.path.abspath(path) for path in terms),
    }
    measured = WITH_DICE if find(game).has_dice else WITHOUT_DICE
    return sensible(SelfplaySettings(**with_measuring(values, measured)))


def with_measuring(values: dict[str, Any], usual_games: int) -> dict[str, Any]:
    """Return settings with how many games each measurement has, and after how many it comes.
    InputError for those that cannot be measured."""
    number = values.get("measure_games", usual_games)
    refuse_first(
        (
            name in values and not values.get("measure"),
            no_use(f"--{name}".replace("_", "-"), "is for --measure PLAYER", "name the player"),
        )
        for name in ("measure_games", "measure_every", "measure_plies")
    )
    if number % 2 or number < 6:
        raise InputError(
            f"--measure-games {number}: expected an even number of 6 or more, because games are"
            " played in pairs"
        )
    return {
        "measure_every": max(1, values["games"] // TIMES),
        **values,
        "measure_games": number,
    }


def require_suitable(game: Game, settings: SelfplaySettings) -> None:
    """InputError for settings that self-play of this game does not have."""
    name, dice = game.name, game.has_dice
    if game.contest.deepest is not None and (
        settings.depth is None or settings.depth > game.contest.deepest
    ):
        limit = (
            f"--nodes {settings.nodes}" if settings.depth is None else f"--depth {settings.depth}"
        )
        raise InputError(
            f"{limit}: the search of {name} has one limit, a depth of 1 to {game.contest.deepest}"
            " plies; choose one with --depth"
        )
    refuse(
        (
            (
                "--wins",
                settings.wins and not game.in_points,
                f"games of {name} win one point, never more",
            ),
        )
    )
    refuse_first(
        (
            (
                dice and BACKUPS[settings.method].harvest is not None,
                (
                    f"--method {settings.method}: searches over dice have no tree to learn from;"
                    " choose td-leaf or td"
                ),
            ),
            (
                dice and settings.method == "td-leaf" and settings.depth != 1,
                (
                    f"--depth {settings.depth}: deeper than one ply, a search over dice has no"
                    " single leaf to learn from; choose --method td, or --depth 1"
                ),
            ),
        )
    )
    differ = f"games of {name} differ by their dice"
    refuse(
        (
            ("--balanced", dice and settings.balanced, differ),
            (f"--random-plies {settings.random_plies}", dice and settings.random_plies, differ),
        )
    )


def openings_of(
    game: Game, settings: SelfplaySettings, note: Callable[[str], None]
) -> Callable[[int], Opening]:
    """Return a function from the number of a game to its opening."""
    if settings.openings is None:
        if settings.random_plies == 0:
            return lambda number: Opening(game.start(), [])
        judge = quiescence_of(game, "classic")
        searcher = judge.searcher(megabytes=MEGABYTES) if settings.balanced else None
        return Generator(game, settings.random_plies, settings.seed, searcher, note).opening
    if os.path.exists(settings.openings):
        if game.files.openings is None:
            raise InputError(f"{game.name} reads no openings; --random-plies N makes some")
        found = game.files.openings(settings.openings, note)
        return (
            _from_ply(found, settings, note)
            if settings.from_ply
            else Book(found, "random", settings.seed).opening
        )
    if settings.from_ply:
        raise InputError(
            f"--openings {settings.openings}: not a file; --from-ply expects a file of games"
        )
    try:
        start = game.position(settings.openings)
    except ValueError as problem:
        raise InputError(
            f"--openings {settings.openings}: neither a file nor a position: {problem}"
        ) from None
    return Book(Openings(start[None]), "sequential", settings.seed).opening


def _from_ply(
    openings: Openings, settings: SelfplaySettings, note: Callable[[str], None]
) -> Callable[[int], Opening]:
    """Return the openings that leave given games at a random ply."""
    assert settings.openings is not None and settings.from_ply is not None, (
        "see SelfplaySettings.require_sense"
    )
    games = GivenGames(openings, settings.openings, *settings.from_ply, settings.seed)
    if games.left_out:
        note(
            f"{settings.openings}: {games.left_out:,} of {len(openings):,} games have at most"
            f" {settings.from_ply[0]} plies: they are left out"
        )
    return games.opening


def plan_of(settings: SelfplaySettings) -> Plan:
    """Return how games are played."""
    limits = (
        Limits(depth=settings.depth)
        if settings.depth is not None
        else Limits(nodes=settings.nodes or UNLIMITED)
    )
    return Plan(
        limits, settings.random_plies if settings.openings else 0, settings.explore, settings.plies
    )


def spec_of_games(learner: WeightsLearner) -> SelfplaySpec:
    """Return what games depend on. InputError for an opponent of another game."""
    settings = learner.settings
    control = Control(depth=settings.depth, nodes=settings.nodes)
    others = tuple(
        (name, player_named("--opponent", name, learner.evaluation.game, settings, control))
        for name in dict.fromkeys(settings.opponents)
        if name not in (SELF, PAST)
    )
    return SelfplaySpec(
        learner.evaluation.spec(),
        plan_of(settings),
        control,
        settings.seed,
        settings.opponents,
        others,
        learner.backup.harvest,
    )


def player_named(
    option: str, name: str, game: Game, settings: SelfplaySettings, control: Control
) -> PlayerSpec:
    """Return a player that an option names; InputError for one of another game."""
    named = understood(name)
    if named.game not in (None, game.name):
        raise InputError(f"{option} {name}: plays {named.game}, the learner {game.name}")
    if named.kind not in OURS:
        return external_player(named, name, game, {}, control, None)
    return own_player(
        named,
        name,
        game,
        control,
        OPPONENT_MEGABYTES,
        lambda path: load_evaluation(path, settings.terms, add_missing=True),
    )
