"""Make players from their names on the command line."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from games.contest import Control, Player
from games.record import Game, available
from games.streams import InputError
from tuner.engine.engine import Engine
from tuner.engine.loading import parameter_path
from tuner.io.files import BUNDLED
from tuner.match.players import RandomPlayer, SearchPlayer
from tuner.parameters.heading import game_of
from tuner.parameters.parameters import DEFAULT_GAME, Parameters

RANDOM, PARAMETERS = "random", "parameters"
MEGABYTES = 16  # of the transposition table


@dataclass(frozen=True)
class Named:
    """A player as the user named it: `kind` is parameters, random, or the protocol of an engine.

    `what` is the file or the command; `game` is None for an engine, which may play several games.
    """

    kind: str
    what: str
    name: str
    game: str | None = None


@dataclass(frozen=True)
class Entrant:
    """A player of the match; `make` makes one instance for each thread."""

    name: str
    control: Control
    make: Callable[[], Player]


def understood(text: str) -> Named:
    """Interpret a parameter file or bundled name, `random`, `uci:COMMAND`, `xboard:COMMAND`, or an engine on the PATH."""
    prefix, _, last = text.rpartition("/")
    if last == RANDOM and (not prefix or prefix in available()) and not os.path.exists(text):
        return Named(RANDOM, RANDOM, RANDOM, prefix or None)
    protocol, separator, command = text.partition(":")
    if separator and protocol in ("uci", "xboard"):
        return Named(protocol, command, _name_of(command))
    is_program = os.path.isfile(text) and os.access(text, os.X_OK) and not text.endswith((".yaml", ".yml"))
    if not is_program:
        try:
            path = parameter_path(text)
        except InputError as problem:
            if not _on_path(text):
                raise InputError(f'{problem}; or random, an engine on the PATH, or "uci:COMMAND"') from None
        else:
            return Named(PARAMETERS, str(path), path.stem, game_of(path))
    return Named("uci", text, _name_of(text))


def _on_path(text: str) -> bool:
    try:
        words = shlex.split(text)
    except ValueError:
        return False
    return bool(words) and shutil.which(words[0]) is not None


def _name_of(command: str) -> str:
    try:
        words = shlex.split(command)
    except ValueError:
        words = []
    return Path(words[0]).name if words else command


def game_between(a: Named, b: Named) -> str:
    """The game of both players; InputError if theirs differ."""
    known = {named.game for named in (a, b) if named.game}
    if len(known) > 1:
        raise InputError(f"{a.name} plays {a.game}, {b.name} plays {b.game}: name two players of one game")
    return known.pop() if known else DEFAULT_GAME


def names_of(a: Named, b: Named) -> tuple[str, str]:
    """Names that distinguish the players, as short as possible."""
    for names in ((a.name, b.name), (a.what, b.what)):
        if names[0] != names[1]:
            return names
    return a.name, f"{b.name} (2)"


def search_entrant(name: str, engine: Engine, parameters: Parameters, control: Control, megabytes: int | None) -> Entrant:
    """A player by our search with these parameters."""
    if control.depth is None and control.nodes is None and control.movetime is None and control.base is None:
        raise ValueError("a player without limits")
    return Entrant(name, control, lambda: SearchPlayer(
        engine.game, engine.searcher(parameters, playing=True, megabytes=megabytes or MEGABYTES), control))


def random_entrant(name: str, game: Game, control: Control) -> Entrant:
    """A player of random moves."""
    return Entrant(name, control, lambda: RandomPlayer(game))


def external_entrant(named: Named, name: str, game: Game, options: dict[str, str], control: Control,
                     megabytes: int | None) -> Entrant:
    """A player by an external engine; InputError if the game has none of this protocol."""
    make = game.matches.external
    if make is None or named.kind not in game.matches.protocols:
        raise InputError(f"{named.kind}:{named.what}: {game.name} has no {named.kind} engines")
    return Entrant(name, control, lambda: make(named.kind, named.what, options, control, megabytes))


def bundled(game: str, name: str) -> Path | None:
    """The bundled parameter file of a game with this name, None if there is none."""
    path = BUNDLED / game / f"{name}.yaml"
    return path if path.exists() else None
