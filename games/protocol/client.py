"""Engines of UCI, or a protocol like it: what they declare, and their searches for matches and for
learning."""

import contextlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, NoReturn

import numpy as np

from games.process import EngineProcess
from games.protocol.player import Engine, note_ignored, whole_of
from games.record import (
    ILLEGAL,
    Asked,
    Choice,
    Control,
    EngineFault,
    EngineOption,
    EngineSilent,
    Forfeit,
    Left,
    Searched,
)
from games.streams import InputError, one_line

OPTION = re.compile(r"option name (.+?) type (spin|check|combo|button|string)(?: (.*))?")
FIELD = re.compile(r"(?:^| )(default|min|max|var) (.*?)(?= (?:default|min|max|var) |$)")


def option_of(line: str) -> EngineOption | None:
    """Parse a line `option name ...`; None for what is not one."""
    match = OPTION.match(line.strip())
    if match is None:
        return None
    fields: dict[str, str] = {}
    choices = []
    for field in FIELD.finditer(match[3] or ""):
        if field[1] == "var":
            choices.append(field[2].strip())
        else:
            fields[field[1]] = field[2].strip()
    low, high = (whole_of(fields.get(key)) for key in ("min", "max"))
    if match[2] == "spin" and (
        low is None or high is None or whole_of(fields.get("default")) is None
    ):
        return None
    return EngineOption(
        match[1].strip(), match[2], fields.get("default", ""), low, high, tuple(choices)
    )


START_SECONDS = 30.0  # limit of the first answer
READY_SECONDS = 120.0  # limit of `readyok`: engines read files and clear tables before it
PATIENCE = 60.0  # seconds of silence


@dataclass(frozen=True)
class Speech:
    """The differences between protocols, and the functions of the game."""

    name: str  # the first command; `ok` behind it ends the answer
    new_game: tuple[bytes, bytes]  # what begins a game: before `isready`, and after its answer
    position: str  # before the text of a position, behind `position`: fen
    start: str  # the text of the initial position
    text: Callable[[np.ndarray], str]  # of a position
    # the name of a move, of a variant or not
    move_name: Callable[[np.ndarray, int, bool], str]
    # the legal move of that name; ValueError, or Forfeit for a player who gives up
    move_named: Callable[[np.ndarray, str], int]
    asked: Callable[[np.ndarray], Asked]  # prepares positions (n, words)
    clock: str  # of the first and the second player
    increment: str
    movetime: str
    hash: str  # the option for the size of tables
    second: Callable[[np.ndarray], bool]  # whether the second player moves
    of_variant: Callable[[np.ndarray], bool] = lambda words: False
    variant: str = ""  # the option for positions of a variant
    undeclared: tuple[EngineOption, ...] = ()  # options that every engine has
    mates_in_plies: bool = False  # whether scores count the plies to a mate, not the moves
    stalemate_loses: bool = False


class Thought(NamedTuple):
    """The answer to a `go`: the name of the move, and the last exact score of the best line with
    its depth: centipawns, or plies to a win, negative to a loss, for the side to move."""

    move: str
    score: float | None
    win_in: int | None
    depth: int


# the score of the best line
SCORE = re.compile(
    rb"info (?!string\b)(?!.*?\bmultipv (?!1\b)).*?\bscore (cp|mate) ([+-]?\d{1,9})\b"
)
DEPTH, NODES = re.compile(rb"^info .*?\bdepth (\d{1,5})\b"), re.compile(rb"\bnodes (\d{1,15})\b")
# engines extend their depth, and look at their nodes now and then
MORE_DEPTH, MORE, MORE_NODES = 3, 4, 20_000
LEAST_PATIENCE, SLOWEST = 5.0, 5_000  # seconds, nodes a second


class EngineClient(Engine):
    """An engine in a process of its own, which plays and searches. Also an Evaluator.

    `values` are options to set at once, `megabytes` is the size of its tables. InputError if it
    does not start."""

    def __init__(
        self,
        speech: Speech,
        command: str,
        values: Mapping[str, object],
        megabytes: int | None = None,
    ) -> None:
        super().__init__(command)
        self.options = {option.name: option for option in speech.undeclared}
        self._speech = speech
        self._in_variant = self._aborted = False
        self._start, self._names = "", list[str]()  # of the game
        self._process = EngineProcess(command, f"a {speech.name} engine")
        try:
            self._introduce()
            if megabytes is not None and speech.hash in self.options:
                values = {speech.hash: megabytes} | dict(values)
            self.set(values)
            self._get_ready()
        except BaseException:
            self._process.kill()
            raise

    def setting(self, option: EngineOption, text: str) -> str:
        """See `Engine`."""
        value = "" if option.kind == "button" else f" value {text}"
        return f"setoption name {option.name}{value}\n"

    def require(self, start: np.ndarray) -> None:
        """InputError for a position of a variant that the engine does not play."""
        if self._speech.of_variant(start):
            self._require_variant()

    def new_game(self, start: np.ndarray) -> None:
        """Begin a game in a position; EngineFault if the engine does not get ready for it."""
        speech = self._speech
        self._set_variant(speech.of_variant(start))
        text = speech.text(start)
        self._start = "startpos" if text == speech.start else f"{speech.position} {text}"
        self._names = []
        self._clear()

    def wait_until_ready(self, before: bytes = b"") -> None:
        """See `Engine`; `before` are commands to begin with."""
        self._process.say(before + b"isready\n")
        for _ in self._process.lines(b"readyok", READY_SECONDS):
            pass

    def think(
        self,
        line: np.ndarray,
        moves: Sequence[int],
        control: Control,
        left: Left | None,
        seconds: float,
    ) -> Choice:
        """Choose a move, see `games.record.Player.choose`. Forfeit for an illegal one, EngineFault
        if none comes within `seconds`."""
        for i in range(len(self._names), len(moves)):
            self._names.append(self._speech.move_name(line[i], moves[i], self._in_variant))
        position = f"{self._start}{' moves ' if self._names else ''}{' '.join(self._names)}"
        second = self._speech.second(line[-1])
        self._process.forget()
        self._process.say(f"position {position}\n{self._go(control, left, second)}\n".encode())
        thought = self._thought(seconds)
        try:
            move = self._speech.move_named(line[-1], thought.move)
        except ValueError:
            written = f"{thought.move[:40]!a}"[1:-1]
            raise Forfeit(ILLEGAL, written or "no move") from None
        return Choice(move, thought.score, thought.win_in, thought.depth)

    def asked(self, positions: np.ndarray) -> Asked:
        """Prepare positions (n, words)."""
        asked = self._speech.asked(positions)
        if asked.variant:
            self._require_variant()
        return asked

    def searches(self, asked: Asked, limits: Control) -> Iterator[Searched]:
        """Search each position afresh; yield the results in order, each as soon as it is there.

        The tables of the engine are cleared before each position, as for a new game: scores then
        depend neither on the positions before nor on the number of engines, so that they can be
        cached by position."""
        if asked.variant:
            self._set_variant(True)
        for i in range(len(asked)):
            yield self._search(asked, i, f"go {limits.search}".encode())

    def require_limits(self, limits: Control, more: int = MORE_DEPTH) -> None:
        """Search the initial position; InputError for an engine that goes on far beyond the limits,
        more than `more` plies or many times the nodes, or fails there."""
        of_nodes, allowed = limits.depth is None, limits.depth or limits.nodes or 0
        most = MORE * allowed + MORE_NODES if of_nodes else allowed + more
        nodes, depth, within, go = 0, 0, (0, 0), f"go {limits.search}".encode()
        try:
            self._clear()
        except EngineFault as problem:
            self._fail(b"isready", problem.what, 0, 0)
        start = f"position {self._speech.position} {self._speech.start}\n"
        self._process.say(start.encode() + go + b"\n")
        for line in self._until_stopped(go, allowed / SLOWEST if of_nodes else PATIENCE):
            depth = max(depth, *map(int, DEPTH.findall(line)), 0)
            nodes = max(nodes, *map(int, NODES.findall(line)), 0)
            done = nodes if of_nodes else depth
            if done <= allowed:
                within = depth, nodes
            if done > most:
                self._process.kill()
                better = f"--depth {within[0] or 1}" if of_nodes else f"--nodes {within[1] or 1}"
                raise InputError(
                    f"{self.command}: searched {done:,} {'nodes' if of_nodes else 'plies'} where"
                    f" {allowed:,} were allowed; try {better}"
                )

    def abort(self) -> None:
        """Kill the engine, from any thread: what waits for it raises EngineFault."""
        self._aborted = True
        super().abort()

    def _introduce(self) -> None:
        """Read the name and the options."""
        self._process.say(f"{self._speech.name}\n".encode())
        lines = self._first_lines(
            f"{self._speech.name}ok",
            START_SECONDS,
            f"; is it a {self._speech.name} engine? If it answers in a terminal, it does not flush:"
            f" try stdbuf -i0 -oL {self.command}",
        )
        for line in lines:
            text = line.decode("utf-8", "replace")
            if text.startswith("id name "):
                self.name = one_line(text.removeprefix("id name ").strip())
            elif option := option_of(text):
                self.options[option.name] = option
            elif text.startswith("option "):
                note_ignored(self.command, text)

    def _get_ready(self) -> None:
        """Wait for `readyok`: engines read what their options name, and make their tables."""
        self._process.say(b"isready\n")
        hint = f" of {self._speech.name}ok; a smaller --hash is ready sooner"
        self._first_lines("readyok", READY_SECONDS, hint)

    def _first_lines(self, last: str, seconds: float, hint: str) -> list[bytes]:
        """Read lines of an engine that starts; InputError, with a hint after silence, if `last`
        does not come."""
        try:
            return self._process.until(last.encode(), seconds)
        except EngineSilent as problem:
            raise InputError(f"{self.command}: {problem}{hint}") from None
        except EngineFault as problem:
            raise self._process.no_engine(problem) from None

    def _clear(self) -> None:
        """Begin a new game, and wait until the engine is ready for it."""
        before, after = self._speech.new_game
        self.wait_until_ready(before)
        self._process.say(after)

    def _set_variant(self, variant: bool) -> None:
        if variant != self._in_variant:
            self._require_variant()
            self._in_variant = variant
            self.set({self._speech.variant: str(variant)})

    def _require_variant(self) -> None:
        if self._speech.variant not in self.options:
            raise InputError(
                f"{self.command}: has no option {self._speech.variant}, and some positions are of"
                " Chess960"
            )

    def _go(self, control: Control, left: Left | None, second: bool) -> str:
        """The command to search with these limits."""
        go, speech = "go", self._speech
        if left is not None:
            own, other = (round(1000 * seconds) for seconds in left[:2])
            go += speech.clock.format(*((other, own) if second else (own, other)))
            go += (
                f" byoyomi {round(1000 * control.byoyomi)}"
                if control.byoyomi
                else speech.increment.format(round(1000 * control.increment))
            )
            go += f" movestogo {left.moves}" if left.moves else ""
        elif control.movetime is not None:
            go += speech.movetime.format(round(1000 * control.movetime))
        if control.depth is not None:
            go += f" depth {control.depth}"
        return go if control.nodes is None else f"{go} nodes {control.nodes}"

    def _thought(self, seconds: float) -> Thought:
        """Read the answer to a `go`."""
        scored, line = None, b""
        for line in self._process.lines(b"bestmove", seconds):
            if b" score " in line and b"bound" not in line:
                scored = SCORE.match(line) or scored
        words = line.decode("utf-8", "replace").split()
        move = words[1] if len(words) > 1 else ""
        if scored is None:
            return Thought(move, None, None, 0)
        searched, number = DEPTH.match(scored.string), int(scored[2])
        depth = int(searched[1]) if searched else 0
        if scored[1] == b"cp":
            return Thought(move, float(number), None, depth)
        if not self._speech.mates_in_plies:
            number = 2 * number - (number > 0)
        return Thought(move, None, number, depth)

    def _search(self, asked: Asked, i: int, go: bytes) -> Searched:
        """The result of a search by what the engine said; of a position without legal moves by the
        rules."""
        sign = -1 if asked.second[i] else 1
        if not asked.playable[i]:
            lost = asked.checked[i] or self._speech.stalemate_loses
            return Searched(-sign * np.inf, 0) if lost else Searched(0.0, None)
        position = b"position %b %b\n%b\n" % (self._speech.position.encode(), asked.texts[i], go)
        try:
            self._clear()
            self._process.say(position)
            thought = self._thought(PATIENCE)
        except EngineFault as problem:
            self._fail(go, problem.what, i, len(asked))
        if thought.score is not None:
            return Searched(sign * thought.score, None)
        if thought.win_in is None:
            what = f"no exact score before 'bestmove {thought.move}' for {asked.texts[i].decode()}"
            self._fail(go, what, i, len(asked))
        moves = (abs(thought.win_in) + 1) // 2
        won = sign if thought.win_in > 0 else -sign
        return Searched(won * np.inf, won * moves)

    def _until_stopped(self, go: bytes, seconds: float) -> Iterator[bytes]:
        """Yield the lines of the engine until it moves. An engine that takes too long is stopped:
        it may hold back its output."""
        patience = min(LEAST_PATIENCE + seconds, PATIENCE)
        late = f"did not move within {patience:g} s"
        try:
            yield from self._process.lines(b"bestmove", patience)
            return
        except EngineSilent:
            self._process.say(b"stop\n")
        except EngineFault as problem:
            self._fail(go, problem.what, 0, 0)
        with contextlib.suppress(EngineFault):
            yield from self._process.lines(b"bestmove", LEAST_PATIENCE)
        self._fail(go, late, 0, 0)

    def _fail(self, asked: bytes, what: str, done: int, total: int) -> NoReturn:
        self._process.kill()
        raise EngineFault(
            f"{self.command}: `{asked.decode()}`: {'stopped' if self._aborted else what}",
            done,
            total,
        ) from None
