"""Perft: published counts of the six standard positions, and python-chess for Chess960."""

import random
import re

import chess
import pytest

from games.chess.files.fen import position
from games.chess.rules.perft import perft
from games.search.perft import MAX_DEPTH
from tests.games.support import DATA
from tests.support import refusal

POSITIONS = [line.split(" ;") for line in (DATA / "perft.epd").read_text().splitlines()]


def oracle(board: chess.Board, depth: int) -> int:
    if depth == 1:
        return board.legal_moves.count()
    total = 0
    for move in board.legal_moves:
        board.push(move)
        total += oracle(board, depth - 1)
        board.pop()
    return total


@pytest.mark.parametrize(("fen", "counts"), [(fen, counts) for fen, *counts in POSITIONS])
def test_perft_gives_the_published_counts_of_the_standard_positions(fen, counts):
    for entry in counts:
        depth, count = entry[1:].split()
        assert perft(position(fen), int(depth)) == int(count), entry
        if int(count) < 5_000_000:
            assert perft(position(fen), int(depth), bulk=False) == int(count), (
                f"{entry}, not in bulk"
            )


def test_perft_agrees_with_python_chess_on_chess960_starts():
    rng = random.Random(960)
    for number in rng.sample(range(960), 5):
        board = chess.Board.from_chess960_pos(number)
        assert perft(position(board.fen()), 3) == oracle(board, 3), board.fen()


def test_perft_agrees_with_python_chess_where_chess960_kings_can_castle():
    rng = random.Random(961)
    for number in rng.sample(range(960), 5):
        board = chess.Board.from_chess960_pos(number)
        kept = chess.Board(board.fen(), chess960=True)
        for square in chess.SquareSet(chess.BB_RANK_1 | chess.BB_RANK_8):
            if kept.piece_type_at(square) not in (chess.KING, chess.ROOK) and rng.random() < 0.8:
                kept.remove_piece_at(square)
        assert perft(position(kept.fen()), 3, bulk=False) == oracle(kept, 3), kept.fen()


def test_perft_of_no_moves_is_one_and_an_impossible_depth_is_refused():
    start = position(chess.STARTING_FEN)
    assert perft(start, 0, bulk=False) == 1
    assert "depth -1 is outside" in refusal(perft, start, -1, error=ValueError)
    assert re.search(
        f"depth {MAX_DEPTH} is outside", refusal(perft, start, MAX_DEPTH, error=ValueError)
    )


def test_perft_of_no_moves_in_bulk_is_one():
    assert perft(position(chess.STARTING_FEN), 0) == 1
