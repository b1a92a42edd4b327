"""The settings of an optimisation: what was given, and else what is usual for the game."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from games.streams import InputError
from tuner.optimize.numbers import read_numbers
from tuner.optimize.settable import require_settable
from tuner.options.optimize import DEFAULT_GAMES, OF_MATCH, OptimizeOptions, OptimizeSettings
from tuner.options.option import refuse_first, sensible
from tuner.play.match.settings import settings_for as match_settings_for
from tuner.play.players import understood

GAIN = {False: 5.0, True: 0.05}  # by whether games win points


def settings_for(
    player: str, given: Mapping[str, Any], terms: Iterable[str | Path] = ()
) -> OptimizeSettings:
    """Return the settings of a new run; InputError for options that none can have, and for numbers
    that the player does not have."""
    options = OptimizeOptions(**given)
    if options.options is None:
        raise InputError(
            "optimize: expected --options FILE with the numbers; tuner optimize PLAYER --list"
            " prints one to begin from"
        )
    games = DEFAULT_GAMES if options.games is None else options.games
    each = 2 if options.opponent is None else 4
    refuse_first(
        (
            (
                games % each,
                f"--games {games}: expected a multiple of {each}, because games are played in"
                f" pairs{' against the opponent' if options.opponent else ''}",
            ),
            (
                options.match_games % 2,
                f"--match-games {options.match_games}: expected an even number, because games are"
                " played in pairs",
            ),
        )
    )
    file = Path(options.options)
    numbers = read_numbers(file)
    files = tuple(map(str, terms))
    match = match_settings_for(
        player,
        options.opponent or player,
        {name: given[name] for name in OF_MATCH.split() if name in given} | {"games": games},
        files,
    )
    require_settable(numbers, player, file, files)
    name = understood(player).name
    gain = options.gain or GAIN[match.model == "points"]
    return sensible(
        OptimizeSettings(
            **vars(match)
            | {
                "names": (name, understood(options.opponent).name if options.opponent else name),
                "method": options.method,
                "planned": games // each,
                "opponent": options.opponent,
                "match_games": options.match_games,
                "gain": gain,
            }
        )
    )
