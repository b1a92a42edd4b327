"""A conversation with the engine, line by line; python-chess checks the answers."""

from __future__ import annotations

import queue
import re
import threading
import time

import chess

from games.chess.uci import serve
from tuner.engine.loading import load_engine
from tuner.engine.served import ServedEvaluation

PATIENCE = 30.0  # seconds until a test gives up
INFO = re.compile(r"info depth \d+ score (?:cp|mate) -?\d+ nodes \d+ nps \d+ hashfull (?P<full>\d+) time \d+ pv (?P<pv>.+)")
ONLY_MOVE = "k7/8/8/8/8/8/6q1/7K w - - 0 1"


class Small(ServedEvaluation):
    """The evaluation of a parameter file, with small searches."""

    def __init__(self, settable: bool = False) -> None:
        usual = load_engine("classic")
        super().__init__(lambda name: load_engine(name)[1] if name else usual[1],
                         lambda name: load_engine(name) if name else usual, settable)

    def searcher(self, name: str | None):
        searcher = super().searcher(name)
        searcher.resize(1)
        return searcher


class Talk:
    """A conversation with an engine that runs in another thread of this process."""

    def __init__(self, evaluation=None) -> None:
        self._in: queue.Queue[str | None] = queue.Queue()
        self._out: queue.Queue[str | None] = queue.Queue()
        self.heard: list[str] = []
        self._thread = threading.Thread(target=self._serve, args=(evaluation or Small(),), daemon=True)
        self._thread.start()

    def _serve(self, evaluation) -> None:
        self.searches = serve(evaluation, iter(self._in.get, None), self._out.put, "it", "classic")
        self._out.put(None)

    def say(self, *lines: str) -> None:
        for line in lines:
            self._in.put(line)

    def hear(self, start: str, within: float = PATIENCE) -> str:
        """The next line that starts so; those before it are kept in `heard`."""
        self.heard, end = [], time.monotonic() + within
        while True:
            line = self._out.get(timeout=max(0.0, end - time.monotonic()))
            assert line is not None, "the engine has quit"
            self.heard.append(line)
            if line.startswith(start):
                return line

    def ask(self, *lines: str) -> list[str]:
        """What the engine says to these lines before it is ready."""
        self.say(*lines, "isready")
        self.hear("readyok")
        return self.heard[:-1]

    def best(self, *lines: str) -> list[str]:
        """The words after `bestmove` that follow these lines."""
        self.say(*lines)
        return self.hear("bestmove").split()[1:]

    def leave(self, line: str | None = "quit") -> list[str]:
        """Quit, or end the input; what was still said."""
        self._in.put(line)
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive()
        return list(iter(self._out.get_nowait, None))


def board_of(text: str, chess960: bool = False) -> chess.Board:
    """The board of what stands behind `position `."""
    start, _, moves = text.partition(" moves ")
    board = chess.Board(chess960=chess960) if start == "startpos" else chess.Board(start.removeprefix("fen "), chess960=chess960)
    for move in moves.split():
        board.push_uci(move)
    return board


def check_info(lines: list[str], board: chess.Board, chess960: bool = False) -> None:
    """Every line of information is complete, and its variation legal in the notation of the game."""
    for line in lines:
        found = INFO.fullmatch(line)
        assert found, line
        assert int(found["full"]) <= 1000
        after = board.copy()
        for name in found["pv"].split():
            move = chess.Move.from_uci(name)
            assert move in after.legal_moves, line
            assert after.uci(move, chess960=chess960) == name
            after.push(move)
