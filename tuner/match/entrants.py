"""Make players from their names on the command line."""

from __future__ import annotations

import os
import shlex
import shutil
from dataclasses import dataclass
from pathlib import Path

from games.contest import Control, Player
from games.record import Game, available, game_with_player, games_of
from games.search.searcher import Searcher
from games.streams import InputError
from tuner.engine.engine import Engine
from tuner.engine.loading import parameter_path
from tuner.engine.spec import EvaluationSpec, engine_of, evaluation_spec
from tuner.io.files import BUNDLED
from tuner.match.players import RandomPlayer, SearchPlayer
from tuner.networks.evaluation import evaluation_of
from tuner.networks.files import NetworkFile, holds_network
from tuner.parameters.heading import game_of
from tuner.parameters.parameters import DEFAULT_GAME, Parameters

RANDOM, PARAMETERS, NETWORK, OWN = "random", "parameters", "network", "own"
MEGABYTES = 16  # of the transposition table


@dataclass(frozen=True)
class Named:
    """A player as the user named it: `kind` is parameters, network, random, own for a player of the game's own
    (`games.contest.Contest.players`), or the protocol of an engine.

    `what` is the file or the command; `game` is None for an engine whose protocol may be that of several games. An engine that
    is `bare` was named without a protocol: it speaks the first one of its game.
    """

    kind: str
    what: str
    name: str
    game: str | None = None
    bare: bool = False

    def protocol_in(self, game: Game) -> str:
        """Return the protocol by which an engine plays a game; InputError if the game has no engines of this protocol."""
        known = game.matches.protocols if game.matches.external is not None else ()
        if not known or self.kind not in known and not self.bare:
            raise InputError(f"{self.kind}:{self.what}: {game.name} has no {self.kind} engines"
                             + "".join(f'; expected "{protocol}:COMMAND"' for protocol in known[:1]))
        return known[0] if self.bare else self.kind


@dataclass(frozen=True)
class PlayerSpec:
    """A player as plain data, for any process. `kind` is that of `Named`: `evaluation` is for parameters, `network` for a
    network; `command` and `options` are for engines. `megabytes` of the transposition table; None: an engine's own."""

    name: str
    control: Control
    kind: str = RANDOM
    evaluation: EvaluationSpec | None = None
    network: NetworkFile | None = None
    command: str = ""
    options: tuple[tuple[str, str], ...] = ()
    megabytes: int | None = None


def make_player(spec: PlayerSpec, game: Game) -> Player:
    """Return a player for one thread. InputError for an engine that does not start."""
    if spec.kind == RANDOM:
        return RandomPlayer(game)
    if spec.kind == OWN:
        return game.matches.players[spec.command]()
    if spec.kind in (PARAMETERS, NETWORK):
        return SearchPlayer(game, searcher_of(spec, True, spec.megabytes or MEGABYTES), spec.control)
    make = game.matches.external
    assert make is not None, "required where the spec was made"
    return make(spec.kind, spec.command, dict(spec.options), spec.control, spec.megabytes)


def searcher_of(spec: PlayerSpec, playing: bool, megabytes: int) -> Searcher:
    """Return a search with the parameters or the network of a player, for one thread."""
    if spec.evaluation is not None:
        return engine_of(spec.evaluation.engine).searcher(spec.evaluation.parameters, playing, megabytes)
    assert spec.network is not None, "of the kinds that search"
    return evaluation_of(spec.network).searcher(playing, megabytes)


def understood(text: str) -> Named:
    """Interpret a parameter file or bundled name, a network, `random`, an engine as PROTOCOL:COMMAND, such as `uci:stockfish`, or
    one on the PATH, without its protocol."""
    prefix, _, last = text.rpartition("/")
    if last == RANDOM and (not prefix or prefix in available()) and not os.path.exists(text):
        return Named(RANDOM, RANDOM, RANDOM, prefix or None)
    protocol, separator, command = text.partition(":")
    if separator and protocol.isalpha() and (games := games_of(protocol)):
        name = text if command.isdecimal() else _name_of(command)  # of a program whose strength is a number: gnubg:0
        return Named(protocol, command, name, None if DEFAULT_GAME in games else games[0])
    is_program = os.path.isfile(text) and os.access(text, os.X_OK) and not text.endswith((".yaml", ".yml"))
    if not is_program:
        try:
            path = parameter_path(text)
        except InputError as problem:
            if game := game_with_player(*([last, prefix] if prefix else [text])):
                return Named(OWN, last, last, game)
            if games := games_of(text):  # a protocol, whose command is missing
                return Named(text, "", text, None if DEFAULT_GAME in games else games[0])
            if not _on_path(text):
                raise InputError(f'{problem}; or random, an engine on the PATH, or "uci:COMMAND"') from None
        else:
            return named_file(path, path.stem)
    return Named("uci", text, _name_of(text), bare=True)


def named_file(path: Path, name: str) -> Named:
    """Return the player of a parameter file or of a network."""
    return Named(NETWORK if holds_network(path) else PARAMETERS, str(path), name, game_of(path))


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
        raise InputError(f"{_typed(a)} plays {a.game}, {_typed(b)} plays {b.game}: name two players of one game")
    return known.pop() if known else DEFAULT_GAME


def _typed(named: Named) -> str:
    """Name a player as it is typed: where each game may have one of its name, after the game."""
    if named.kind not in (RANDOM, OWN, PARAMETERS, NETWORK):
        return f"{named.kind}:{named.what}"
    if named.kind in (PARAMETERS, NETWORK) and not Path(named.what).is_relative_to(BUNDLED):
        return named.what
    return named.name if named.game == DEFAULT_GAME else f"{named.game}/{named.name}"


def names_of(a: Named, b: Named) -> tuple[str, str]:
    """Names that distinguish the players, as short as possible."""
    for names in ((a.name, b.name), (a.what, b.what)):
        if names[0] != names[1]:
            return names
    return a.name, f"{b.name} (2)"


def search_player(name: str, engine: Engine, parameters: Parameters, control: Control, megabytes: int | None) -> PlayerSpec:
    """A player by our search with these parameters."""
    _require_limits(control)
    return PlayerSpec(name, control, PARAMETERS, evaluation_spec(engine, parameters), megabytes=megabytes)


def network_player(name: str, network: NetworkFile, control: Control, megabytes: int | None) -> PlayerSpec:
    """A player by our search with a network."""
    _require_limits(control)
    return PlayerSpec(name, control, NETWORK, network=network, megabytes=megabytes)


def _require_limits(control: Control) -> None:
    if control.depth is None and control.nodes is None and control.movetime is None and control.base is None:
        raise ValueError("a player without limits")


def external_player(named: Named, name: str, game: Game, options: dict[str, str], control: Control,
                    megabytes: int | None) -> PlayerSpec:
    """A player by an external engine; InputError if the game has none of this protocol."""
    return PlayerSpec(name, control, named.protocol_in(game), command=named.what, options=tuple(options.items()),
                      megabytes=megabytes)


def bundled(game: str, name: str) -> Path | None:
    """The bundled parameter file of a game with this name, None if there is none."""
    path = BUNDLED / game / f"{name}.yaml"
    return path if path.exists() else None
