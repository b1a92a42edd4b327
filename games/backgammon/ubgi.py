"""UBGI (Universal Backgammon Interface, draft 0.01): an engine that answers boards with moves, and such engines as players.

After `ubgi` an engine says who it is and `readyok`. Then each line that is a board, of FIBS or an XGID, is answered by a move
such as `24/18 18/13`, without hits and repetitions; by a blank line if there is none; and by `sorry` if it cannot be understood.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from games.backgammon.board import OFF, dice_of
from games.backgammon.fibs import fibs_board, from_fibs
from games.backgammon.moves import STEPS, legal_moves
from games.backgammon.notation import parse_move
from games.backgammon.rules import points, steps_of
from games.backgammon.xgid import PREFIX, from_xgid
from games.contest import CRASH, ILLEGAL, STALL, Choice, Forfeit
from games.evaluators import EngineFault
from games.process import EngineProcess
from games.streams import InputError

if TYPE_CHECKING:
    from games.search.searcher import Searcher

LONGEST_LINE = 1 << 12  # bytes
START_SECONDS, PATIENCE = 120.0, 60.0
BETWEEN = re.compile(r"[\s/-]+")
SILENT = re.compile("no `|printed nothing")


def lines_of(stream: BinaryIO) -> Iterator[str]:
    """Yield the lines of a stream of any bytes; overlong lines are cut."""
    while line := stream.readline(LONGEST_LINE + 1):
        rest = line
        while len(rest) > LONGEST_LINE and not rest.endswith(b"\n"):
            rest = stream.readline(LONGEST_LINE + 1)
        yield line.decode("utf-8", "replace")


def plain_move(move: int) -> str:
    """Return a move as UBGI writes it: a pair for each step, the rearmost first."""
    return " ".join(f"{place}/{max(place - die, OFF)}" for place, die in sorted(steps_of(move & STEPS), reverse=True))


def serve(evaluation: Any, lines: Iterable[str], write: Callable[[str], None], name: str, default: str, depth: int = 1) -> int:
    """Speak UBGI until `quit` or the end of the lines; returns the number of searches. `evaluation.searcher(None)` is the search
    with the evaluation to play with; `default` names it."""
    from games.search.searcher import Limits

    searcher: Searcher | None = None
    searches = 0
    for line in lines:
        text = line.strip()
        if text == "quit":
            break
        if text == "ubgi":
            searcher = searcher or evaluation.searcher(None)
            program, _, version = name.partition(" ")
            for answer in (f"id name {program} {default}", "id author the authors of evaltune", f"id version {version}",
                           "readyok"):
                write(answer)
        elif text not in ("", "stop"):
            searcher = searcher or evaluation.searcher(None)
            try:
                words = from_xgid(text)[0] if text.startswith(PREFIX) else from_fibs(text)
                if dice_of(words) == (0, 0) or points(words):
                    raise ValueError("the dice have not been rolled, or the game is over")
            except ValueError:
                write("sorry")
                continue
            searches += 1
            move = searcher.search([words], Limits(depth=depth)).move
            write(plain_move(move or 0))
    return searches


class UbgiPlayer:
    """A UBGI engine in a process of its own. A Player."""

    def __init__(self, command: str) -> None:
        self._command = command
        self._process: EngineProcess | None = None

    def start(self) -> None:
        """Start the engine; InputError if that fails."""
        self._process = EngineProcess(self._command, "a ubgi engine")
        self._process.say(b"ubgi\n")
        try:
            self._process.until(b"readyok", START_SECONDS)
        except EngineFault as problem:
            self._end()
            raise InputError(f"{self._command}: {problem}; is it a ubgi engine?") from None

    def begin(self, seed: str) -> None:
        if self._process is None:
            try:
                self.start()
            except InputError as problem:
                raise Forfeit(CRASH, f"does not restart: {problem}") from None

    def choose(self, line: np.ndarray, moves: Sequence[int], left: tuple[float, float] | None) -> Choice:
        words = np.ascontiguousarray(line[-1])
        legal = legal_moves(words)
        if len(legal) == 1:
            return Choice(legal[0])
        if self._process is None:
            raise Forfeit(CRASH, "ended before")
        self._process.say(fibs_board(words).encode() + b"\n")
        try:
            reply = self._process.until(b"", PATIENCE)[0].decode("ascii", "replace").strip()
        except EngineFault as problem:
            self._end()
            raise Forfeit(STALL if SILENT.match(str(problem)) else CRASH, str(problem)) from None
        try:
            places = BETWEEN.split(reply)
            steps = [f"{a}/{b}" for a, b in zip(places[::2], places[1::2], strict=True)]
            return Choice(legal[parse_move(words, " ".join(steps))])
        except ValueError:
            self._end()
            raise Forfeit(ILLEGAL, reply[:40]) from None

    def abort(self) -> None:
        if self._process:
            self._process.kill()

    def close(self) -> None:
        if self._process:
            self._process.quit()
            self._process = None

    def _end(self) -> None:
        if self._process:
            self._process.kill()
            self._process = None
