"""The end of a game: the same answer as python-chess at every ply of games with many repetitions."""

from __future__ import annotations

import random

import chess
import numpy as np
import pytest

from games.record import find

GAME = find("chess")
STARTS = ["4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1", "4k3/8/8/2b5/8/8/8/4K1N1 w - - 90 1", "4k3/p7/8/8/8/8/P7/4K3 w - - 0 1",
          "8/8/4k3/8/8/3K4/1Q6/8 w - - 95 80", "2b1k3/8/8/8/8/8/8/4KB2 w - - 0 1", chess.STARTING_FEN]


def expected(board: chess.Board) -> int | None:
    if board.is_checkmate():
        return -1 if board.turn else 1
    over = board.is_stalemate() or board.is_insufficient_material() or board.is_repetition(3) or board.halfmove_clock >= 100
    return 0 if over else None


@pytest.mark.parametrize("start", STARTS)
def test_the_result_at_every_ply_is_that_of_python_chess(start):
    dice = random.Random(start)
    for _ in range(6):
        board, line = chess.Board(start), [GAME.position(start)]
        for _ in range(150):
            found = GAME.result(line)
            assert found == expected(board) == GAME.result(np.array(line)), board.fen()
            if found is not None:
                break
            undo = board.peek() if board.move_stack and dice.random() < 0.6 else None
            back = chess.Move(board.move_stack[-2].to_square, board.move_stack[-2].from_square) if undo and len(
                board.move_stack) > 1 else None
            move = back if back and board.is_legal(back) else dice.choice(list(board.legal_moves))
            line.append(GAME.play(line[-1], GAME.move_named(line[-1], move.uci())))
            board.push(move)
