"""The folder of a match: whatever byte a kill left it at, what was whole counts, once, and the rest is cut off."""

from __future__ import annotations

import json
import random

import pytest

from games.streams import InputError
from tuner.match.journal import Journal
from tuner.runs import HISTORY


def fill(folder, pairs: range, text: bool = True) -> None:
    journal = Journal(folder, "games.pgn")
    for pair in pairs:
        journal.append({"leg": 0, "pair": pair, "outcomes": [1, 0]}, [f"game {pair}.1\n", f"game {pair}.2 ü\n"] if text else [])
    journal.close()


def read(folder) -> list[dict]:
    journal = Journal(folder, "games.pgn")
    journal.close()
    return journal.lines


@pytest.mark.parametrize("text", [True, False])
def test_what_was_appended_is_read(tmp_path, text):
    fill(tmp_path, range(3), text)
    fill(tmp_path, range(3, 5), text)
    assert [line["pair"] for line in read(tmp_path)] == [0, 1, 2, 3, 4]


def test_a_cut_at_any_byte_loses_what_was_not_whole_and_nothing_else(tmp_path):
    fill(tmp_path, range(4))
    history, games = (tmp_path / HISTORY).read_bytes(), (tmp_path / "games.pgn").read_bytes()
    dice = random.Random(1)
    for cut in range(len(history) + 1):
        (tmp_path / HISTORY).write_bytes(history[:cut])
        whole = history[:cut].count(b"\n")
        # a kill comes after a pair's games and before its line, or within either; games of later pairs cannot be there
        end = sum(sum(json.loads(line)["bytes"]) for line in history.splitlines()[:whole])
        following = sum(json.loads(history.splitlines()[whole])["bytes"]) if whole < 4 else 0
        (tmp_path / "games.pgn").write_bytes(games[:end + (following if cut > history[:cut].rfind(b"\n") + 1
                                                           else dice.randint(0, following))])
        assert [line["pair"] for line in read(tmp_path)] == list(range(whole))
        assert (tmp_path / "games.pgn").read_bytes() == games[:end]
        fill(tmp_path, range(whole, 4))
        assert (tmp_path / HISTORY).read_bytes() == history and (tmp_path / "games.pgn").read_bytes() == games


def test_lines_whose_games_were_lost_do_not_count(tmp_path):
    fill(tmp_path, range(4))
    games = (tmp_path / "games.pgn").read_bytes()
    (tmp_path / "games.pgn").write_bytes(games[:30])
    assert [line["pair"] for line in read(tmp_path)] == [0]
    fill(tmp_path, range(1, 4))
    assert (tmp_path / "games.pgn").read_bytes() == games


def test_damage_that_no_kill_makes_is_an_error(tmp_path):
    fill(tmp_path, range(3))
    path = tmp_path / HISTORY
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] + b"{...\n" + lines[2])
    with pytest.raises(InputError, match=f"{HISTORY}:2: damaged"):
        Journal(tmp_path, "games.pgn")
    path.write_bytes(lines[0] + lines[1] + lines[1])
    with pytest.raises(InputError, match=f"{HISTORY}:3: pair 1 stands twice"):
        Journal(tmp_path, "games.pgn")


def test_two_processes_do_not_play_one_match(tmp_path):
    journal = Journal(tmp_path, "games.pgn")
    with pytest.raises(InputError, match="another process works here"):
        Journal(tmp_path, "games.pgn")
    journal.close()
    read(tmp_path)


def test_games_are_copied_in_the_order_wanted(tmp_path):
    fill(tmp_path, range(3))
    journal = Journal(tmp_path, "games.pgn")
    places = [(line["at"], line["bytes"]) for line in journal.lines]
    journal.copy_games(iter([places[2], places[0]]), tmp_path / "out.pgn")
    assert (tmp_path / "out.pgn").read_text() == "game 2.1\ngame 2.2 ü\ngame 0.1\ngame 0.2 ü\n"
    with pytest.raises(InputError, match="cannot be written"):
        journal.copy_games(iter(places), tmp_path / "nowhere" / "out.pgn")
    journal.close()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["games.pgn", HISTORY, "lock", "out.pgn"]
