"""viriformat: positions and scores of games that python-chess wrote; damaged files; recognition by
content."""

import gzip
import random
import struct

import chess
import numpy as np
import pytest

from games.chess.files import content
from games.chess.files.fen import position
from games.streams import InputError
from tests.games.chess.viriformat import packed_board, packed_game
from tests.games.support import random_lines, read, rows

# 1. e4 e5 2. Qh5 Ke7 3. Qxe5#, the example of the format's specification
EXAMPLE = bytes.fromhex(
    "ffff00000000ffff16422561000000008888 88889ecaade9 40 00 0100 0000 02 00"
    "0c070a00 34091400 c309e2ff 3c0dff7f 2709ff7f 00000000".replace(" ", "")
)


def written(
    seed: int, games: int, chess960: bool = False
) -> tuple[bytes, list[str], list[int], list[int]]:
    """A file, and its positions before each move and after the last (FEN), their scores (40000 for
    none) and results."""
    rng, data, fens, scores, results = random.Random(seed), b"", [], [], []
    for start, moves in random_lines(seed, games, 90, chess960):
        own = [rng.randint(-3000, 3000) for _ in moves]
        result = rng.choice([1, 0, -1])
        data += packed_game(start, moves, own, result)
        board = start.copy()
        for move in moves:
            fens.append(board.fen(en_passant="legal"))
            board.push(move)
        fens.append(board.fen(en_passant="legal"))
        scores += [*own, 40000]
        results += [result] * (len(moves) + 1)
    return data, fens, scores, results


@pytest.mark.parametrize("chess960", [False, True])
def test_games_are_those_that_python_chess_wrote(chess960, tmp_path):
    data, fens, scores, results = written(7, 60, chess960)
    (tmp_path / "games.vf").write_bytes(data)
    batches, report, notes = read(tmp_path / "games.vf")
    assert (report.games, report.bad, notes) == (60, 0, [])
    assert np.array_equal(rows(batches), np.array([position(fen) for fen in fens]))
    found = np.concatenate([batch.recorded for batch in batches])
    assert np.array_equal(np.where(np.isnan(found), 40000, found), scores)
    assert np.concatenate([batch.outcomes for batch in batches]).tolist() == results


def test_the_example_of_the_specification_is_read(tmp_path):
    (tmp_path / "example.viriformat").write_bytes(EXAMPLE)
    batches, report, _ = read(tmp_path / "example.viriformat")
    assert (report.games, report.positions) == (1, 6)
    found = batches[0].recorded
    assert found[:3].tolist() == [10, 20, -30]
    assert np.isposinf(found[3:5]).all()
    assert np.isnan(found[5])
    assert batches[0].outcomes.tolist() == [1.0] * 6


def test_positions_in_the_middle_of_games_keep_castling_and_en_passant(tmp_path):
    fens = [
        "r3k2r/8/8/8/8/8/8/R3K2R w Kq - 3 20",
        "4k3/8/8/8/Pp6/8/8/4K3 b - a3 0 9",
        "4k3/8/8/2pP4/8/8/8/4K3 w - c6 0 40",
        "4k3/8/8/8/P7/8/8/4K3 b - a3 0 9",
    ]
    for fen in fens:
        board = chess.Board(fen, chess960=True)
        (tmp_path / "a.vf").write_bytes(packed_game(board, [], [], 0))
        assert rows(read(tmp_path / "a.vf")[0]).tolist() == [position(fen).tolist()]


@pytest.mark.parametrize("name", ["games.bin", "games.vf.gz", "games.data.gz"])
def test_a_file_is_recognised_by_its_name_or_its_content(name, tmp_path):
    board = chess.Board()
    board.remove_piece_at(chess.A2)  # the first bytes are those of a byte order mark of UTF-16
    data = packed_game(board, [chess.Move.from_uci("e2e4")], [31], 1)
    assert data.startswith(b"\xff\xfe")
    (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith("gz") else data)
    assert content.of_file(str(tmp_path / name)) == content.PACKED_GAMES
    batches, report, _ = read(tmp_path / name)
    assert (report.games, batches[0].recorded[0]) == (1, 31)


def test_an_occupancy_that_looks_like_the_mark_of_utf8_is_not_skipped(tmp_path):
    board = chess.Board(None)
    for square in chess.SquareSet(0xBFBBEF):
        board.set_piece_at(
            square, chess.Piece(chess.PAWN if 8 <= square < 16 else chess.KNIGHT, chess.WHITE)
        )
    for square in chess.SquareSet(0xBFBBEF):
        if square >= 8 and board.piece_type_at(square) == chess.KNIGHT:
            board.set_piece_at(square, chess.Piece(chess.PAWN, chess.BLACK))
    for square in range(8):
        board.remove_piece_at(square)
    for square, letter in zip((0, 1, 2, 3, 5, 6, 7), "RNBQKNR", strict=True):
        board.set_piece_at(square, chess.Piece.from_symbol(letter))
    board.set_piece_at(chess.E8, chess.Piece.from_symbol("k"))
    data = packed_game(board, [], [], 0)
    assert data.startswith(b"\xef\xbb\xbf")
    (tmp_path / "a.vf").write_bytes(data)
    assert rows(read(tmp_path / "a.vf")[0]).tolist() == [position(board.fen()).tolist()]


def test_extensions_are_skipped(tmp_path):
    extension = bytes(8) + struct.pack("<HH", 7, 5) + b"hello" + bytes(4)
    (tmp_path / "a.vf").write_bytes(extension + EXAMPLE + extension + EXAMPLE)
    assert read(tmp_path / "a.vf")[1].games == 2


BOARD = packed_board(chess.Board(), 1)
FAULTS = {
    "an illegal move": (
        EXAMPLE[:32] + struct.pack("<Hh", 12 | 36 << 6, 0) + EXAMPLE[36:],
        "the move at ply 1 is not legal",
    ),
    "a promotion that is none": (
        EXAMPLE[:32] + struct.pack("<Hh", 12 | 28 << 6 | 3 << 14, 0) + EXAMPLE[36:],
        "at ply 1 is not",
    ),
    "two kings": (
        BOARD[:11] + b"\x55" + BOARD[12:] + bytes(4),
        "the packed board is not a legal position",
    ),
    "a result of 3": (
        BOARD[:30] + b"\x03" + BOARD[31:] + bytes(4),
        "the result of the packed board is not 0, 1 or 2",
    ),
    "the end within a game": (EXAMPLE[:-3], "the file ends within a game"),
    "the end within a board": (EXAMPLE[:20], "the file ends within a game"),
    "text": (b'[Event "?"]\n\n1. e4 e5 1-0\n' * 9, "the file ends within a game"),
    "an open extension": (
        bytes(8) + struct.pack("<HH", 1, 2) + b"ab\1\1\1\1",
        "the packed board is not a legal position",
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_ends_reading_with_one_line(name, tmp_path):
    data, message = FAULTS[name]
    (tmp_path / "a.vf").write_bytes(EXAMPLE + data)
    with pytest.raises(InputError) as found:
        read(tmp_path / "a.vf")
    assert str(found.value).startswith(f"{tmp_path / 'a.vf'}: game 2 (byte ")
    assert message in str(found.value)
    assert "\n" not in str(found.value)


def test_a_mutated_file_is_read_or_refused(tmp_path):
    data, *_ = written(3, 4)
    rng = random.Random(5)
    refused = 0
    for _ in range(300):
        mutated = bytearray(data)
        for _ in range(rng.randint(1, 4)):
            mutated[rng.randrange(len(mutated))] = rng.randrange(256)
        (tmp_path / "a.vf").write_bytes(
            mutated[: rng.randint(1, len(mutated))] if rng.random() < 0.3 else mutated
        )
        try:
            read(tmp_path / "a.vf")
        except InputError as problem:
            refused += "\n" not in str(problem)
    assert refused > 150


def test_a_large_file_is_read_in_windows(tmp_path):
    data, fens, *_ = written(11, 20)
    copies = 1 + (3 << 20) // len(data)
    (tmp_path / "a.vf").write_bytes(data * copies)
    assert read(tmp_path / "a.vf")[1].positions == copies * len(fens)
