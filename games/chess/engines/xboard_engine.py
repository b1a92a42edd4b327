"""The protocol of xboard, version 2 (CECP), as an engine: the engine keeps the game itself.

Source: Tim Mann and H. G. Muller, Chess Engine Communication Protocol,
https://www.gnu.org/software/xboard/engine-intf.html. Pondering is not offered."""

import math
import re
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from games.chess.engines.uci.thinking import UciGo, new_line, task_of, warm_up
from games.chess.files.fen import START
from games.chess.game import moves_of, result
from games.chess.rules.movegen import move_named
from games.protocol.server import (
    LARGEST_HASH,
    LONGEST_LINE,
    Options,
    Watcher,
    number,
    shown,
)
from games.protocol.thinking import EngineEvaluation, Thinking

FEATURES = (
    "ping=1 setboard=1 playother=1 usermove=1 time=1 draw=1 sigint=0 sigterm=0 analyze=1 colors=0"
    ' reuse=1 memory=1 nps=1 name=1 variants="normal" debug=0'
)
# without an effect here; the protocol has engines ignore them
IGNORED = (
    *("xboard", "accepted", "rejected", "random", "hard", "easy", "computer"),
    *("ics", "pause", "resume", "cores", "egtpath", "draw", "hint", "bk", "white", "black"),
    *("partner", "ptell", "."),
)
MOVE = re.compile(r"[a-h][1-8][a-h][1-8][qrbn]?")
INFO = re.compile(r"info depth (\d+) .*score (cp|mate) (-?\d+) nodes (\d+) .*time (\d+) pv ?(.*)")
OUTCOMES = {"1-0": 1.0, "0-1": -1.0, "1/2-1/2": 0.0}
BROKEN_OFF = "*"  # the result of a game without one
MATE = 100_000  # and moves, as a score
MOST_SECONDS = 1e7
MOST_NODES = 1 << 62


def seconds_of(text: str) -> float:
    """Parse a number of seconds, or of minutes and seconds; ValueError for what is none."""
    minutes, _, seconds = text.rpartition(":")
    value = 60 * float(minutes or 0) + float(seconds or 0)
    if not math.isfinite(value):
        raise ValueError(text)
    return max(-MOST_SECONDS, min(value, MOST_SECONDS))


class XboardServer:
    """The state of the engine: the game, who plays it, limits, and the running search."""

    def __init__(
        self,
        evaluation: EngineEvaluation,
        write: Callable[[str], None],
        name: str,
        watcher: Watcher | None,
    ) -> None:
        self._evaluation, self._plain_write, self._name = evaluation, write, name
        self._watcher = watcher
        self._lock = threading.RLock()  # of the game: a search adds its move
        self._searcher = evaluation.searcher(None)
        Thinking(self._searcher, warm_up(new_line()), time.monotonic(), lambda text: None).wait()
        self._line, self._start = new_line(), START
        self._moves: list[str] = []
        self._side: int | None = 1  # that we play, 1 for Black; None: force mode
        self._analyzing = self._post = False
        self._go = UciGo()
        self._level: tuple[int, float] = (0, 0.0)  # moves of a session, and increment in seconds
        self._base: float | None = None  # seconds of a game, or session, if there is a clock
        self._clock: float | None = None  # seconds that we have left
        self._nps = 0  # nodes that count as a second of `st`; 0: its seconds are those of a clock
        self._thinking: Thinking | None = None
        self._opponent: tuple[str | None, float | None] = (None, None)  # name and rating
        self._run = 0  # number of the search whose answer is wanted
        self.searches = 0
        self._new([])

    def obey(self, text: str) -> bool:
        """Execute a line; returns False for `quit`."""
        received = time.monotonic()
        name, *words = text.split() or [""]
        if name == "quit":
            return False
        try:
            if len(text.rstrip("\r\n")) > LONGEST_LINE:
                raise ValueError(f"Error (line too long): {shown(text)}")
            if MOVE.fullmatch(name) and not words:
                name, words = "usermove", [name]
            if name == "?":
                self._now()
            elif command := COMMANDS.get(name):
                command(self, words)
                if command in CHANGES:
                    self._search_if_due(received)
            elif name and name not in IGNORED:
                raise ValueError(f"Error (unknown command): {shown(text.strip())}")
        except ValueError as problem:
            self._write(str(problem))
        return True

    def end(self) -> None:
        """Stop the search, and learn from the game."""
        self._halt()
        self._end_game(None)

    def _write(self, text: str) -> None:
        with self._lock:
            self._plain_write(text)

    @property
    def _turn(self) -> int:
        """The player to move: 0 for White."""
        return int(self._line.positions[-1][8]) & 1

    def _set(self, moves: Sequence[str]) -> None:
        """Set the moves of the game; ValueError if one is illegal."""
        with self._lock:
            self._line.set(self._start, moves)
            self._moves = list(moves)
            if self._watcher is not None and self._watcher.placed(self._line.positions):
                self._relearned()

    def _relearned(self) -> None:
        self._evaluation.bind(self._searcher)
        self._searcher.clear()

    def _end_game(self, outcome: float | None, reason: str = "") -> None:
        if self._watcher is not None and self._watcher.ended(outcome, reason=reason):
            self._relearned()

    def _halt(self) -> None:
        """Stop the search without its move."""
        with self._lock:
            self._run += 1
            thinking, self._thinking = self._thinking, None
        if thinking:
            thinking.stop()
            thinking.wait()

    def _now(self) -> None:
        """Play the best move so far."""
        if self._thinking and not self._analyzing:
            self._thinking.stop()

    def _search_if_due(self, received: float) -> None:
        """Begin to search if it is our move, or for analysis."""
        line = self._line.positions
        if not (self._analyzing or self._turn == self._side) or self._thinking:
            return
        if not moves_of(line[-1]) or result(line) is not None:
            if not self._analyzing:
                self._claim()
            return
        go = UciGo(infinite=True) if self._analyzing else self._go
        if self._clock is not None and not (go.infinite or go.movetime):
            left, increment = round(1000 * self._clock), round(1000 * self._level[1])
            session = self._level[0]
            played = len(self._moves) // 2
            togo = session - played % session if session else None
            go = replace(go, wtime=left, btime=left, winc=increment, binc=increment, movestogo=togo)
        if go.movetime is not None and self._nps:
            nodes = max(1, min(go.movetime * self._nps // 1000, MOST_NODES))
            go = replace(go, movetime=None, nodes=nodes)
        if not self._analyzing and not go.ends(True):
            go = replace(go, movetime=1000)  # xboard has set no limit
        self._run += 1
        run, turn = self._run, self._turn
        watched = None if self._watcher is None or self._analyzing else self._watcher.searched
        with self._lock:  # it may end at once
            self._thinking = Thinking(
                self._searcher,
                task_of(list(line), go, Options()),
                received,
                lambda text: self._say(run, turn, text),
                watched,
            )
        self.searches += 1

    def _say(self, run: int, turn: int, text: str) -> None:
        """Write what a search says, and play its move."""
        if match := INFO.match(text):
            depth, kind, score, nodes, milliseconds, pv = match.groups()
            value = int(score)
            if kind == "mate":
                value = MATE + value if value > 0 else value - MATE
            if self._post or self._analyzing:
                self._write(f"{depth} {value} {int(milliseconds) // 10} {nodes} {pv}")
            return
        with self._lock:
            if run != self._run or not text.startswith("bestmove"):
                return
            self._thinking = None
            if self._analyzing or self._side != turn:
                return
            move = text.split()[1]
            self._set([*self._moves, move])
            self._write(f"move {move}")
            self._claim()

    def _claim(self) -> None:
        """Say the result if the game is over."""
        outcome = result(self._line.positions)
        if outcome is not None:
            score = {1: "1-0", -1: "0-1", 0: "1/2-1/2"}[outcome]
            why = {1: "White mates", -1: "Black mates", 0: "Drawn by the rules"}[outcome]
            self._write(f"{score} {{{why}}}")

    # the commands, by their names

    def _protover(self, words: list[str]) -> None:
        self._write(f'feature myname="{self._name}" {FEATURES} done=1')

    def _new(self, words: list[str]) -> None:
        self._halt()
        self._end_game(None)
        self._start, self._side, self._analyzing = START, 1, False
        self._go, self._nps, self._clock = replace(self._go, depth=None), 0, self._base
        self._searcher.clear()
        self._meet(None, None)
        self._set([])

    def _meet(self, name: str | None, rating: float | None) -> None:
        self._opponent = name, rating
        if self._watcher is not None:
            self._watcher.met(name, rating)

    def _name_of(self, words: list[str]) -> None:
        self._meet(" ".join(words) or None, self._opponent[1])

    def _rating(self, words: list[str]) -> None:
        rating = number("rating", words[1] if len(words) > 1 else "", None)
        self._meet(self._opponent[0], float(rating) if rating > 0 else None)  # 0: unknown

    def _force(self, words: list[str]) -> None:
        self._halt()
        self._side = None

    def _playing(self, side: int) -> None:
        self._halt()
        self._side, self._analyzing = side, False

    def _go_on(self, words: list[str]) -> None:
        self._playing(self._turn)

    def _playother(self, words: list[str]) -> None:
        self._playing(1 - self._turn)

    def _usermove(self, words: list[str]) -> None:
        name = words[0] if words else ""
        if self._thinking and not self._analyzing:
            raise ValueError(f"Error (not your move): {shown(name)}")
        try:
            move_named(self._line.positions[-1], name)
        except ValueError:
            raise ValueError(f"Illegal move: {shown(name)[1:-1]}") from None
        self._halt()
        self._set([*self._moves, name])

    def _setboard(self, words: list[str]) -> None:
        self._halt()
        start, before = " ".join(words), self._start
        try:
            self._start = start
            self._set([])
        except ValueError as problem:
            self._start = before
            raise ValueError(f"tellusererror Illegal position: {problem}") from None

    def _back(self, plies: int) -> None:
        if len(self._moves) < plies:
            raise ValueError(f"Error (no move to take back): {plies} of {len(self._moves)}")
        self._halt()
        self._set(self._moves[: len(self._moves) - plies])

    def _undo(self, words: list[str]) -> None:
        self._back(1)

    def _remove(self, words: list[str]) -> None:
        self._back(2)

    def _result(self, words: list[str]) -> None:
        self._halt()
        self._side = None
        if words and words[0] == BROKEN_OFF and self._watcher is not None:
            self._watcher.abandoned()
            return
        reason = " ".join(words[1:]).strip("{}")
        self._end_game(OUTCOMES.get(words[0]) if words else None, reason)

    def _level_of(self, words: list[str]) -> None:
        if len(words) < 3:
            raise ValueError("Error (too few parameters): level")
        try:
            base = seconds_of(words[1] if ":" in words[1] else f"{words[1]}:0")
            self._level = max(0, number("level", words[0], None)), max(0.0, seconds_of(words[2]))
        except ValueError:
            raise ValueError(f"Error (bad level): {shown(' '.join(words))}") from None
        self._base = self._clock = base
        self._go = replace(self._go, movetime=None)

    def _st(self, words: list[str]) -> None:
        try:
            seconds = seconds_of(words[0])
        except (IndexError, ValueError):
            raise ValueError(f"Error (bad time): {shown(' '.join(words))}") from None
        self._go = replace(self._go, movetime=max(1, round(1000 * seconds)))
        self._base = self._clock = None

    def _sd(self, words: list[str]) -> None:
        self._go = replace(self._go, depth=number("sd", words[0] if words else "", 1))

    def _nodes(self, words: list[str]) -> None:
        self._nps = max(0, number("nps", words[0] if words else "", None))

    def _time(self, words: list[str]) -> None:
        clock = number("time", words[0] if words else "", None) / 100
        self._clock = max(-MOST_SECONDS, min(clock, MOST_SECONDS))

    def _variant(self, words: list[str]) -> None:
        if words != ["normal"]:
            self._force(words)
            raise ValueError(f"Error (unsupported variant): {shown(' '.join(words))}")

    def _otim(self, words: list[str]) -> None:
        """The clock of the opponent changes nothing."""

    def _memory(self, words: list[str]) -> None:
        self._halt()
        self._searcher.resize(number("memory", words[0] if words else "", 1, LARGEST_HASH))
        self._searcher.clear()

    def _ping(self, words: list[str]) -> None:
        thinking = None if self._analyzing else self._thinking
        if thinking:  # the move comes before the answer
            thinking.wait()
        self._write(f"pong {' '.join(words)}")

    def _posting(self, words: list[str]) -> None:
        self._post = True

    def _nopost(self, words: list[str]) -> None:
        self._post = False

    def _analyze(self, words: list[str]) -> None:
        self._force(words)
        self._analyzing = True

    def _exit(self, words: list[str]) -> None:
        self._halt()
        self._analyzing = False


COMMANDS: dict[str, Callable[[XboardServer, list[str]], None]] = {
    "protover": XboardServer._protover,
    "new": XboardServer._new,
    "name": XboardServer._name_of,
    "rating": XboardServer._rating,
    "force": XboardServer._force,
    "go": XboardServer._go_on,
    "playother": XboardServer._playother,
    "usermove": XboardServer._usermove,
    "setboard": XboardServer._setboard,
    "undo": XboardServer._undo,
    "remove": XboardServer._remove,
    "result": XboardServer._result,
    "level": XboardServer._level_of,
    "st": XboardServer._st,
    "sd": XboardServer._sd,
    "nps": XboardServer._nodes,
    "time": XboardServer._time,
    "otim": XboardServer._otim,
    "memory": XboardServer._memory,
    "variant": XboardServer._variant,
    "ping": XboardServer._ping,
    "post": XboardServer._posting,
    "nopost": XboardServer._nopost,
    "analyze": XboardServer._analyze,
    "exit": XboardServer._exit,
}
# after these it may be our move
CHANGES = [
    COMMANDS[name]
    for name in ("go", "playother", "usermove", "setboard", "undo", "remove", "analyze")
]
