"""The settings of matches: what was given, and else what is usual for the game."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from games.streams import InputError
from tuner.evaluation.loading import games_path
from tuner.io.files import require_other
from tuner.options.match import DEFAULT_GAMES, MatchOptions, MatchSettings, PairsOptions
from tuner.options.option import refuse_first, sensible
from tuner.play.match.setup import (
    AnySettings,
    game_of_players,
    hash_of,
    require_suitable,
    require_suitable_test,
    test_of,
    usual_of,
)
from tuner.play.players import options_of_file, understood

Settings = TypeVar("Settings", bound="AnySettings")


def with_files(settings: Settings) -> Settings:
    """With the sha256 of the files that games depend on and that are not copied."""
    paths = [*settings.terms, *([settings.openings] if settings.openings else [])]
    return replace(settings, files={os.path.abspath(path): hash_of(path) for path in paths})


def settings_for(
    a: str, b: str, given: Mapping[str, Any], terms: Iterable[str | Path] = ()
) -> MatchSettings:
    """Return the settings of a new match between two players: what was given, and else what is
    usual for their game. InputError for options that no match can have."""
    options = MatchOptions(**given)
    games = DEFAULT_GAMES if options.games is None and options.sprt is None else options.games
    refuse_first(
        (
            (
                games is not None and (games % 2 or games <= 0),
                f"--games {games}: expected an even number, because games are played in pairs",
            ),
            (
                options.openings is not None and options.random_plies is not None,
                "--random-plies and --openings: both choose openings; leave one out",
            ),
            *(
                (
                    getattr(options, f"depth_{side}") and getattr(options, f"nodes_{side}"),
                    f"--depth-{side} and --nodes-{side}: both limit a search; leave one out",
                )
                for side in "ab"
            ),
        )
    )
    if options.name_a is not None and options.name_a == options.name_b:
        raise InputError(f"both players have the name {options.name_a}; give another --name-b")
    game = game_of_players([understood(a), understood(b)])
    usual = usual_of(game)
    ladder = options.plies > 0 and any(player.rpartition("/")[2] == "random" for player in (a, b))
    random_plies = 0 if ladder else usual.random_plies
    settings = MatchSettings(
        **{
            **vars(options),
            **paths_of(options, game.name),
            "a": a,
            "b": b,
            "names": (options.name_a or "", options.name_b or ""),
            "games": games,
            "model": options.model or usual.model,
            "random_plies": random_plies if options.random_plies is None else options.random_plies,
            "controls": tuple(
                control_of(
                    options,
                    {name: getattr(options, f"{name}_{side}") for name in ("depth", "nodes")},
                    usual.depth,
                )
                for side in "ab"
            ),
            "option_a": (*_options_of(a, options.with_a, "--with", options.pgn), *options.option_a),
            "option_b": (
                *_options_of(b, options.with_b, "--with-b", options.pgn),
                *options.option_b,
            ),
            "terms": tuple(os.path.abspath(path) for path in terms),
            "luck": options.luck or usual.luck,
        }
    )
    require_suitable(sensible(settings), game)
    require_suitable_test(settings, game)
    test_of(settings, game)
    return with_files(settings)


def paths_of(options: PairsOptions, game: str) -> dict[str, str | None]:
    """Return the paths of the openings and of tables, of whatever folder the run is resumed in."""
    openings, tables = options.openings, options.syzygy
    return {
        "openings": None if openings is None else games_path(str(openings), game),
        "syzygy": None if tables is None else os.path.abspath(os.path.expanduser(tables)),
    }


def control_of(
    options: PairsOptions, own: dict[str, float | None], usual: int
) -> dict[str, float | None]:
    """Return the limits of a player's searches: its own if it has any, else those of all."""
    if any(own.values()):
        return own
    both = {"depth": options.depth, "nodes": options.nodes, "movetime": options.movetime}
    of_clock = {"byoyomi": options.byoyomi, "margin": options.timemargin}
    given = {name: value for name, value in of_clock.items() if value is not None}
    if given and options.tc is None:
        name = "timemargin" if options.byoyomi is None else "byoyomi"
        raise InputError(f"--{name}: follows the clock of --tc; give --tc too, or --movetime")
    if options.tc is not None:
        return both | {"base": options.tc[0], "increment": options.tc[1]} | given
    return both if any(both.values()) else both | {"depth": usual}


def _options_of(
    player: str, path: str | Path | None, option: str, pgn: str | Path | None
) -> tuple[str, ...]:
    """Return the options of an engine that a file sets."""
    if path is None:
        return ()
    if pgn is not None:
        require_other(Path(pgn), [str(path)])
    return options_of_file(player, Path(path), option)
