"""Moves, checks, keys and results of chess against python-chess."""

import random

import chess
import numpy as np
import pytest
from numba.core import types

from games.chess.files.fen import fen, position
from games.chess.game import after, is_dead, moves_of, result
from games.chess.rules.movegen import MAX_MOVES, aims_of, gives_check, in_check, legal_moves
from games.chess.rules.position import load, words_type
from games.record import find
from tests.games.support import legal, packed, random_boards, random_lines, unit_of

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
        wanted = sorted(
            packed(board, m) for m in board.legal_moves if board.is_capture(m) or m.promotion
        )
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
    """All ten words: pieces, state and the Zobrist key, which playing updates and the FEN computes
    from nothing."""
    for start, line in random_lines(5, 25, 120, chess960):
        board, words = start.copy(), position(start.fen())
        for move in line:
            words = after(words, packed(board, move))
            board.push(move)
            for style in (
                "legal",
                "fen",
            ):  # an en passant square without a legal capture is dropped
                assert np.array_equal(words, position(board.fen(en_passant=style))), board.fen(
                    en_passant=style
                )


def wandering_line(seed: int, plies: int) -> list[chess.Board]:
    """Positions of a random game of few pieces, in which positions recur."""
    rng = random.Random(seed)
    board = chess.Board("r3k2r/8/8/3pP3/8/8/8/R3K2R w KQkq d6 0 1", chess960=True)
    boards = [board.copy()]
    for _ in range(plies):
        moves = list(board.legal_moves)
        if not moves:
            break
        back = [
            m
            for m in moves
            if len(boards) > 2 and board.move_stack[-2] == chess.Move(m.to_square, m.from_square)
        ]
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
                assert (ours[i] == ours[j]) == (theirs[i] == theirs[j]), (
                    boards[i].fen(),
                    boards[j].fen(),
                )
                repeated += theirs[i] == theirs[j]
    assert repeated > 100


def test_insufficient_material_is_what_python_chess_says():
    rng, seen = random.Random(6), {False: 0, True: 0}
    for _ in range(3000):
        board = chess.Board(None)
        squares = rng.sample(range(64), 5)
        board.set_piece_at(squares[0], chess.Piece(chess.KING, chess.WHITE))
        board.set_piece_at(squares[1], chess.Piece(chess.KING, chess.BLACK))
        for square in squares[2 : 2 + rng.randrange(4)]:
            kind = rng.choice(
                [
                    chess.BISHOP,
                    chess.BISHOP,
                    chess.KNIGHT,
                    chess.KNIGHT,
                    chess.ROOK,
                    chess.QUEEN,
                    chess.PAWN,
                ]
            )
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


@pytest.mark.parametrize(
    ("start", "moves", "expected"),
    [
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
        (
            "4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1",
            ["Ra2", "Kd8", "Ra1", "Ke8", "Ra2", "Kd8", "Ra1", "Ke8"],
            None,
        ),
    ],
)
def test_results_are_mate_stalemate_dead_positions_repetition_and_fifty_moves(
    start, moves, expected
):
    line, board = line_of(start, *moves)
    assert result(line) == expected
    theirs = board.outcome(claim_draw=False)
    over = theirs is not None or board.is_repetition(3) or board.halfmove_clock >= 100
    assert (expected is not None) == over


GAME = find("chess")
LONG_STARTS = [
    "4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1",
    "4k3/8/8/2b5/8/8/8/4K1N1 w - - 90 1",
    "4k3/p7/8/8/8/8/P7/4K3 w - - 0 1",
    "8/8/4k3/8/8/3K4/1Q6/8 w - - 95 80",
    "2b1k3/8/8/8/8/8/8/4KB2 w - - 0 1",
    chess.STARTING_FEN,
]


def expected(board: chess.Board) -> int | None:
    if board.is_checkmate():
        return -1 if board.turn else 1
    over = (
        board.is_stalemate()
        or board.is_insufficient_material()
        or board.is_repetition(3)
        or board.halfmove_clock >= 100
    )
    return 0 if over else None


@pytest.mark.parametrize("start", LONG_STARTS)
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
            back = (
                chess.Move(board.move_stack[-2].to_square, board.move_stack[-2].from_square)
                if undo and len(board.move_stack) > 1
                else None
            )
            move = back if back and board.is_legal(back) else dice.choice(list(board.legal_moves))
            line.append(GAME.play(line[-1], GAME.move_named(line[-1], move.uci())))
            board.push(move)


ENDS = [  # discovered checks by castling, en passant, promotions and kings are rare in random games
    "4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1",
    "5k2/8/8/8/8/8/8/4K2R w K - 0 1",
    "3k4/8/8/8/8/8/8/R3K3 w Q - 0 1",
    "8/8/8/1k1pP2R/8/8/8/4K3 w - d6 0 1",
    "8/8/8/R1pP1k2/8/8/8/4K3 w - c6 0 1",
    "1k6/4P3/8/8/8/8/4K3/8 w - - 0 1",
    "4k3/P3P2P/8/8/8/8/8/4K3 w - - 0 1",
    "3rk3/P3P2P/8/8/4R3/8/8/4K3 w - - 0 1",
    "4k3/8/4K3/8/8/8/8/4R3 w - - 0 1",
    "k7/1p6/8/3N4/8/8/6B1/K7 w - - 0 1",
    "k7/8/8/8/N7/8/8/RK6 w - - 0 1",
    "7k/5P2/8/8/8/8/8/K5R1 w - - 0 1",
]


@unit_of(__file__).entry(types.boolean(words_type, types.int64))
def checks(words, move):
    p = load(words)
    return gives_check(p, aims_of(p), move)


def agreeing(board: chess.Board) -> tuple[int, int]:
    """The number of legal moves, and of those among them that give check; all agree with
    python-chess."""
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
