"""UBGI (Universal Backgammon Interface, draft 0.01): an engine that answers boards with moves, and such engines as players.

After `ubgi` an engine says who it is and `readyok`. Then each line that is a board, of FIBS or an XGID, is answered by a move
such as `24/18 18/13`, without hits and repetitions; by a blank line if there is none; and by `sorry` if it cannot be understood.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from games.backgammon.board import OFF, dice_of
from games.backgammon.fibs import fibs_board, from_fibs
from games.backgammon.moves import STEPS, legal_moves
from games.backgammon.notation import parse_move
from games.backgammon.rules import points, steps_of
from games.backgammon.xgid import PREFIX, from_xgid
from games.contest import ILLEGAL, Choice, Forfeit
from games.evaluators import EngineFault
from games.process import EngineProcess
from games.protocol.lines import lines_of
from games.protocol.player import ProcessPlayer
from games.streams import InputError

if TYPE_CHECKING:
    from games.search.searcher import Searcher

__all__ = ["UbgiPlayer", "lines_of", "plain_move", "serve"]
START_SECONDS, PATIENCE = 120.0, 60.0
BETWEEN = re.compile(r"[\s/-]+")


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


class UbgiPlayer(ProcessPlayer):
    """A UBGI engine in a process of its own. A Player."""

    def __init__(self, command: str) -> None:
        super().__init__()
        self._command = command

    def start(self) -> None:
        """Start the engine; InputError if that fails."""
        self._process = EngineProcess(self._command, "a ubgi engine")
        self._process.say(b"ubgi\n")
        try:
            self._process.until(b"readyok", START_SECONDS)
        except EngineFault as problem:
            self._end()
            raise InputError(f"{self._command}: {problem}; is it a ubgi engine?") from None

    def choose(self, line: np.ndarray, moves: Sequence[int], left: tuple[float, float] | None) -> Choice:
        words = np.ascontiguousarray(line[-1])
        legal = legal_moves(words)
        if len(legal) == 1:
            return Choice(legal[0])
        reply = self.ask(fibs_board(words) + "\n", b"", PATIENCE)[0].decode("ascii", "replace").strip()
        try:
            places = BETWEEN.split(reply)
            steps = [f"{a}/{b}" for a, b in zip(places[::2], places[1::2], strict=True)]
            return Choice(legal[parse_move(words, " ".join(steps))])
        except ValueError:
            self._end()
            raise Forfeit(ILLEGAL, reply[:40]) from None
