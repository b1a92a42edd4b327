"""The folder of a match: whatever byte a kill left it at, what was whole counts, once, and the rest
is cut off."""

import json
import random
import re
import zlib

import pytest

from games.streams import InputError
from tuner.io.run_folder import HISTORY
from tuner.play.match.journal import Journal, PairLine


def line_of(pair: int) -> PairLine:
    return PairLine(0, pair, (1, 0), (3, 4), ("rules", "rules"), ("", "ü"))


def fill(folder, pairs: range, text: bool = True) -> None:
    journal = Journal(folder, "games.pgn", pytest.fail)
    for pair in pairs:
        journal.append(line_of(pair), [f"game {pair}.1\n", f"game {pair}.2 ü\n"] if text else [])
    journal.close()


def read(folder, note=pytest.fail, **limits) -> list[PairLine]:
    journal = Journal(folder, "games.pgn", note, **limits)
    journal.close()
    return journal.lines


def named(folder, pattern: str) -> list[str]:
    return sorted(path.name for path in folder.glob(pattern))


@pytest.mark.parametrize("text", [True, False])
def test_what_was_appended_is_read(tmp_path, text):
    fill(tmp_path, range(3), text)
    fill(tmp_path, range(3, 5), text)
    assert [line.pair for line in read(tmp_path)] == [0, 1, 2, 3, 4]


def test_a_cut_at_any_byte_loses_what_was_not_whole_and_nothing_else(tmp_path):
    fill(tmp_path, range(4))
    history, games = (tmp_path / HISTORY).read_bytes(), (tmp_path / "games.pgn").read_bytes()
    dice = random.Random(1)
    for cut in range(len(history) + 1):
        (tmp_path / HISTORY).write_bytes(history[:cut])
        whole = history[:cut].count(b"\n")
        # a kill comes after a pair's games and before its line, or within either; games of later
        # pairs cannot be there
        end = sum(sum(json.loads(line)["bytes"]) for line in history.splitlines()[:whole])
        following = sum(json.loads(history.splitlines()[whole])["bytes"]) if whole < 4 else 0
        (tmp_path / "games.pgn").write_bytes(
            games[
                : end
                + (
                    following
                    if cut > history[:cut].rfind(b"\n") + 1
                    else dice.randint(0, following)
                )
            ]
        )
        assert [line.pair for line in read(tmp_path)] == list(range(whole))
        assert (tmp_path / "games.pgn").read_bytes() == games[:end]
        fill(tmp_path, range(whole, 4))
        assert (tmp_path / HISTORY).read_bytes() == history and (
            tmp_path / "games.pgn"
        ).read_bytes() == games


def test_pairs_whose_games_were_lost_are_told_kept_beside_and_played_again(tmp_path):
    fill(tmp_path, range(4))
    games, history = ((tmp_path / name).read_bytes() for name in ("games.pgn", HISTORY))
    (tmp_path / "games.pgn").write_bytes(games[:30])
    notes = []
    assert [line.pair for line in read(tmp_path, notes.append)] == [0]
    assert (
        len(notes) == 2
        and f"{HISTORY}:2: its games, 21 bytes from 21 on, are incomplete, and 2 more" in notes[1]
    )
    assert (tmp_path / f"{HISTORY}.damaged-1").read_bytes() == history
    assert (tmp_path / "games.pgn.damaged-1").read_bytes() == games[21:30]
    fill(tmp_path, range(1, 4))
    assert (tmp_path / "games.pgn").read_bytes() == games


def test_a_missing_file_of_games_is_an_error_that_says_what_to_do(tmp_path):
    fill(tmp_path, range(3))
    history = (tmp_path / HISTORY).read_bytes()
    (tmp_path / "games.pgn").unlink()
    with pytest.raises(
        InputError, match="games.pgn: is missing, .* put it back, or create it as an empty file"
    ):
        read(tmp_path)
    assert (tmp_path / HISTORY).read_bytes() == history and named(tmp_path, "*.pgn") == []


@pytest.mark.parametrize("missing", [True, False])
def test_games_without_a_history_are_kept_beside(tmp_path, missing):
    """A history that is empty but for a kill in its first pair has lost more than a kill takes."""
    journal = Journal(tmp_path, "games.pgn", pytest.fail)
    for pair in range(9):
        journal.append(line_of(pair), [f"{'x' * 3000}\n"] * 2)
    journal.close()
    games = (tmp_path / "games.pgn").read_bytes()
    (tmp_path / HISTORY).unlink()
    if not missing:
        (tmp_path / HISTORY).touch()
    notes = []
    assert read(tmp_path, notes.append) == []
    assert (
        len(notes) == 1
        and "games.pgn: 54,018 bytes without a complete line in history.jsonl" in notes[0]
    )
    assert (tmp_path / "games.pgn.damaged-1").read_bytes() == games and (
        tmp_path / "games.pgn"
    ).read_bytes() == b""


FIRST = b'{"leg":0,"pair":0,"outcomes":[1,0],"plies":[3,4],"ends":["a","b"]'


def sealed(body: bytes) -> bytes:
    """A line without games, with its checksum."""
    return body + b',"crc":%d}\n' % zlib.crc32(body + b"}")


WRONG = {
    "not a line of JSON": (
        b"{...\n",
        b"\x00" * 99 + b"\n",
        b"\n",
        b"[" * 20000 + b"\n",
        b"\xff\n",
        b"9" * 5000 + b"\n",
    ),
    "not a JSON object": (b"[1]\n", b"null\n", b"1e999\n", b'"leg"\n'),
    "leg is": (
        b'{"leg": "x"}\n',
        FIRST.replace(b'"leg":0', b'"leg":-1') + b"}\n",
        b'{"leg": true}\n',
        FIRST.replace(b'"leg":0', b'"leg":null') + b"}\n",
    ),
    "pair is": (
        FIRST.replace(b'"pair":0', b'"pair":-3') + b"}\n",
        FIRST.replace(b'"pair":0', b'"pair":1e3') + b"}\n",
    ),
    "outcomes is": (
        FIRST.replace(b"[1,0]", b"[2,0]") + b"}\n",
        FIRST.replace(b"[1,0]", b"[0]") + b"}\n",
    ),
    "plies": (
        FIRST.replace(b"[3,4]", b"[-3,4]") + b"}\n",
        FIRST.replace(b"[3,4]", b"null") + b"}\n",
    ),
    "forfeits[0] is": (FIRST + b',"forfeits":["c x",null]}\n',),
    "opening[0] is": (FIRST + b',"opening":[-1,0]}\n',),
    "lacks 'outcomes'": (b'{"leg":0,"pair":0}\n',),
    "lacks bytes": (FIRST + b',"at":0}\n',),
    "at is": (
        FIRST + b',"at":-1,"bytes":[1,2]}\n',
        FIRST + b',"at":' + b"9" * 30 + b',"bytes":[1,2]}\n',
    ),
    "its games": (FIRST + b',"at":0,"bytes":[1,99999999999999]}\n',),
    "is not part of this match": (
        sealed(FIRST.replace(b'"leg":0', b'"leg":7')),
        sealed(FIRST.replace(b'"pair":0', b'"pair":800')),
    ),
    "pair 1 is there twice": (sealed(FIRST.replace(b'"pair":0', b'"pair":1')),),
    "its checksum is wrong": (FIRST + b',"crc":1}\n', FIRST + b',"at":0,"bytes":[1,2],"crc":5}\n'),
}


@pytest.mark.parametrize(
    ("said", "raw"),
    [(said, raw) for said, all_of in WRONG.items() for raw in all_of],
    ids=lambda value: str(value)[:40],
)
def test_damage_that_no_kill_makes_is_told_kept_beside_and_played_again(tmp_path, said, raw):
    fill(tmp_path, range(4))
    path = tmp_path / HISTORY
    lines = path.read_bytes().splitlines(keepends=True)
    for where in (2, 4):  # within and at the end
        notes = []
        path.write_bytes(b"".join([*lines[:where], raw, *lines[where:]]))
        assert [line.pair for line in read(tmp_path, notes.append, legs=1, pairs=5)] == [0, 1, 2, 3]
        assert len(notes) == 1 and f"{HISTORY}:{where + 1}: " in notes[0] and said in notes[0]
        kept = named(tmp_path, f"{HISTORY}.damaged-*")
        assert (tmp_path / kept[-1]).read_bytes() == b"".join([*lines[:where], raw, *lines[where:]])
        assert path.read_bytes() == b"".join(lines)
    assert len(kept) == 2


def test_any_byte_that_changes_is_noticed_or_cut_off_as_torn(tmp_path):
    fill(tmp_path, range(4))
    files = {name: (tmp_path / name).read_bytes() for name in (HISTORY, "games.pgn")}
    wanted, dice = read(tmp_path), random.Random(2)
    for name, content in files.items():
        for place in range(len(content)):
            damaged = bytearray(content)
            damaged[place] ^= 1 << dice.randrange(8)
            for other, whole in files.items():
                (tmp_path / other).write_bytes(damaged if other == name else whole)
            notes: list[str] = []
            lines = read(tmp_path, notes.append)
            assert all(line == wanted[line.pair] for line in lines)
            assert notes or place == len(content) - 1 and len(lines) == 3, place
            for path in tmp_path.glob("*.damaged-*"):
                path.unlink()


def test_lines_without_checksums_are_read(tmp_path):
    """As versions before wrote them."""
    fill(tmp_path, range(3))
    path = tmp_path / HISTORY
    path.write_bytes(re.sub(rb',"crc":\d+', b"", path.read_bytes()))
    assert [line.pair for line in read(tmp_path)] == [0, 1, 2]


def test_a_folder_where_nothing_can_be_kept_is_an_error_of_one_line(tmp_path):
    for name in ("lock", "games.pgn", HISTORY):
        (tmp_path / name).mkdir()
        with pytest.raises(InputError, match="cannot be (used|written): Is a directory"):
            read(tmp_path)
        (tmp_path / name).rmdir()
        (tmp_path / "lock").unlink(missing_ok=True)


def test_two_processes_do_not_play_one_match(tmp_path):
    journal = Journal(tmp_path, "games.pgn", pytest.fail)
    with pytest.raises(InputError, match="another process is using this folder"):
        Journal(tmp_path, "games.pgn", pytest.fail)
    journal.close()
    read(tmp_path)


def test_games_are_copied_in_the_order_wanted(tmp_path):
    fill(tmp_path, range(3))
    journal = Journal(tmp_path, "games.pgn", pytest.fail)
    journal.copy_games([journal.lines[2], journal.lines[0]], tmp_path / "out.pgn")
    assert (tmp_path / "out.pgn").read_text() == "game 2.1\ngame 2.2 ü\ngame 0.1\ngame 0.2 ü\n"
    with pytest.raises(InputError, match="cannot be written"):
        journal.copy_games(journal.lines, tmp_path / "nowhere" / "out.pgn")
    journal.close()
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "games.pgn",
        HISTORY,
        "lock",
        "out.pgn",
    ]


@pytest.mark.parametrize("lost", [0, 2])
def test_a_line_that_was_removed_is_told(tmp_path, lost):
    fill(tmp_path, range(5))
    lines = (tmp_path / HISTORY).read_bytes().splitlines(keepends=True)
    size = sum(json.loads(lines.pop(lost))["bytes"])
    (tmp_path / HISTORY).write_bytes(b"".join(lines))
    notes: list[str] = []
    assert [line.pair for line in read(tmp_path, notes.append)] == [
        pair for pair in range(5) if pair != lost
    ]
    assert notes == [
        f"{tmp_path / HISTORY}: lines are missing: {size} bytes of games.pgn are games of no line;"
        " their pairs are played again"
    ]
