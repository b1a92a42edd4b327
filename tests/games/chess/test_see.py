"""Static exchange evaluation against exchanges played out move by move."""

import chess
import pytest
from numba.core import types

from games.chess.files.fen import position
from games.chess.rules.position import load, words_type
from games.chess.rules.see import see_reaches
from tests.games.chess.swapping import VALUES, exchange, forced_exchange
from tests.games.support import packed, random_boards, unit_of

GOALS = [-900, -401, -400, -101, -1, 0, 1, 99, 100, 101, 300, 801]


@unit_of(__file__).entry(types.boolean(words_type, types.int64, types.int64))
def reaches(words, move, goal):
    return see_reaches(load(words), move, goal)


def captures(board: chess.Board) -> list[chess.Move]:
    return [move for move in board.legal_moves if board.is_capture(move) or move.promotion]


def bound(board: chess.Board, move: chess.Move) -> int:
    """The highest goal that is reached, by bisection between losing a queen and winning two."""
    words, low, high = position(board.fen()), -20_000, 20_000
    assert reaches(words, packed(board, move), low)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if reaches(words, packed(board, move), middle) else (low, middle)
    return low


@pytest.mark.parametrize("chess960", [False, True])
def test_a_capture_wins_what_swapping_off_wins(chess960):
    seen = 0
    for board in random_boards(51, 15, 120, chess960):
        words = position(board.fen())
        for move in captures(board):
            wins = exchange(board, move)
            for goal in GOALS:
                assert bool(reaches(words, packed(board, move), goal)) == (wins >= goal), (
                    board.fen(),
                    move.uci(),
                    wins,
                    goal,
                )
            seen += 1
    assert seen > 800


def test_a_capture_wins_exactly_what_swapping_off_wins():
    for board in random_boards(52, 4, 100):
        for move in captures(board):
            assert bound(board, move) == exchange(board, move), (board.fen(), move.uci())


def test_swapping_off_is_what_legal_captures_give():
    """Wherever no pin, check or promotion has a say."""
    seen, lost = 0, 0
    for board in random_boards(53, 16, 120):
        for move in captures(board):
            if move.promotion:
                continue
            taken = chess.PAWN if board.is_en_passant(move) else board.piece_type_at(move.to_square)
            board.push(move)
            reply = forced_exchange(board, move.to_square)
            board.pop()
            if reply is None:
                continue
            assert bound(board, move) == VALUES[taken] - reply, (board.fen(), move.uci())
            seen, lost = seen + 1, lost + (VALUES[taken] < reply)
    assert seen > 200
    assert lost > 50


@pytest.mark.parametrize(
    ("fen", "move", "wins"),
    [
        ("4k3/8/8/3p4/8/8/8/3RK3 w - - 0 1", "d1d5", 100),  # nothing protects it
        ("4k3/8/4p3/3p4/8/8/8/3RK3 w - - 0 1", "d1d5", -400),  # a rook for a pawn
        # the rook behind does not make up for it
        (
            "3rk3/3r4/8/3p4/8/8/3R4/3RK3 w - - 0 1",
            "d2d5",
            -400,
        ),
        ("4k3/8/4p3/3q4/8/8/8/3RK3 w - - 0 1", "d1d5", 400),
        ("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1", "e5d6", 100),
        ("3rk3/8/8/3pP3/8/8/8/4K3 w - d6 0 1", "e5d6", 0),
        ("7k/P7/8/8/8/8/8/K7 w - - 0 1", "a7a8q", 800),
        ("1r5k/P7/8/8/8/8/8/K7 w - - 0 1", "a7b8q", 1300),
        ("r6k/1P6/8/8/8/8/8/K7 w - - 0 1", "b7b8q", -100),  # promotes and is taken
        ("r6k/1P6/8/8/8/8/8/K7 w - - 0 1", "b7b8n", -100),
        ("4k3/8/8/8/8/8/3p4/3K4 w - - 0 1", "d1d2", 100),
        ("4k3/8/2b5/3p4/4K3/8/8/8 w - - 0 1", "e4d5", -9900),  # not legal; the king would be taken
    ],
)
def test_known_exchanges(fen, move, wins):
    board, move = chess.Board(fen), chess.Move.from_uci(move)
    assert exchange(board, move) == wins
    assert bound(board, move) == wins
