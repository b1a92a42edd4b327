"""The command loop of UCI and protocols like it: lines, options, answers at once, searches in
another thread."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, Protocol

LONGEST_LINE = 1 << 17  # bytes; the longest possible game of chess takes 88,000
MAX_QUOTED = 60  # characters quoted in messages
NUMBER = re.compile(r"[+-]?[0-9]{1,18}", re.ASCII)


def lines_of(stream: BinaryIO) -> Iterator[str]:
    """Yield the lines of a stream of any bytes; overlong lines are cut one character above the
    limit."""
    while line := stream.readline(LONGEST_LINE + 1):
        rest = line
        while len(rest) > LONGEST_LINE and not rest.endswith(b"\n"):
            rest = stream.readline(LONGEST_LINE + 1)
        yield line.decode("utf-8", "replace")


def shown(text: str) -> str:
    """Quote a text in ASCII, shortened for a message."""
    escaped = ascii(text[: MAX_QUOTED + 1])
    return escaped if len(escaped) <= MAX_QUOTED else escaped[:MAX_QUOTED] + "..." + escaped[-1]


def truth(name: str, text: str) -> bool:
    """Parse `true` or `false`; ValueError for anything else."""
    if text.lower() not in ("true", "false"):
        raise ValueError(f"{name} {shown(text)} is neither true nor false")
    return text.lower() == "true"


def number(name: str, text: str, least: int | None, most: int | None = None) -> int:
    """Parse a whole number within bounds; ValueError names what was found instead."""
    if not NUMBER.fullmatch(text):
        raise ValueError(
            f"{name} {text[:40]!a} is not a whole number" if text else f"{name} has no number"
        )
    value = int(text)
    if (least is not None and value < least) or (most is not None and value > most):
        bounds = f"{least} or more" if most is None else f"from {least} to {most}"
        raise ValueError(f"{name} {value} is not {bounds}")
    return value


def legal_names_in(
    names: Sequence[str], move_named: Callable[[str], int]
) -> tuple[tuple[str, ...], list[str]]:
    """Return the legal moves of `searchmoves`, and a message for each unknown one, for which
    `move_named` raises ValueError."""
    legal, faults = [], []
    for name in names:
        try:
            move_named(name)
        except ValueError:
            faults.append(f"searchmoves: illegal move {name[:40]!a}; ignored")
        else:
            legal.append(name)
    return tuple(legal), faults


def arguments_of_go(
    words: Sequence[str], numbers: Mapping[str, int | None], flags: Sequence[str], of_moves: str
) -> tuple[dict[str, Any], list[str]]:
    """Parse the words after `go`: `numbers` with their smallest valid values, `flags`, and the
    argument that moves follow.

    Returns the valid arguments by name, and a message for each invalid one.
    """
    known = {*numbers, *flags, of_moves}
    values: dict[str, Any] = {}
    faults = []
    i = 0
    while i < len(words):
        word = words[i]
        i += 1
        if word in flags:
            values[word] = True
        elif word in numbers:
            value = words[i] if i < len(words) and words[i] not in known else ""
            i += bool(value)
            try:
                values[word] = number(word, value, numbers[word])
            except ValueError as problem:
                faults.append(f"{problem}; ignored")
        elif word == of_moves:
            first = i
            while i < len(words) and words[i] not in known:
                i += 1
            if first == i:
                faults.append(f"{of_moves} names no move; ignored")
            values[word] = tuple(words[first:i])
        else:
            faults.append(
                f"go: unknown argument {word[:40]!a}; expected {', '.join([*numbers, *flags])} or"
                f" {of_moves}"
            )
    return values, faults


if TYPE_CHECKING:
    import numpy as np

    from games.protocol.thinking import EngineEvaluation, Line, Task, Thinking
    from games.search.searcher import Found, Searcher

LARGEST_HASH = 1 << 16  # megabytes
LARGEST_OVERHEAD = 5000  # milliseconds
MOST_LINES = 500  # of MultiPV
LONGEST_ANSWER = 300  # characters
REFUSED = "no position: the last one was refused"
TOO_LONG = f"a line of more than {LONGEST_LINE} characters"


@dataclass
class Options:
    """Values set by `setoption`; pondering concerns the GUI alone."""

    hash: int = 16  # megabytes
    overhead: int = 15  # milliseconds lost per move between the clock and the search
    variant: bool = False  # of the rules, such as Chess960
    lines: int = 1  # MultiPV: results to write after each depth


class Command(NamedTuple):
    """A command: a function of its arguments (False: end), whether it needs a search, whether it
    waits for the end of a search, and whether it has no arguments."""

    run: Callable[[Server, list[str]], bool | None]
    searcher: bool = False
    between: bool = False
    alone: bool = False


class Watcher(Protocol):
    """What learns from the games that are played."""

    def placed(self, line: Sequence[np.ndarray]) -> bool:
        """Take the positions of a game; return whether an earlier one was learned from."""

    def searched(self, line: Sequence[np.ndarray], found: Found) -> None:
        """Take a search of the last position of a line."""

    def ended(
        self, outcome: float | None = None, own: float | None = None, reason: str = ""
    ) -> bool:
        """Learn from the game, with its outcome for the first player, or for the engine's `own`
        side, if one is known, and the reason if it was told; return whether there was a game."""

    def abandoned(self) -> None:
        """Drop a game that was broken off without a result."""

    def met(self, name: str | None, rating: float | None = None) -> None:
        """Take the name and the rating of the opponent, as far as they are known, of the next game,
        or of the present one before its first search."""


class EngineSetting(NamedTuple):
    """An option: its kind as protocols declare it, and how it is set from its name and text;
    ValueError for a wrong text."""

    kind: str
    set: Callable[[Server, str, str], None]


@dataclass(frozen=True)
class Dialect:
    """The differences between protocols."""

    name: str  # the first command; `ok` behind it is the answer
    commands: Mapping[str, Command]
    options: Mapping[str, EngineSetting]  # besides the file of the evaluation
    side: str  # whose view a static evaluation is
    new_line: Callable[[], Line]
    # the arguments of `position` as start and moves; ValueError
    place: Callable[[Sequence[str]], tuple[str, list[str]]]
    warm_up: Callable[[Line], Task]  # a short search, in which compiled functions load
    # a task from the arguments of `go` (None: they are too many), and what is wrong with them
    task: Callable[[Sequence[str] | None, Line, Options], tuple[Task, list[str]]]
    no_move: str  # the answer where there is none
    overhead: int = Options.overhead  # milliseconds, unless an option sets them
    opponent: str = ""  # an option with which interfaces name the opponent to one that learns


def serve(
    dialect: Dialect,
    evaluation: EngineEvaluation,
    lines: Iterable[str],
    write: Callable[[str], None],
    name: str,
    default: str,
    watcher: Watcher | None = None,
) -> int:
    """Speak a protocol until `quit` or the end of the lines; returns the number of searches.

    `default` is the name of the default evaluation, whose ValueError is passed on. `write` is
    called with whole lines, by one thread at a time. `watcher` learns from the games."""
    server = Server(dialect, evaluation, write, name, default, watcher)
    try:
        for line in lines:
            if not server.obey(line):
                break
    finally:
        server.end()
    return server.searches


class Server:
    """The state of the engine: options, game and running search."""

    def __init__(
        self,
        dialect: Dialect,
        evaluation: EngineEvaluation,
        write: Callable[[str], None],
        name: str,
        default: str,
        watcher: Watcher | None = None,
    ) -> None:
        self._watcher = watcher
        self._dialect, self._evaluation, self._name, self._default = (
            dialect,
            evaluation,
            name,
            default,
        )
        self._setters = {
            option.lower(): (option, given.set)
            for option, given in (*dialect.options.items(), EVALUATION)
        }
        self._met = {dialect.opponent: OPPONENT} if watcher and dialect.opponent else {}
        self._setters |= {name.lower(): (name, each.set) for name, each in self._met.items()}
        self._changed = False  # weights that the searcher does not use yet
        self._plain_write, self._lock = write, threading.Lock()
        self.options = Options(overhead=dialect.overhead)
        self._searcher: Searcher | None = None
        self._line: Line | None = None
        self._refused = False  # the last position
        self._thinking: Thinking | None = None
        self.searches = 0

    def obey(self, text: str) -> bool:
        """Execute a line; returns False for `quit`."""
        self._received = time.monotonic()
        name, *words = text.split() or [""]
        command = self._dialect.commands.get(name)
        self._refused = self._refused or command is POSITION  # unless it is accepted
        if command and command.searcher and not (words and command.alone):
            self._load()
        try:
            if len(text.rstrip("\r\n")) > LONGEST_LINE:
                if command is GO:
                    self._begin_search(None)
                    return True
                raise ValueError(TOO_LONG)
            if command is None:
                if name:
                    raise ValueError(
                        f"unknown command {shown(text.strip())}; expected"
                        f" {', '.join(self._dialect.commands)}"
                    )
                return True
            if words and command.alone:
                raise ValueError(f"{name} takes no arguments, found {shown(' '.join(words))}")
            if command.between:
                self._finish_search(name)
            return command.run(self, words) is not False
        except ValueError as problem:
            self._tell(str(problem))
        return True

    def end(self) -> None:
        """Stop a running search, which still writes its `bestmove`, and learn from the game."""
        self._end_search()
        self._end_game()

    def _end_search(self) -> None:
        if self._thinking:
            self._thinking.stop()
            self._thinking.wait()

    def _end_game(self, own: float | None = None) -> None:
        """Learn from the game so far; the search then uses what was learned."""
        if self._watcher is not None and self._watcher.ended(own=own):
            self._changed = True

    def _game_over(self, words: list[str]) -> None:
        self._end_search()
        self._end_game({"win": 1.0, "lose": -1.0, "draw": 0.0}.get(words[0] if words else ""))

    def _write(self, text: str) -> None:
        with self._lock:
            self._plain_write(text)

    def _tell(self, text: str) -> None:
        """Write a message as `info string`: one line of ASCII, of limited length."""
        text = "".join(c if " " <= c <= "~" else ascii(c)[1:-1] for c in text[:LONGEST_ANSWER])
        self._write(f"info string {text[:LONGEST_ANSWER]}")

    def _load(self) -> None:
        """Load the default evaluation if it is needed and none is loaded; takes most of a
        second."""
        if self._searcher is None:
            self._use(None)

    def _use(self, name: str | None) -> None:
        from games.protocol.thinking import Thinking

        searcher = self._evaluation.searcher(name)
        self._changed = False
        Thinking(
            searcher,
            self._dialect.warm_up(self._dialect.new_line()),
            time.monotonic(),
            lambda _: None,
        ).wait()
        try:
            self._size(searcher, self.options.hash)
        except MemoryError:
            option = next(
                option for option, given in self._dialect.options.items() if given is HASH
            )
            self._write(
                f"info string not enough memory for {option} {self.options.hash}; using"
                f" {Options.hash}"
            )
            self.options.hash = Options.hash
            self._size(searcher, self.options.hash)
        self._searcher = searcher
        self._line = self._line or self._dialect.new_line()

    @staticmethod
    def _size(searcher: Searcher, megabytes: int) -> None:
        """Set the size of the transposition table and touch its memory now, not during a search."""
        searcher.resize(megabytes)
        searcher.clear()

    def _finish_search(self, command: str) -> None:
        """Wait for a search that is about to end; ValueError if it is still running."""
        if self._thinking is None:
            return
        if not (self._thinking.over or self._thinking.stopped):
            raise ValueError(f"{command} while searching; send stop first")
        self._thinking.wait()
        self._thinking = None

    def _introduce(self, words: list[str]) -> None:
        for line in (
            f"id name {self._name}",
            "id author the authors of evaltune",
            *(
                f"option name {name} type {option.kind}"
                for name, option in (*self._dialect.options.items(), *self._met.items())
            ),
            f"option name {EVALUATION[0]} type {EVALUATION[1].kind} default {self._default}",
        ):
            self._write(line)
        for name, (value, low, high) in self._evaluation.spins().items():
            self._write(f"option name {name} type spin default {value} min {low} max {high}")
        self._write(f"{self._dialect.name}ok")

    def _ready(self, words: list[str]) -> None:
        self._write("readyok")

    def _new_game(self, words: list[str]) -> None:
        assert self._searcher is not None, "Command.searcher"
        self._end_game()
        self._searcher.clear()

    def _set_option(self, words: list[str]) -> None:
        if words[:1] != ["name"] or len(words) < 2:
            raise ValueError("setoption without a name; expected setoption name NAME [value VALUE]")
        end = words.index("value") if "value" in words else len(words)
        name, value = " ".join(words[1:end]), " ".join(words[end + 1 :])
        option, setter = self._setters.get(name.lower(), ("", None))
        if setter is not None:
            setter(self, option, value)
            return
        spins = self._evaluation.spins()
        if name not in spins:
            more = f" or one of {len(spins)} numbers, such as {next(iter(spins))}" if spins else ""
            names = ", ".join([*self._dialect.options, EVALUATION[0]])
            raise ValueError(f"unknown option {shown(name)}; expected {names}{more}")
        weight = number(name, value, *spins[name][1:])
        self._load()  # reading the evaluation later would undo the change
        self._evaluation.set(name, weight)
        self._changed = True

    def _set_hash(self, name: str, value: str) -> None:
        megabytes = number(name, value, 1, LARGEST_HASH)
        if self._searcher:
            try:
                self._size(self._searcher, megabytes)
            except MemoryError:
                raise ValueError(f"not enough memory for {name} {megabytes}") from None
        self.options.hash = megabytes

    def _set_overhead(self, name: str, value: str) -> None:
        self.options.overhead = number(name, value, 0, LARGEST_OVERHEAD)

    def _set_variant(self, name: str, value: str) -> None:
        self.options.variant = truth(name, value)

    def _set_lines(self, name: str, value: str) -> None:
        self.options.lines = number(name, value, 1, MOST_LINES)

    def _set_ponder(self, name: str, value: str) -> None:
        truth(name, value)

    def _set_evaluation(self, name: str, value: str) -> None:
        self._use(None if value in ("", "<empty>", self._default) else value)

    def _set_opponent(self, name: str, value: str) -> None:
        """Take an opponent as UCI names it: title, rating, `human` or `computer`, and name."""
        rating, *words = [*value.split()[1:2], *value.split()[3:]] or ["none"]
        assert self._watcher is not None, "it has the option"
        known = float(rating) if NUMBER.fullmatch(rating) else None
        self._watcher.met(" ".join(words) or None, known)

    def _clear_hash(self, name: str, value: str) -> None:
        if value:
            raise ValueError(f"{name} takes no value, found {shown(value)}")
        if self._searcher:
            self._searcher.clear()

    def _position(self, words: list[str]) -> None:
        assert self._line is not None, "Command.searcher"
        self._line.set(*self._dialect.place(words))
        self._refused = False
        if self._watcher is not None and self._watcher.placed(self._line.positions):
            self._changed = True

    def _begin_search(self, words: Sequence[str] | None) -> None:
        from games.protocol.thinking import Thinking

        if self._thinking and not (self._thinking.over or self._thinking.stopped):
            self._tell("go while searching; the search before it is stopped")
        self._end_search()
        if self._refused:
            self._tell(REFUSED)
            self._write(f"bestmove {self._dialect.no_move}")
            return
        assert self._searcher is not None and self._line is not None, "Command.searcher"
        if self._changed:
            self._evaluation.bind(self._searcher)
            self._searcher.clear()
            self._changed = False
        task, faults = self._dialect.task(words, self._line, self.options)
        if faults:
            self._tell("; ".join(faults))
        watched = None if self._watcher is None or task.infinite else self._watcher.searched
        self._thinking = Thinking(self._searcher, task, self._received, self._write, watched)
        self.searches += 1

    def _evaluate(self, words: list[str]) -> None:
        assert self._line is not None, "Command.searcher"
        if self._refused:
            raise ValueError(REFUSED)
        self._write(
            f"static evaluation {self._evaluation.value(self._line.positions[-1])!r} cp"
            f" ({self._dialect.side} side)"
        )

    def _stop(self, words: list[str]) -> None:
        if self._thinking:
            self._thinking.stop()

    def _ponderhit(self, words: list[str]) -> None:
        if self._thinking is None:
            raise ValueError("ponderhit without go ponder")
        self._thinking.ponderhit()


INTRODUCE, READY = (
    Command(Server._introduce, alone=True),
    Command(Server._ready, searcher=True, alone=True),
)
SET_OPTION, NEW_GAME = (
    Command(Server._set_option, between=True),
    Command(Server._new_game, True, True, True),
)
POSITION, GO = (
    Command(Server._position, searcher=True),
    Command(Server._begin_search, searcher=True),
)
EVALUATE, STOP = (
    Command(Server._evaluate, searcher=True, alone=True),
    Command(Server._stop, alone=True),
)
PONDERHIT, QUIT = (
    Command(Server._ponderhit, alone=True),
    Command(lambda server, words: False, alone=True),
)
GAME_OVER = Command(Server._game_over)
IGNORED = Command(lambda server, words: None)  # there is no further output to switch on

HASH = EngineSetting(f"spin default {Options.hash} min 1 max {LARGEST_HASH}", Server._set_hash)
CLEAR_HASH, PONDER = (
    EngineSetting("button", Server._clear_hash),
    EngineSetting("check default false", Server._set_ponder),
)


def overhead(milliseconds: int) -> EngineSetting:
    """Return the option of the time lost per move between the clock and the search."""
    return EngineSetting(
        f"spin default {milliseconds} min 0 max {LARGEST_OVERHEAD}", Server._set_overhead
    )


LINES = EngineSetting(f"spin default {Options.lines} min 1 max {MOST_LINES}", Server._set_lines)
OVERHEAD = overhead(Options.overhead)
VARIANT = EngineSetting("check default false", Server._set_variant)
EVALUATION = "EvalFile", EngineSetting("string", Server._set_evaluation)
OPPONENT = EngineSetting("string default <empty>", Server._set_opponent)
