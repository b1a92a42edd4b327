"""A conversation with the engine, line by line; python-chess checks the answers."""

import re

import chess

from games.chess.engines.uci import serve
from games.record import find
from tests.games.protocol import talk
from tuner.evaluation.evaluation import WeightsEvaluation
from tuner.evaluation.loading import load_engine
from tuner.evaluation.served import ServedEvaluation

INFO = re.compile(
    r"info depth \d+ score (?:cp|mate) -?\d+ nodes \d+ nps \d+ hashfull (?P<full>\d+) time \d+ pv"
    r" (?P<pv>.+)"
)
ONLY_MOVE = "k7/8/8/8/8/8/6q1/7K w - - 0 1"


class Small(ServedEvaluation):
    """The evaluation of a parameter file, with small searches."""

    def __init__(self, settable: bool = False) -> None:
        usual = WeightsEvaluation(*load_engine("classic"))

        def load(name: str | None) -> WeightsEvaluation:
            return WeightsEvaluation(*load_engine(name)) if name else usual

        super().__init__(lambda name: (find("chess"), load(name).parameters), load, settable)

    def searcher(self, name: str | None):
        searcher = super().searcher(name)
        searcher.resize(1)
        return searcher


class Talk(talk.Talk):
    """A conversation with the UCI engine."""

    def __init__(self, evaluation=None) -> None:
        super().__init__(serve, evaluation or Small(), "classic")


def board_of(text: str, chess960: bool = False) -> chess.Board:
    """The board of what stands behind `position `."""
    start, _, moves = text.partition(" moves ")
    board = (
        chess.Board(chess960=chess960)
        if start == "startpos"
        else chess.Board(start.removeprefix("fen "), chess960=chess960)
    )
    for move in moves.split():
        board.push_uci(move)
    return board


def check_info(lines: list[str], board: chess.Board, chess960: bool = False) -> None:
    """Every line of information is complete, and its variation legal in the notation of the
    game."""
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
