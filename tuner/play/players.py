"""Players by their names on the command line: our search, random moves, external engines."""

import functools
import logging
import os
import random
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from games.process import split_command, words_of
from games.protocol.player import EnginePlayer
from games.record import (
    Choice,
    Control,
    Game,
    Left,
    Player,
    available,
    find,
    game_with_player,
    games_of,
)
from games.search.searcher import (
    UNLIMITED,
    Clock,
    Limits,
    Searcher,
    limits_of_move,
    limits_with_byoyomi,
)
from games.streams import InputError
from tuner.evaluation.evaluation import Evaluation, PlainEvaluation, evaluation_from
from tuner.evaluation.loading import parameter_path
from tuner.evaluation.own_numbers import with_numbers
from tuner.export.numbers import settings_of
from tuner.io.files import bundled
from tuner.parameters.parameters import DEFAULT_GAME
from tuner.parameters.reader import game_of

OVERHEAD = 0.01  # seconds per move between the clock and the search
BYOYOMI_OVERHEAD = 0.12  # the same where a move that is late loses, as `tuner usi` has it


class SearchPlayer:
    """Our search with some parameters. Its tables are cleared before each game, so that games are
    independent.

    Among equally good moves it chooses by the seed: a poor evaluation would otherwise always play
    the first move generated, and lose by that. The choice is the same in both games of a pair and
    for both sides."""

    def __init__(
        self,
        game: Game,
        searcher: Searcher,
        control: Control,
        change: Callable[[Mapping[str, str]], None] | None = None,
    ) -> None:
        """`change` gives the searcher different numbers, by their names as options."""
        self._searcher, self._control, self._legal_moves = searcher, control, game.legal_moves
        self._change = change
        self._limits = (
            Limits(nodes=control.nodes or UNLIMITED)
            if control.depth is None
            else Limits(depth=control.depth, nodes=control.nodes or UNLIMITED)
        )
        if control.movetime is not None:
            self._limits = limits_of_move(control.movetime, 0.0)

    def begin(self, seed: str, start: np.ndarray) -> None:
        self._searcher.clear()
        self._searcher.choose_by(random.Random(seed.rsplit("/", 2)[0]).getrandbits(63) | 1)

    def set(self, values: Mapping[str, str]) -> None:
        assert self._change is not None, "players of matches have it"
        self._change(values)

    def choose(self, line: np.ndarray, moves: Sequence[int], left: Left | None) -> Choice:
        limits = self._limits
        if left is not None:
            clock = Clock(left.own, self._control.increment, left.moves)
            byoyomi = self._control.byoyomi
            overhead = BYOYOMI_OVERHEAD if byoyomi else OVERHEAD
            limits = limits_with_byoyomi(clock, byoyomi, overhead)
        searched = self._searcher.search(line, limits)
        if searched.move is None:  # stopped before the first move was searched
            return Choice(self._legal_moves(line[-1])[0])
        return Choice(searched.move, searched.value, searched.win_in, searched.depth)

    def abort(self) -> None:
        self._searcher.stop()

    def close(self) -> None:
        pass


class RandomPlayer:
    """Plays every legal move with the same probability."""

    def __init__(self, game: Game) -> None:
        self._legal_moves = game.legal_moves

    def begin(self, seed: str, start: np.ndarray) -> None:
        self._random = random.Random(seed)

    def choose(self, line: np.ndarray, moves: Sequence[int], left: Left | None) -> Choice:
        legal = self._legal_moves(line[-1])
        return Choice(legal[int(self._random.random() * len(legal))])

    def abort(self) -> None:
        pass

    def close(self) -> None:
        pass


RANDOM, EVALUATION, OWN = "random", "evaluation", "own"
# kinds of players in this process; the rest are protocols of engines
OURS = (RANDOM, EVALUATION, OWN)
MEGABYTES = 16  # of the transposition table


@dataclass(frozen=True)
class Named:
    """A player as the user named it: `kind` is evaluation for a parameter file or a network,
    random, own for a player of the game's own (`games.record.Contest.players`), or the protocol of
    an engine.

    `what` is the file or the command; `game` is None for an engine whose protocol may be that of
    several games. An engine that is `bare` was named without a protocol: it uses the first one of
    its game."""

    kind: str
    what: str
    name: str
    game: str | None = None
    bare: bool = False

    def protocol_in(self, game: Game) -> str:
        """Return the protocol by which an engine plays a game; InputError if the game has no
        engines of this protocol."""
        known = game.contest.protocols if game.contest.external is not None else ()
        if not known or self.kind not in known and not self.bare:
            raise InputError(
                f"{self.kind}:{self.what}: {game.name} has no {self.kind} engines"
                + "".join(f'; expected "{protocol}:COMMAND"' for protocol in known[:1])
            )
        return known[0] if self.bare else self.kind


@dataclass(frozen=True)
class PlayerSpec:
    """A player as plain data, for any process. `kind` is that of `Named`; `command` is for engines.
    `options` are those of an engine, or constants of our search. `megabytes` of the transposition
    table; None: an engine's own. `lean`: weights cannot be changed."""

    name: str
    control: Control
    kind: str = RANDOM
    evaluation: PlainEvaluation | None = None
    command: str = ""
    options: tuple[tuple[str, str], ...] = ()
    megabytes: int | None = None
    lean: bool = True


def make_player(spec: PlayerSpec, game: Game) -> Player:
    """Return a player for one thread. InputError for an engine that does not start."""
    if spec.kind == RANDOM:
        return RandomPlayer(game)
    if spec.kind == OWN:
        return game.contest.players[spec.command]()
    if spec.kind == EVALUATION:
        searcher = searcher_of(spec, True, spec.megabytes or MEGABYTES)
        change = functools.partial(change_numbers, spec, game, searcher)
        change({})
        return SearchPlayer(game, searcher, spec.control, change)
    make = game.contest.external
    assert make is not None, "required where the spec was made"
    return make(spec.kind, spec.command, dict(spec.options), spec.control, spec.megabytes)


# plies beyond its depth that an engine may tell of in a match: many extend it, and some only say so
MORE_DEPTH = 30


def require_able(
    players: Iterable[PlayerSpec], game: Game, starts: np.ndarray, more: int = MORE_DEPTH
) -> None:
    """Start each engine once, before the first game: InputError for one that does not start, does
    not keep to its limits, see `games.protocol.player.Engine.require_limits`, or cannot be given
    one of the positions (n, words)."""
    for spec in dict.fromkeys(spec for spec in players if spec.kind not in OURS):
        player = make_player(spec, game)
        try:
            if isinstance(player, EnginePlayer):
                player.require(starts, more)
        finally:
            player.close()


def change_numbers(
    spec: PlayerSpec, game: Game, searcher: Searcher, values: Mapping[str, str]
) -> None:
    """Let the searcher of a player use numbers that differ from the spec, by their names as
    options; weights only if the spec is not lean. InputError for a number that it does not have."""
    numbers = {**dict(spec.options), **values}
    if spec.lean or spec.evaluation is None:
        constants = with_numbers(game, None, numbers, spec.name).constants
    else:
        changed, constants = evaluation_from(spec.evaluation).with_numbers(numbers, spec.name)
        changed.bind(searcher)
    searcher.set_constants(constants)


def searcher_of(spec: PlayerSpec, playing: bool, megabytes: int) -> Searcher:
    """Return a search with the evaluation of a player, for one thread."""
    assert spec.evaluation is not None, "of the kind that searches"
    return evaluation_from(spec.evaluation).searcher(playing, megabytes, spec.lean)


def understood(text: str) -> Named:
    """Interpret a parameter file or bundled name, a network, `random`, an engine as
    PROTOCOL:COMMAND, such as `uci:stockfish`, or one on the PATH, without its protocol."""
    prefix, _, last = text.rpartition("/")
    if last == RANDOM and (not prefix or prefix in available()) and not os.path.isfile(text):
        return Named(RANDOM, RANDOM, RANDOM, prefix or None)
    if (engine := engine_named(text)) is not None:
        return engine
    is_program = (
        os.path.isfile(text) and os.access(text, os.X_OK) and not text.endswith((".yaml", ".yml"))
    )
    if not is_program:
        try:
            path = parameter_path(text)
        except InputError as problem:
            if game := game_with_player(*([last, prefix] if prefix else [text])):
                return Named(OWN, last, last, game)
            if games := games_of(text):  # a protocol, whose command is missing
                return Named(text, "", text, None if DEFAULT_GAME in games else games[0])
            if not _on_path(text):
                raise InputError(
                    f'{problem}; or random, an engine on the PATH, or "uci:COMMAND"'
                ) from None
        else:
            return named_file(path, path.stem)
    return Named("uci", text, _name_of(text), bare=True)


def engine_named(text: str) -> Named | None:
    """Interpret an engine as PROTOCOL:COMMAND; None for anything else."""
    protocol, separator, command = text.partition(":")
    games = games_of(protocol) if separator and protocol.isalpha() else []
    if not games:
        return None
    # of a program whose strength is a number: gnubg:0
    name = text if command.isdecimal() else _name_of(command)
    return Named(protocol, command, name, None if DEFAULT_GAME in games else games[0])


def named_file(path: Path, name: str) -> Named:
    """Return the player of a parameter file or of a network."""
    return Named(EVALUATION, str(path), name, game_of(path))


def _on_path(text: str) -> bool:
    try:
        words_of(text, "an engine")
    except InputError:
        return False
    return True


def _name_of(command: str) -> str:
    try:
        words = split_command(command)
    except InputError:
        words = []
    return Path(words[0]).name if words else command


def game_between(players: Sequence[Named]) -> str:
    """The game of all players; InputError if theirs differ."""
    known: dict[str, Named] = {}
    for named in players:
        if named.game:
            known.setdefault(named.game, named)
    if len(known) > 1:
        a, b = list(known.values())[:2]
        raise InputError(
            f"{_typed(a)} plays {a.game}, {_typed(b)} plays {b.game}: name players of one game"
        )
    return next(iter(known), DEFAULT_GAME)


def _typed(named: Named) -> str:
    """Return the name of a player as it is typed: after its game, if several games may have one of
    that name."""
    if named.kind not in OURS:
        return f"{named.kind}:{named.what}"
    if named.kind == EVALUATION and Path(named.what) not in bundled().values():
        return named.what
    return named.name if named.game == DEFAULT_GAME else f"{named.game}/{named.name}"


def names_of(players: Sequence[Named]) -> tuple[str, ...]:
    """Names that distinguish the players, as short as possible."""
    for names in ([named.name for named in players], [named.what for named in players]):
        if len(set(names)) == len(names):
            return tuple(names)
    seen: Counter[str] = Counter()
    labels = []
    for named in players:
        seen[named.name] += 1
        labels.append(named.name if seen[named.name] == 1 else f"{named.name} ({seen[named.name]})")
    return tuple(labels)


def introduced(named: Named, game: Game) -> Named:
    """Return an engine with the name that it gives itself, for which it is started once; other
    players unchanged. InputError if it does not start."""
    make = game.contest.external
    if named.kind in OURS or make is None:
        return named
    player = make(named.protocol_in(game), named.what, {}, Control(), None)
    player.close()
    return replace(named, name=getattr(player, "name", "") or named.name)


def search_player(
    name: str, evaluation: Evaluation, control: Control, megabytes: int | None
) -> PlayerSpec:
    """A player by our search with this evaluation."""
    if control.depth is control.nodes is control.movetime is control.base is None:
        raise ValueError("a player without limits")
    return PlayerSpec(name, control, EVALUATION, evaluation.spec(), megabytes=megabytes)


def own_player(
    named: Named,
    name: str,
    game: Game,
    control: Control,
    megabytes: int | None,
    load: Callable[[str], Evaluation],
    options: Mapping[str, str] | None = None,
) -> PlayerSpec:
    """A player in this process; `load` reads an evaluation, `options` are weights and constants of
    the search that it changes. InputError for a search that the game does not have, and for options
    that the player does not have."""
    options = options or {}
    if named.kind in (RANDOM, OWN):
        if options:
            raise InputError(f"{name} has no options, such as {next(iter(options))}; leave it out")
        if named.kind == RANDOM:
            return PlayerSpec(name, control)
        return PlayerSpec(name, control, OWN, command=named.what)
    if game.contest.searcher is None:
        raise InputError(
            f"{game.name} has no search to play {name} with; {game.name}/random can play"
        )
    evaluation, constants = load(named.what).with_numbers(options, name)
    spec = search_player(name, evaluation, control, megabytes)
    return replace(spec, options=tuple((each, str(value)) for each, value in constants.items()))


def external_player(
    named: Named,
    name: str,
    game: Game,
    options: dict[str, str],
    control: Control,
    megabytes: int | None,
) -> PlayerSpec:
    """A player by an external engine; InputError if the game has none of this protocol."""
    return PlayerSpec(
        name,
        control,
        named.protocol_in(game),
        command=named.what,
        options=tuple(options.items()),
        megabytes=megabytes,
    )


LOG = logging.getLogger(__name__)


def options_of_file(player: str, path: Path, flag: str) -> tuple[str, ...]:
    """Return the options NAME=VALUE that a file sets in a player, which must be a UCI or USI
    engine; it is started to ask for its options. Rounding is logged. InputError for options that it
    does not have, and for values out of range."""
    named = understood(player)
    matches = find(named.game or DEFAULT_GAME).contest
    make = matches.evaluator
    if make is None or named.kind != matches.evaluating:
        raise InputError(
            f"{flag} {path}: {named.name} is not a {matches.evaluating} engine, whose options a"
            " file could set"
        )
    engine = make(named.what, {})
    engine.close()
    settings, notes = settings_of(path, engine.options, named.name)
    for note in notes:
        LOG.warning(note)
    if not settings:
        raise InputError(f"{path}: sets no option")
    return tuple(f"{name}={value}" for name, value in settings.items())
