"""Moves that give check, found without making them, against python-chess."""

from __future__ import annotations

import chess
import pytest
from numba.core import types

from games.chess.checks import aims_of, gives_check
from games.chess.fen import position
from games.chess.position import load, words_type
from tests.games.support import packed, random_boards, unit_of

ENDS = [  # discovered checks by castling, en passant, promotions and kings are rare in random games
    "4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1", "5k2/8/8/8/8/8/8/4K2R w K - 0 1", "3k4/8/8/8/8/8/8/R3K3 w Q - 0 1",
    "8/8/8/1k1pP2R/8/8/8/4K3 w - d6 0 1", "8/8/8/R1pP1k2/8/8/8/4K3 w - c6 0 1", "1k6/4P3/8/8/8/8/4K3/8 w - - 0 1",
    "4k3/P3P2P/8/8/8/8/8/4K3 w - - 0 1", "3rk3/P3P2P/8/8/4R3/8/8/4K3 w - - 0 1", "4k3/8/4K3/8/8/8/8/4R3 w - - 0 1",
    "k7/1p6/8/3N4/8/8/6B1/K7 w - - 0 1", "k7/8/8/8/N7/8/8/RK6 w - - 0 1", "7k/5P2/8/8/8/8/8/K5R1 w - - 0 1"]


@unit_of(__file__).entry(types.boolean(words_type, types.int64))
def checks(words, move):
    p = load(words)
    return gives_check(p, aims_of(p), move)


def agreeing(board: chess.Board) -> tuple[int, int]:
    """The number of legal moves, and of those among them that give check; all agree with python-chess."""
    words, count = position(board.fen()), 0
    moves = list(board.legal_moves)
    for move in moves:
        expected = board.gives_check(move)
        assert bool(checks(words, packed(board, move))) == expected, (board.fen(), move)
        count += expected
    return len(moves), count


@pytest.mark.parametrize("chess960", [False, True])
def test_the_moves_that_give_check_in_random_games_are_those_of_python_chess(chess960):
    found = [agreeing(board) for board in random_boards(97, 12, 120, chess960)]
    assert sum(moves for moves, _ in found) > 10_000 and sum(count for _, count in found) > 300


@pytest.mark.parametrize("text", ENDS)
def test_rare_kinds_of_check_are_found(text):
    board = chess.Board(text)
    assert sum(agreeing(each)[1] for each in (board, board.mirror())) > 0
