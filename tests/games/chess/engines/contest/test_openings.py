"""Openings from files: content and order; bad lines and games are reported and skipped."""

import bz2
import gzip
import os
import zipfile

import chess
import pytest
import zstandard

from games.chess.engines.openings import read
from games.chess.files.fen import fen
from games.record import find
from games.streams import InputError
from tests.support import file_with, refusal

LINES = [
    "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1",
    '8/8/8/8/4k3/8/4P3/4K3 w - - hmvc 0; id "x";',
    "r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 3 17",
]
GAMES = """[Event "a"]
[Result "*"]

1. e4 {best} e5 2. Nf3 *

[Event "b"]
[Result "*"]
[FEN "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"]
[SetUp "1"]

1. e4 *

[Event "c"]
[Result "1-0"]

1. e4 Ke4 1-0

[Event "d"]

1. d4 d5
"""


def zipped(path, text: bytes) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("folder/", b"")
        archive.writestr("folder/book", text)


PACK = {
    "": lambda path, text: path.write_bytes(text),
    ".gz": lambda path, text: path.write_bytes(gzip.compress(text)),
    ".bz2": lambda path, text: path.write_bytes(bz2.compress(text)),
    ".zst": lambda path, text: path.write_bytes(zstandard.compress(text)),
    ".zip": zipped,
}


@pytest.mark.parametrize("suffix", PACK)
@pytest.mark.parametrize("kind", [".epd", ".pgn"])
def test_openings_are_read_from_every_kind_of_file(tmp_path, kind, suffix):
    path, notes = tmp_path / f"book{kind}{suffix}", []
    PACK[suffix](path, ("\n".join(LINES) if kind == ".epd" else GAMES).encode())
    found = read(str(path), notes.append)
    assert len(found) == 3
    if kind == ".epd":
        assert [fen(found[i][0]).split()[0] for i in range(3)] == [
            line.split()[0] for line in LINES
        ]
        assert all(found[i][1] == [] for i in range(3))
        assert notes == []
    else:
        move_name = find("chess").move_name
        assert [[move_name(found[i][0], m) for m in found[i][1][:1]] for i in range(3)] == [
            ["e2e4"],
            ["e2e4"],
            ["d2d4"],
        ]
        assert [len(found[i][1]) for i in range(3)] == [3, 1, 2]
        assert fen(found[1][0]).startswith("4k3/8")
        assert notes == [f"{path}: game 3: illegal move 'Ke4' at ply 2; game skipped"]


def test_bad_lines_are_reported_and_skipped(tmp_path):
    path, notes = tmp_path / "book.epd", []
    mated = "rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq -"
    path.write_text("\n".join(["# a book", "", "nonsense", mated, LINES[0], *["8/8 w"] * 9]))
    assert len(read(str(path), notes.append)) == 1
    assert len(notes) == 6
    assert (
        notes[0].startswith(f"{path}: line 3: ")
        and "no legal move" in notes[1]
        and notes[-1].endswith("6 more skipped")
    )


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.epd", b""),
        ("a.epd", b"hello\n"),
        ("a.pgn", b""),
        ("a.pgn", b"hello"),
        ("a.pgn.zip", b"PK\x03\x04rest"),
    ],
)
def test_a_file_without_openings_is_an_error_of_one_line(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    said = refusal(read, str(tmp_path / name), lambda text: None)
    assert name in said


@pytest.mark.parametrize("text", ["\n".join(LINES), GAMES], ids=["lines", "games"])
def test_a_pipe_and_a_file_without_a_suffix_are_read_by_their_first_lines(tmp_path, text):
    (tmp_path / "book").write_text(text)
    assert len(read(str(tmp_path / "book"), lambda text: None)) == 3
    reading, writing = os.pipe()
    os.write(writing, text.encode())
    os.close(writing)
    assert len(read(f"/dev/fd/{reading}", lambda text: None)) == 3
    os.close(reading)


@pytest.mark.long
@pytest.mark.parametrize(
    "line", [b"\n", b"#\n", b"x\n", b"x" * (1 << 20)], ids=["empty", "comments", "words", "no end"]
)
def test_a_file_without_openings_is_given_up_early(tmp_path, line):
    """A kilobyte of Zstandard may hold gigabytes."""
    packed = zstandard.ZstdCompressor().compressobj()
    block = line * ((1 << 22) // len(line))
    (tmp_path / "book.epd.zst").write_bytes(
        b"".join(packed.compress(block) for _ in range(400)) + packed.flush()
    )
    with pytest.raises(InputError, match="book.epd.zst: ") as problem:
        read(str(tmp_path / "book.epd.zst"), lambda text: None)
    assert "\n" not in str(problem.value)


def test_damaged_zip_archives_are_errors(tmp_path):
    path = tmp_path / "book.pgn.zip"
    zipped(path, GAMES.encode() * 50)
    whole = path.read_bytes()
    for damaged in (whole[:-30], whole[:100] + b"\x55\xaa\x55\xaa" + whole[104:]):
        path.write_bytes(damaged)
        assert "corrupt zip archive" in refusal(read, str(path), lambda text: None)


def test_the_games_of_openings_are_legal_for_python_chess(tmp_path):
    (tmp_path / "b.pgn").write_text(GAMES)
    found = read(str(tmp_path / "b.pgn"), lambda text: None)
    game = find("chess")
    for i in range(len(found)):
        start, moves = found[i]
        board, words = chess.Board(fen(start)), start
        for move in moves:
            board.push_uci(game.move_name(words, move))
            words = game.play(words, move)
        assert fen(words).split()[0] == board.board_fen()


OVER = [
    ('[FEN "7k/8/5KQ1/8/8/8/8/8 w - - 0 1"]\n\n1. Qf7 *', "no legal move"),
    ("1. f3 e5 2. g4 Qh4# 0-1", "no legal move"),
    ('[FEN "4k3/8/8/8/8/8/3p4/4K3 w - - 0 1"]\n\n1. Kxd2 1/2-1/2', "insufficient material"),
    ('[FEN "4k3/8/8/8/8/8/3P4/4K3 w - - 99 80"]\n\n1. Ke2 *', "the fifty-move rule"),
    ("1. Nf3 Nf6 2. Ng1 Ng8 3. Nf3 Nf6 4. Ng1 Ng8 *", "repetition"),
]


@pytest.mark.parametrize(("text", "why"), OVER)
def test_games_that_are_over_are_no_openings(text, why, tmp_path):
    path = file_with(tmp_path / "book.pgn", f'[Event "a"]\n{text}\n\n[Event "b"]\n\n1. e4 *\n')
    notes: list[str] = []
    assert len(read(str(path), notes.append)) == 1
    assert len(notes) == 1 and why in notes[0] and "game 1: the opening ends the game" in notes[0]


def test_positions_that_are_over_are_no_openings(tmp_path):
    path = tmp_path / "book.epd"
    over = [
        "7k/5Q2/5K2/8/8/8/8/8 b - -",
        "4k3/8/8/8/8/8/8/4K3 w - -",
        "4k3/8/8/8/8/8/3P4/4K3 w - - hmvc 100;",
    ]
    path.write_text("\n".join([*over, LINES[0]]))
    notes: list[str] = []
    assert len(read(str(path), notes.append)) == 1
    assert len(notes) == 3


def test_games_of_a_fen_alone_are_openings_each(tmp_path):
    path = file_with(
        tmp_path / "book.pgn",
        "\n\n".join(f'[FEN "{line}"]' for line in (LINES[0], LINES[2])) + "\n",
    )
    found = read(str(path), print)
    assert [fen(found[i][0]) for i in range(len(found))] == [LINES[0], LINES[2]]
