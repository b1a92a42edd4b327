"""Files are detected by their content, whatever their name; nothing is lost by reading ahead."""

import bz2
import gzip
import io
import os
import threading
import zipfile

import pytest
import zstandard

from games.chess.files import content
from games.chess.game import GAME, of_games
from tests.games.support import read
from tests.support import file_with

BOARD = "r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 2 3"
LABELLED = {
    "brackets": f"{BOARD} [1.0]\n",
    "an operation": f'{BOARD} c9 "1-0";\n',
    "bars": f"{BOARD} | 35 | 1.0\n",
    "a header": f"fen,result\n{BOARD},1.0\n",
    "a remark": f"# positions\n\n{BOARD} [1.0]\n",
    "a mark": f"\ufeff{BOARD} [1.0]\n",
}
GAMES = {
    "tags": '[Event "?"]\n\n1. e4 e5 1-0\n',
    "no tags": "1. e4 e5 1-0\n",
    "a comment": "; by hand\n1. e4 e5 1-0\n",
    "a tag with a position": f'[FEN "{BOARD}"]\n\n3. Bb5 1-0\n',
    "a mark": '\ufeff[Event "?"]\n\n1. e4 e5 1-0\n',
    "words": 'my games\n\n[Event "?"]\n\n1. e4 e5 1-0\n',
}
NAMES = ["a.epd", "a.FEN", "a.pgn", "a.book", "a.txt", "a.csv", "a"]


def zipped(data: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("a", data)
    return packed.getvalue()


COMPRESS = {
    "": bytes,
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".zst": zstandard.compress,
    ".zip": zipped,
}


@pytest.mark.parametrize("suffix", COMPRESS)
@pytest.mark.parametrize("name", NAMES)
def test_labelled_positions_are_read_whatever_the_file_is_called(name, suffix, tmp_path):
    for text in LABELLED.values():
        path = file_with(tmp_path / (name + suffix), COMPRESS[suffix](text.encode()))
        _, report, notes = read(path)
        assert (report.positions, report.bad, notes) == (1, 0, []), text
        assert report.bytes == len(text.encode()) - (
            3 if suffix == ".zip" and text[0] == "\ufeff" else 0
        )
        assert not of_games(str(path))


@pytest.mark.parametrize("name", NAMES)
def test_games_are_read_whatever_the_file_is_called(name, tmp_path):
    for what, text in GAMES.items():
        if by_name_only(what) and not name.endswith(".pgn"):
            continue
        path = file_with(tmp_path / name, text)
        _, report, notes = read(path)
        assert (report.used, report.bad) == (1, int(what == "words")), text
        assert of_games(str(path))


def by_name_only(what: str) -> bool:
    return what in ("no tags", "a comment")


def test_games_without_tags_are_games_unless_the_name_says_otherwise(tmp_path):
    for name, games in (("a.txt", True), ("a", True), ("a.epd", False)):
        (tmp_path / name).write_text(GAMES["no tags"])
        assert of_games(str(tmp_path / name)) == games


@pytest.mark.parametrize(
    ("text", "positions"),
    [(LABELLED["brackets"] * 3, 3), (LABELLED["a header"], 1), (GAMES["tags"], 3)],
)
def test_standard_input_is_read_once(text, positions, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    _, report, notes = read("-")
    assert (report.positions, notes) == (positions, [])
    assert of_games("-")


@pytest.mark.parametrize(("text", "positions"), [(LABELLED["brackets"] * 3, 3), (GAMES["tags"], 3)])
def test_a_pipe_is_looked_at_once(text, positions, tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    assert of_games(str(path))  # does not wait for a writer
    writer = threading.Thread(target=path.write_text, args=(text,))
    writer.start()
    _, report, notes = read(path)
    writer.join()
    assert (report.positions, notes) == (positions, [])


def test_in_a_folder_games_are_detected_by_name_or_first_line(tmp_path):
    there = {
        "README.md": f"# Games\n\nof Saturday\n\n    {BOARD} [1.0]\n",
        "params.yaml": "game: chess\nstages: [mg, eg]\n",
        "notes.txt": "1. e4 is best by test\n",
        "settings.json": '{"a": [1]}\n',
        "list.csv": "name,result\na,1.0\n",
        "empty": "",
        "a.md": "[Link](http://example.org)\n",
    }
    wanted = {
        "b.book": LABELLED["brackets"],
        "c.csv": LABELLED["a header"],
        "d": GAMES["tags"],
        "e.pgn": "words",
        "f.epd": "",
        "g.pgn.gz": "damaged",
        "h.PGN": GAMES["no tags"],
    }
    for name, text in (there | wanted).items():
        (tmp_path / name).write_text(text)
    (tmp_path / "i.zst").write_bytes(zstandard.compress(LABELLED["bars"].encode()))
    held = {path.name for path in tmp_path.iterdir() if GAME.files.holds_games(str(path))}
    assert held == {*wanted, "i.zst"}


def test_an_unreadable_file_is_detected_by_its_name(tmp_path):
    for name, kind in (
        ("a.epd.gz", content.POSITIONS),
        ("a.pgn.gz", content.GAMES),
        ("a.gz", content.GAMES),
    ):
        (tmp_path / name).write_bytes(b"no archive")
        assert content.of_file(str(tmp_path / name)) == kind
        assert content.of_file(str(tmp_path / "nowhere" / name)) == kind
