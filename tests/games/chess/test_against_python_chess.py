"""The rules against python-chess: random games from the initial position and from Chess960 starts."""

from __future__ import annotations

import random

import chess
import numpy as np
import pytest

from games.chess.fen import fen, position
from games.chess.game import after, is_dead, moves_of, result
from games.chess.movegen import MAX_MOVES, in_check, legal_moves
from tests.games.support import legal, packed, random_boards, random_lines

STARTS = pytest.mark.parametrize("chess960", [False, True])


@STARTS
def test_legal_moves_are_those_of_python_chess(chess960):
    for board in random_boards(1, 30, 120, chess960):
        assert sorted(moves_of(position(board.fen()))) == legal(board), board.fen()


@STARTS
def test_noisy_moves_are_the_legal_captures_and_promotions(chess960):
    room = np.empty(MAX_MOVES, np.uint32)
    for board in random_boards(2, 15, 120, chess960):
        n = legal_moves(position(board.fen()), True, room)
        wanted = sorted(packed(board, m) for m in board.legal_moves if board.is_capture(m) or m.promotion)
        assert sorted(int(m) for m in room[:n]) == wanted, board.fen()


@STARTS
def test_check_is_seen_when_python_chess_sees_it(chess960):
    boards = list(random_boards(3, 20, 100, chess960))
    assert sum(board.is_check() for board in random_boards(3, 20, 100, chess960)) > 20
    assert boards
    for board in random_boards(3, 20, 100, chess960):
        assert bool(in_check(position(board.fen()))) == board.is_check(), board.fen()


@STARTS
def test_fen_comes_back_as_it_went_in(chess960):
    for board in random_boards(4, 15, 120, chess960):
        assert fen(position(board.fen())) == board.fen()


@STARTS
def test_playing_a_move_gives_the_words_that_its_fen_gives(chess960):
    """All ten words: pieces, state and the Zobrist key, which playing updates and the FEN computes from nothing."""
    for start, line in random_lines(5, 25, 120, chess960):
        board, words = start.copy(), position(start.fen())
        for move in line:
            words = after(words, packed(board, move))
            board.push(move)
            for style in ("legal", "fen"):  # an en passant square without a legal capture is dropped
                assert np.array_equal(words, position(board.fen(en_passant=style))), board.fen(en_passant=style)


def wandering_line(seed: int, plies: int) -> list[chess.Board]:
    """Positions of a random game of few pieces, in which positions recur."""
    rng = random.Random(seed)
    board = chess.Board("r3k2r/8/8/3pP3/8/8/8/R3K2R w KQkq d6 0 1", chess960=True)
    boards = [board.copy()]
    for _ in range(plies):
        moves = list(board.legal_moves)
        if not moves:
            break
        back = [m for m in moves if len(boards) > 2 and board.move_stack[-2] == chess.Move(m.to_square, m.from_square)]
        board.push(rng.choice(back) if back and rng.random() < 0.6 else rng.choice(moves))
        boards.append(board.copy())
    return boards


def test_keys_are_equal_exactly_when_positions_repeat():
    repeated = 0
    for seed in range(12):
        boards = wandering_line(seed, 80)
        ours = [int(position(board.fen())[9]) for board in boards]
        theirs = [board._transposition_key() for board in boards]
        for i in range(len(boards)):
            for j in range(i):
                assert (ours[i] == ours[j]) == (theirs[i] == theirs[j]), (boards[i].fen(), boards[j].fen())
                repeated += theirs[i] == theirs[j]
    assert repeated > 100


def test_insufficient_material_is_what_python_chess_says():
    rng, seen = random.Random(6), {False: 0, True: 0}
    for _ in range(3000):
        board = chess.Board(None)
        squares = rng.sample(range(64), 5)
        board.set_piece_at(squares[0], chess.Piece(chess.KING, chess.WHITE))
        board.set_piece_at(squares[1], chess.Piece(chess.KING, chess.BLACK))
        for square in squares[2:2 + rng.randrange(4)]:
            kind = rng.choice([chess.BISHOP, chess.BISHOP, chess.KNIGHT, chess.KNIGHT, chess.ROOK, chess.QUEEN, chess.PAWN])
            if kind != chess.PAWN or 8 <= square < 56:
                board.set_piece_at(square, chess.Piece(kind, rng.random() < 0.5))
        if not board.is_valid():
            continue
        wanted = board.is_insufficient_material()
        seen[wanted] += 1
        assert is_dead(position(board.fen())) == wanted, board.fen()
    assert min(seen.values()) > 200


def line_of(start: str, *moves: str) -> tuple[list[np.ndarray], chess.Board]:
    """Positions of a line and the last board."""
    board = chess.Board(start, chess960=True)
    line = [position(board.fen())]
    for san in moves:
        move = board.parse_san(san)
        line.append(after(line[-1], packed(board, move)))
        board.push(move)
    return line, board


SHUFFLE = ["Nf3", "Nf6", "Ng1", "Ng8"]


@pytest.mark.parametrize(("start", "moves", "expected"), [
    (chess.STARTING_FEN, [], None),
    (chess.STARTING_FEN, ["f3", "e5", "g4", "Qh4#"], -1),
    (chess.STARTING_FEN, ["e4", "e5", "Bc4", "Nc6", "Qh5", "Nf6", "Qxf7#"], 1),
    ("7k/8/6K1/8/8/8/8/5Q2 w - - 0 1", ["Qf7"], 0),
    (chess.STARTING_FEN, SHUFFLE, None),
    (chess.STARTING_FEN, SHUFFLE * 2, 0),
    (chess.STARTING_FEN, ["e4", "e5", *SHUFFLE], None),
    (chess.STARTING_FEN, ["e4", "e5", *SHUFFLE, *SHUFFLE], 0),
    ("4k3/8/8/8/8/8/8/R3K3 w - - 98 80", ["Ra2"], None),
    ("4k3/8/8/8/8/8/8/R3K3 w - - 98 80", ["Ra2", "Kd8"], 0),
    ("7k/8/6K1/8/8/8/8/R7 w - - 99 80", ["Ra8#"], 1),  # mate goes before the fifty-move rule
    ("4k3/8/8/8/8/8/4r3/4K3 w - - 0 1", ["Kxe2"], 0),
    ("4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1", ["Ra2", "Kd8", "Ra1", "Ke8", "Ra2", "Kd8", "Ra1", "Ke8"], None),
])
def test_results_are_mate_stalemate_dead_positions_repetition_and_fifty_moves(start, moves, expected):
    line, board = line_of(start, *moves)
    assert result(line) == expected
    theirs = board.outcome(claim_draw=False)
    over = theirs is not None or board.is_repetition(3) or board.halfmove_clock >= 100
    assert (expected is not None) == over


def test_results_of_random_games_are_those_of_python_chess():
    seen = set()
    for seed in range(40):
        boards = wandering_line(seed, 150)
        line = []
        for board in boards:
            line.append(position(board.fen()))
            if board.is_checkmate():
                wanted = -1 if board.turn else 1
            elif (board.is_stalemate() or board.is_insufficient_material() or board.is_repetition(3)
                  or board.halfmove_clock >= 100):
                wanted = 0
            else:
                wanted = None
            assert result(line) == wanted, board.fen()
            seen.add(wanted)
            if wanted is not None:
                break
    assert {None, 0} <= seen
