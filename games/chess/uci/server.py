"""The UCI command loop: reads commands, answers at once, and searches in another thread.

Heavy modules are imported when first needed, so that `uci` is answered immediately. An invalid line is answered by one
`info string` and otherwise ignored; but every `go`, valid or not, is answered by one `bestmove`, because the GUI waits for it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, BinaryIO

from games.chess.uci.go import Go, number, parse_go
from games.chess.uci.options import Evaluation, Options, shown, truth

if TYPE_CHECKING:
    from games.chess.uci.line import Line
    from games.chess.uci.thinking import Thinking
    from games.search.searcher import Searcher

START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
LONGEST_LINE = 1 << 17  # bytes; the longest possible game takes 88,000
LARGEST_HASH = 1 << 16  # megabytes
LARGEST_OVERHEAD = 5000  # milliseconds
LONGEST_ANSWER = 300  # characters
TOO_LONG = f"a line of more than {LONGEST_LINE} characters"


def lines_of(stream: BinaryIO) -> Iterator[str]:
    """Yield the lines of a stream of any bytes; overlong lines are cut one character above the limit."""
    while line := stream.readline(LONGEST_LINE + 1):
        rest = line
        while len(rest) > LONGEST_LINE and not rest.endswith(b"\n"):
            rest = stream.readline(LONGEST_LINE + 1)
        yield line.decode("utf-8", "replace")


def serve(evaluation: Evaluation, lines: Iterable[str], write: Callable[[str], None], name: str, default: str) -> int:
    """Speak UCI until `quit` or the end of the lines; returns the number of searches.

    `default` is the name of the default evaluation, whose ValueError is passed on. `write` is called with whole lines, by one
    thread at a time.
    """
    server = Server(evaluation, write, name, default)
    try:
        for line in lines:
            if not server.obey(line):
                break
    finally:
        server.end()
    return server.searches


class Server:
    """The state of the engine: options, game and running search."""

    def __init__(self, evaluation: Evaluation, write: Callable[[str], None], name: str, default: str) -> None:
        self._evaluation, self._name, self._default = evaluation, name, default
        self._changed = False  # weights that the searcher does not use yet
        self._plain_write, self._lock = write, threading.Lock()
        self._options = Options()
        self._searcher: Searcher | None = None
        self._line: Line | None = None
        self._thinking: Thinking | None = None
        self.searches = 0

    def obey(self, text: str) -> bool:
        """Execute a line; returns False for `quit`."""
        self._received = time.monotonic()
        command, *words = text.split() or [""]
        handler = getattr(self, f"_{command}", None) if command in COMMANDS else None
        if handler and command in NEED_SEARCHER and not (words and command == "isready"):
            self._load()
        try:
            if len(text.rstrip("\r\n")) > LONGEST_LINE:
                if command == "go":
                    self._begin_search(Go(), [TOO_LONG])
                    return True
                raise ValueError(TOO_LONG)
            if handler is None:
                if command:
                    raise ValueError(f"unknown command {shown(text.strip())}; expected {', '.join(COMMANDS)}")
                return True
            if words and command in ALONE:
                raise ValueError(f"{command} takes no arguments, found {shown(' '.join(words))}")
            if command in BETWEEN_SEARCHES:
                self._finish_search(command)
            return handler(words) is not False
        except ValueError as problem:
            self._tell(str(problem))
        return True

    def end(self) -> None:
        """Stop a running search, which still writes its `bestmove`."""
        if self._thinking:
            self._thinking.stop()
            self._thinking.wait()

    def _write(self, text: str) -> None:
        with self._lock:
            self._plain_write(text)

    def _tell(self, text: str) -> None:
        """Write a message as `info string`: one line of ASCII, of limited length."""
        text = "".join(c if " " <= c <= "~" else ascii(c)[1:-1] for c in text[:LONGEST_ANSWER])
        self._write(f"info string {text[:LONGEST_ANSWER]}")

    def _load(self) -> None:
        """Load the default evaluation if none is loaded; takes most of a second."""
        if self._searcher is None:
            self._use(None)

    def _use(self, name: str | None) -> None:
        from games.chess.uci.line import Line
        from games.chess.uci.thinking import warm_up

        searcher = self._evaluation.searcher(name)
        self._changed = False
        warm_up(searcher)
        try:
            self._size(searcher, self._options.hash)
        except MemoryError:
            self._write(f"info string not enough memory for Hash {self._options.hash}; using {Options.hash}")
            self._options.hash = Options.hash
            self._size(searcher, self._options.hash)
        self._searcher = searcher
        self._line = self._line or Line()

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

    def _uci(self, words: list[str]) -> None:
        for line in (f"id name {self._name}", "id author the authors of evaltune",
                     f"option name Hash type spin default {Options.hash} min 1 max {LARGEST_HASH}",
                     "option name Clear Hash type button",
                     "option name Ponder type check default false",
                     f"option name Move Overhead type spin default {Options.overhead} min 0 max {LARGEST_OVERHEAD}",
                     "option name UCI_Chess960 type check default false",
                     f"option name EvalFile type string default {self._default}"):
            self._write(line)
        for name, (value, low, high) in self._evaluation.spins().items():
            self._write(f"option name {name} type spin default {value} min {low} max {high}")
        self._write("uciok")

    def _isready(self, words: list[str]) -> None:
        self._write("readyok")

    def _debug(self, words: list[str]) -> None:
        """Accept `debug`; there is no further output to switch on."""

    def _ucinewgame(self, words: list[str]) -> None:
        assert self._searcher is not None, "see NEED_SEARCHER"
        self._searcher.clear()

    def _setoption(self, words: list[str]) -> None:
        if words[:1] != ["name"] or len(words) < 2:
            raise ValueError("setoption without a name; expected setoption name NAME [value VALUE]")
        end = words.index("value") if "value" in words else len(words)
        name, value = " ".join(words[1:end]), " ".join(words[end + 1:])
        setter = SETTERS.get(name.lower())
        if setter is not None:
            setter(self, value)
            return
        spins = self._evaluation.spins()
        if name not in spins:
            more = f" or one of {len(spins)} weights, such as {next(iter(spins))}" if spins else ""
            raise ValueError(f"unknown option {shown(name)}; expected {', '.join(OPTIONS)}{more}")
        weight = number(name, value, *spins[name][1:])
        self._load()  # reading the evaluation later would undo the change
        self._evaluation.set(name, weight)
        self._changed = True

    def _set_hash(self, value: str) -> None:
        megabytes = number("Hash", value, 1, LARGEST_HASH)
        if self._searcher:
            try:
                self._size(self._searcher, megabytes)
            except MemoryError:
                raise ValueError(f"not enough memory for Hash {megabytes}") from None
        self._options.hash = megabytes

    def _set_overhead(self, value: str) -> None:
        self._options.overhead = number("Move Overhead", value, 0, LARGEST_OVERHEAD)

    def _set_chess960(self, value: str) -> None:
        self._options.chess960 = truth("UCI_Chess960", value)

    def _set_ponder(self, value: str) -> None:
        truth("Ponder", value)

    def _set_evaluation(self, value: str) -> None:
        self._use(None if value in ("", "<empty>", self._default) else value)

    def _clear_hash(self, value: str) -> None:
        if value:
            raise ValueError(f"Clear Hash takes no value, found {shown(value)}")
        if self._searcher:
            self._searcher.clear()

    def _position(self, words: list[str]) -> None:
        end = words.index("moves") if "moves" in words else len(words)
        start, moves = words[:end], words[end + 1:]
        if start == ["startpos"]:
            fen = START
        elif start[:1] == ["fen"] and 5 <= len(start) <= 7 and all(field.isdecimal() for field in start[5:]):
            fen = " ".join(start[1:])
        else:
            raise ValueError(f"position {shown(' '.join(start))}; expected startpos or fen and four to six fields, then moves")
        assert self._line is not None, "see NEED_SEARCHER"
        self._line.set(fen, moves)

    def _go(self, words: list[str]) -> None:
        self._begin_search(*parse_go(words))

    def _begin_search(self, go: Go, faults: list[str]) -> None:
        from games.chess.uci.thinking import Thinking, sensible

        if self._thinking and not (self._thinking.over or self._thinking.stopped):
            self._tell("go while searching; the search before it is stopped")
        self.end()
        assert self._searcher is not None and self._line is not None, "see NEED_SEARCHER"
        if self._changed:
            self._evaluation.bind(self._searcher)
            self._searcher.clear()
            self._changed = False
        line = self._line.playable()
        go, faults = sensible(go, faults, line[-1])
        if faults:
            self._tell("; ".join(faults))
        self._thinking = Thinking(self._searcher, line, go, self._options.chess960, self._options.overhead / 1000,
                                  self._received, self._write)
        self.searches += 1

    def _eval(self, words: list[str]) -> None:
        assert self._line is not None, "see NEED_SEARCHER"
        self._write(f"static evaluation {self._evaluation.value(self._line.playable()[-1])!r} cp (white side)")

    def _stop(self, words: list[str]) -> None:
        if self._thinking:
            self._thinking.stop()

    def _ponderhit(self, words: list[str]) -> None:
        if self._thinking is None:
            raise ValueError("ponderhit without go ponder")
        self._thinking.ponderhit()

    def _quit(self, words: list[str]) -> bool:
        return False


COMMANDS = ("uci", "debug", "isready", "setoption", "ucinewgame", "position", "go", "eval", "stop", "ponderhit", "quit")
NEED_SEARCHER = {"isready", "ucinewgame", "position", "go", "eval"}
BETWEEN_SEARCHES = {"setoption", "ucinewgame"}
ALONE = {"uci", "isready", "ucinewgame", "eval", "stop", "ponderhit", "quit"}
OPTIONS = {"Hash": Server._set_hash, "Clear Hash": Server._clear_hash, "Ponder": Server._set_ponder,
           "Move Overhead": Server._set_overhead, "UCI_Chess960": Server._set_chess960, "EvalFile": Server._set_evaluation}
SETTERS = {name.lower(): setter for name, setter in OPTIONS.items()}
