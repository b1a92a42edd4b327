"""Files of one game that were given to another."""

from __future__ import annotations

import os

from games.record import Game, available, find
from games.streams import InputError, plain_name


def require_own(source: str, game: str) -> None:
    """InputError if a file that does not begin as one of a game is named, or else begins, as one of another game. A suffix of the
    game itself is believed, and a pipe can be read once only: its reader judges it."""
    own = find(game)
    if not os.path.isfile(source) or _suffix(source, own):
        return
    others = [find(name) for name in available() if name != game]
    for other in others:
        if suffix := _suffix(source, other):
            raise InputError(f"{source}: is named as a file of {other.name} ({suffix}) and does not begin as one of {own.name}; "
                             f"{_advice(other, own)}")
    for other in others:
        if other.holds_games(source):
            raise InputError(f"{source}: begins as a file of {other.name}, not of {own.name}; {_advice(other, own)}")


def _suffix(source: str, game: Game) -> str | None:
    plain = plain_name(source.lower())
    return next((suffix for suffix in game.suffixes if plain.endswith(suffix)), None)


def _advice(other: Game, own: Game) -> str:
    return f"give parameters of {other.name}, such as {other.name}/classic, or files of {own.name} ({', '.join(own.suffixes)})"
