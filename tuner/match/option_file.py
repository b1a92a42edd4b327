"""Options of an engine from a file: learned weights, or lines NAME=VALUE."""

from __future__ import annotations

import logging
from pathlib import Path

from games.record import find
from games.streams import InputError
from tuner.export.option_names import settings_of
from tuner.match.entrants import understood
from tuner.parameters.parameters import DEFAULT_GAME

LOG = logging.getLogger(__name__)


def options_of_file(player: str, path: Path, flag: str) -> tuple[str, ...]:
    """Return the options NAME=VALUE that a file sets in a player, which must be a UCI or USI engine; it is started to ask for its
    options. Rounding is logged. InputError for options that it does not have, and for values out of range."""
    named = understood(player)
    matches = find(named.game or DEFAULT_GAME).matches
    make = matches.evaluator
    if make is None or named.kind != matches.evaluating:
        raise InputError(f"{flag} {path}: {named.name} is not a {matches.evaluating} engine, whose options a file could set")
    engine = make(named.what, {}, None)
    engine.close()
    found, notes = settings_of(path, engine.options, named.name)
    for note in notes:
        LOG.warning(note)
    if not found:
        raise InputError(f"{path}: sets no option")
    return tuple(f"{name}={value}" for name, value in found.items())
