"""The USI command loop: reads commands, answers at once, and searches in another thread.

An invalid line is answered by one `info string` and otherwise ignored; but every `go`, valid or not, is answered by one
`bestmove`, because the GUI waits for it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, BinaryIO, Protocol

from games.shogi.usi.go import number, parse_go

if TYPE_CHECKING:
    import numpy as np

    from games.search.searcher import Searcher
    from games.shogi.usi.thinking import Thinking

LONGEST_LINE = 1 << 17  # bytes
LARGEST_HASH = 1 << 16  # megabytes
LARGEST_OVERHEAD = 5000  # milliseconds
LONGEST_ANSWER = 300  # characters
HASH, OVERHEAD = 16, 15  # by default


class Evaluation(Protocol):
    """The evaluation to play with."""

    def searcher(self, name: str | None) -> Searcher:
        """Read the evaluation of that name, None for the default, and return its search; ValueError if that fails."""

    def value(self, words: np.ndarray) -> float:
        """Return the static evaluation of a position in centipawns, Black's view."""

    def spins(self) -> dict[str, tuple[int, int, int]]:
        """Return the names of the weights that are options, each with its value, least and greatest."""

    def set(self, name: str, value: int) -> None:
        """Change a weight that is an option."""

    def bind(self, searcher: Searcher) -> None:
        """Let a searcher use the changed weights."""


def lines_of(stream: BinaryIO) -> Iterator[str]:
    """Yield the lines of a stream of any bytes; overlong lines are cut one character above the limit."""
    while line := stream.readline(LONGEST_LINE + 1):
        rest = line
        while len(rest) > LONGEST_LINE and not rest.endswith(b"\n"):
            rest = stream.readline(LONGEST_LINE + 1)
        yield line.decode("utf-8", "replace")


def serve(evaluation: Evaluation, lines: Iterable[str], write: Callable[[str], None], name: str, default: str) -> int:
    """Speak USI until `quit` or the end of the lines; returns the number of searches.

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
        self._hash, self._overhead = HASH, OVERHEAD
        self._searcher: Searcher | None = None
        self._line: list[np.ndarray] = []
        self._thinking: Thinking | None = None
        self.searches = 0

    def obey(self, text: str) -> bool:
        """Execute a line; returns False for `quit`."""
        self._received = time.monotonic()
        command, *words = text.split() or [""]
        if not command:
            return True
        try:
            if len(text.rstrip("\r\n")) > LONGEST_LINE and command != "go":
                raise ValueError(f"a line of more than {LONGEST_LINE} characters")
            handler = COMMANDS.get(command)
            if handler is None:
                raise ValueError(f"unknown command {text.strip()[:60]!a}; expected {', '.join(COMMANDS)}")
            if command in NEED_SEARCHER and self._searcher is None:
                self._use(None)
            if command in BETWEEN_SEARCHES:
                self._finish_search(command)
            return handler(self, words) is not False
        except ValueError as problem:
            if command in NEED_SEARCHER and self._searcher is None:
                raise  # the default evaluation cannot be loaded
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

    def _use(self, name: str | None) -> None:
        from games.shogi.position import START
        from games.shogi.usi.go import Go
        from games.shogi.usi.thinking import Thinking

        searcher = self._evaluation.searcher(name)
        # compiled functions load at their first call, which takes a fraction of a second
        Thinking(searcher, [START.copy()], Go(depth=2), 0.0, time.monotonic(), lambda _: None).wait()
        self._changed = False
        searcher.resize(self._hash)
        searcher.clear()
        self._searcher = searcher
        self._line = self._line or [START.copy()]

    def _finish_search(self, command: str) -> None:
        """Wait for a search that is about to end; ValueError if it is still running."""
        if self._thinking is None:
            return
        if not (self._thinking.over or self._thinking.stopped):
            raise ValueError(f"{command} while searching; send stop first")
        self._thinking.wait()
        self._thinking = None

    def _usi(self, words: list[str]) -> None:
        for line in (f"id name {self._name}", "id author the authors of evaltune",
                     f"option name USI_Hash type spin default {HASH} min 1 max {LARGEST_HASH}",
                     "option name USI_Ponder type check default false",
                     f"option name Move_Overhead type spin default {OVERHEAD} min 0 max {LARGEST_OVERHEAD}",
                     f"option name EvalFile type string default {self._default}"):
            self._write(line)
        for name, (value, low, high) in self._evaluation.spins().items():
            self._write(f"option name {name} type spin default {value} min {low} max {high}")
        self._write("usiok")

    def _isready(self, words: list[str]) -> None:
        self._write("readyok")

    def _usinewgame(self, words: list[str]) -> None:
        assert self._searcher is not None, "see NEED_SEARCHER"
        self._searcher.clear()

    def _setoption(self, words: list[str]) -> None:
        if words[:1] != ["name"] or len(words) < 2:
            raise ValueError("setoption without a name; expected setoption name NAME [value VALUE]")
        end = words.index("value") if "value" in words else len(words)
        name, value = " ".join(words[1:end]), " ".join(words[end + 1:])
        spins = self._evaluation.spins()
        if name in spins:
            weight = number(name, value, *spins[name][1:])
            if self._searcher is None:
                self._use(None)  # reading the evaluation later would undo the change
            self._evaluation.set(name, weight)
            self._changed = True
        elif name == "USI_Hash":
            self._hash = number(name, value, 1, LARGEST_HASH)
            if self._searcher:
                self._searcher.resize(self._hash)
                self._searcher.clear()
        elif name == "Move_Overhead":
            self._overhead = number(name, value, 0, LARGEST_OVERHEAD)
        elif name == "EvalFile":
            self._use(None if value in ("", "<empty>", self._default) else value)
        elif name == "USI_Ponder":
            if value not in ("true", "false"):
                raise ValueError(f"{name} {value[:60]!a} is neither true nor false")
        else:
            more = f" or one of {len(spins)} weights, such as {next(iter(spins))}" if spins else ""
            raise ValueError(f"unknown option {name[:60]!a}; expected {', '.join(OPTIONS)}{more}")

    def _position(self, words: list[str]) -> None:
        from games.shogi.openings import line_of

        self._line = line_of(" ".join(words))[0]

    def _go(self, words: list[str]) -> None:
        from games.shogi.position import STATE
        from games.shogi.usi.thinking import Thinking

        go, faults = parse_go(words)
        if go.mate:
            self._write("checkmate notimplemented")
            return
        if self._thinking and not (self._thinking.over or self._thinking.stopped):
            self._tell("go while searching; the search before it is stopped")
        self.end()
        if faults:
            self._tell("; ".join(faults))
            if not (go.infinite or go.ends(bool(int(self._line[-1][STATE]) & 1))):
                go = replace(go, depth=1)  # the GUI waits for an answer
        assert self._searcher is not None, "see NEED_SEARCHER"
        if self._changed:
            self._evaluation.bind(self._searcher)
            self._searcher.clear()
            self._changed = False
        self._thinking = Thinking(self._searcher, self._line, go, self._overhead / 1000, self._received, self._write)
        self.searches += 1

    def _eval(self, words: list[str]) -> None:
        self._write(f"static evaluation {self._evaluation.value(self._line[-1])!r} cp (black side)")

    def _stop(self, words: list[str]) -> None:
        if self._thinking:
            self._thinking.stop()

    def _ponderhit(self, words: list[str]) -> None:
        if self._thinking is None:
            raise ValueError("ponderhit without go ponder")
        self._thinking.ponderhit()

    def _gameover(self, words: list[str]) -> None:
        self._stop(words)

    def _quit(self, words: list[str]) -> bool:
        return False


COMMANDS: dict[str, Callable[[Server, list[str]], bool | None]] = {
    "usi": Server._usi, "isready": Server._isready, "setoption": Server._setoption, "usinewgame": Server._usinewgame,
    "position": Server._position, "go": Server._go, "eval": Server._eval, "stop": Server._stop, "ponderhit": Server._ponderhit,
    "gameover": Server._gameover, "quit": Server._quit}
NEED_SEARCHER = {"isready", "usinewgame", "position", "go", "eval"}
BETWEEN_SEARCHES = {"setoption", "usinewgame"}
OPTIONS = ("USI_Hash", "USI_Ponder", "Move_Overhead", "EvalFile")
