"""Polyglot books: moves by their weights, against the Zobrist keys of python-chess."""

import random
import re
import struct
from collections import Counter
from pathlib import Path

import chess
import chess.polyglot
import numpy as np
import pytest

from games.chess.game import GAME
from tests.support import refusal
from tuner.play import openings
from tuner.play.openings import Generator

LINES = {  # weights of lines of a book
    "e2e4 e7e5 g1f3 b8c6 f1b5": 3,
    "e2e4 e7e5 g1f3 g8f6 f3e5": 1,
    "e2e4 c7c5 g1f3 d7d6 d2d4": 2,
    "d2d4 d7d5 c2c4 e7e6 b1c3": 4,
    "d2d4 g8f6 c2c4 g7g6 b1c3": 2,
    "c2c4 e7e5": 1,
}
CASTLING = "r3k2r/pppppppp/8/8/8/8/PPPPPPPP/R3K2R w KQkq - 0 1"


def entry(board: chess.Board, move: chess.Move, weight: int) -> bytes:
    """An entry as the format has it: a king castles by taking its rook."""
    target = move.to_square
    if board.is_castling(move):
        target = chess.square(7 if target > move.from_square else 0, chess.square_rank(target))
    raw = target | move.from_square << 6
    return struct.pack(">QHHI", chess.polyglot.zobrist_hash(board), raw, weight, 0)


def write_book(path: Path) -> Path:
    weights: Counter[tuple[str, str]] = Counter()
    for line, weight in LINES.items():
        board = chess.Board()
        for name in line.split():
            weights[board.fen(), name] += weight
            board.push_uci(name)
    weights[CASTLING, "e1g1"] += 1
    weights[CASTLING, "e1c1"] += 0
    found = [
        entry(chess.Board(fen), chess.Move.from_uci(name), weight)
        for (fen, name), weight in weights.items()
    ]
    path.write_bytes(b"".join(sorted(found)))
    return path


@pytest.fixture(scope="module")
def path(tmp_path_factory) -> Path:
    return write_book(tmp_path_factory.mktemp("book") / "book.bin")


def test_moves_are_drawn_by_their_weights(path):
    moves, dice = GAME.files.book(str(path)), random.Random(1)
    drawn = Counter(GAME.move_name(GAME.start(), moves(GAME.start(), dice)) for _ in range(6500))
    assert set(drawn) == {"e2e4", "d2d4", "c2c4"}
    for name, weight in (("e2e4", 6), ("d2d4", 6), ("c2c4", 1)):
        assert drawn[name] == pytest.approx(500 * weight, abs=5 * np.sqrt(500 * weight))
    castling = GAME.position(CASTLING)
    assert {GAME.move_name(castling, moves(castling, dice)) for _ in range(50)} == {"e1g1"}
    assert moves(GAME.position("8/8/8/8/8/8/k7/7K w - - 0 1"), dice) is None


@pytest.mark.long
def test_openings_are_lines_of_the_book_each_once_and_the_same_for_a_seed(path):
    notes: list[str] = []

    def made(seed: int) -> Generator:
        moves = GAME.files.book(str(path))
        return Generator(GAME, 5, seed, None, notes.append, moves, "book.bin")

    def lines(generator: Generator) -> list[str]:
        found = []
        for pair in range(5):
            line = chess.Board()
            words = generator.opening(pair).start
            for move in generator.opening(pair).moves:
                line.push_uci(GAME.move_name(words, move))
                words = GAME.play(words, move)
            found.append(" ".join(move.uci() for move in line.move_stack))
        return found

    assert sorted(lines(made(1))) == sorted(line for line in LINES if len(line.split()) == 5)
    assert notes == []
    assert lines(made(1)) == lines(made(1)) and lines(made(1)) != lines(made(4))
    known = made(1)
    known.known({pair: made(1).opening(pair).place for pair in range(3)})
    assert lines(known) == lines(made(1))
    made(1).opening(5)
    assert notes == ["there are only 5 openings of 5 plies of book.bin: they are repeated"]


def test_a_book_without_lines_so_long_and_other_files_are_refused(path, tmp_path, monkeypatch):
    monkeypatch.setattr(openings, "HOPELESS_BOOK", 200)
    moves = GAME.files.book(str(path))
    assert re.search(
        "no line of 6 plies of book.bin in .* --book-plies",
        refusal(Generator(GAME, 6, 1, None, print, moves, "book.bin").opening, 0),
    )
    assert GAME.files.book("book.pgn") is None
    for content in (b"", b"dear reader", b"\xff" * 16 + b"\0" * 16):
        (tmp_path / "other.bin").write_bytes(content)
        assert "other.bin: not a Polyglot book" in refusal(
            GAME.files.book, str(tmp_path / "other.bin")
        )
    assert "nowhere.bin: cannot be read: No such file" in refusal(
        GAME.files.book, str(tmp_path / "nowhere.bin")
    )
