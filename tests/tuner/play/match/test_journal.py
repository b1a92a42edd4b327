"""The finished pairs of a match in the store of its folder, and the files of their games."""

import contextlib
import os
import sqlite3

import pytest

from games.streams import InputError
from tests.support import refusal
from tests.tuner.core.support import DATABASE, execute, keep_records, read_records
from tuner.core.store import Store
from tuner.play.match.journal import Journal, PairLine, read_pairs


def line_of(pair: int) -> PairLine:
    return PairLine(0, pair, (1, 0), (3, 4), ("rules", "rules"), ("", "ü"))


@contextlib.contextmanager
def opened(folder, *limits):
    with Store(folder) as store:
        journal = Journal(store, [folder / "games.pgn"], *limits)
        yield journal
        journal.close()


def fill(folder, pairs, text: bool = True) -> None:
    with opened(folder) as journal:
        for pair in pairs:
            texts = [f"game {pair}.1\n", f"game {pair}.2 ü\n"] if text else []
            journal.append(line_of(pair), texts)


def text_of(pairs) -> str:
    return "".join(f"game {pair}.1\ngame {pair}.2 ü\n" for pair in pairs)


@pytest.mark.parametrize("text", [True, False])
def test_what_was_appended_is_read(tmp_path, text):
    fill(tmp_path, (1, 0), text)
    fill(tmp_path, (4, 3), text)
    assert read_pairs(tmp_path, 1) == [line_of(pair) for pair in (1, 0, 4, 3)]
    assert (tmp_path / "games.pgn").read_text() == (text_of((1, 0, 4, 3)) if text else "")
    assert sorted(os.listdir(tmp_path)) == ["games.pgn", "lock", DATABASE]


def test_names_that_are_no_utf_8_are_written_with_marks(tmp_path):
    for _ in range(2):
        with opened(tmp_path) as journal:
            journal.append(line_of(len(journal.lines)), ["a\udcff\n", "b\n"])
    assert (tmp_path / "games.pgn").read_text() == "a?\nb\na?\nb\n"


def test_files_of_games_are_made_again_from_the_store(tmp_path):
    fill(tmp_path, range(3))
    for content in ("", "game 0.1\ngame 0.2 ü\nga", text_of(range(9)), None):
        (tmp_path / "games.pgn").unlink()
        if content is not None:
            (tmp_path / "games.pgn").write_text(content)
        keep_records(tmp_path, 2)
        fill(tmp_path, [2])
        assert (tmp_path / "games.pgn").read_text() == text_of(range(3))


def dump(folder) -> list[str]:
    with contextlib.closing(sqlite3.connect(folder / DATABASE)) as database:
        return list(database.iterdump())


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("UPDATE records SET json = '{}' WHERE number = 1", "result 1: damaged, lacks 'leg'"),
        ("UPDATE records SET json = 'x' WHERE number = 2", "result 2: damaged, not JSON"),
        (
            "UPDATE records SET json = '[1]' WHERE number = 2",
            "result 2: damaged, not a JSON object",
        ),
        (
            "DELETE FROM records WHERE number = 0",
            "result 1: damaged, records before it are missing",
        ),
        ("UPDATE records SET json = (SELECT json FROM records)", "damaged, pair 0 is there twice"),
        (
            "UPDATE records SET json = replace(json, '\"pair\":2', '\"pair\":8')",
            "result 2: damaged, pair 8 of leg 0 is not part of this match",
        ),
        (
            "UPDATE records SET json = replace(json, '\"leg\":0', '\"leg\":7')",
            "result 0: damaged, pair 0 of leg 7 is not part of this match",
        ),
        (
            "UPDATE records SET json = replace(json, '[1,0]', '[2,0]')",
            "outcomes is (2, 0), expected whole numbers from -1 to 1",
        ),
        ("DROP TABLE records", "no such table: records"),
    ],
)
def test_damage_is_one_line_and_changes_nothing(tmp_path, change, said):
    fill(tmp_path, range(4))
    execute(tmp_path, change)
    before = dump(tmp_path)
    for _ in range(2):
        with pytest.raises(InputError) as problem, opened(tmp_path, 1, 4):
            pass
        text = str(problem.value)
        assert text.startswith(str(tmp_path / DATABASE)) and said in text and "\n" not in text
    assert dump(tmp_path) == before


def test_two_processes_do_not_play_one_match(tmp_path):
    with opened(tmp_path) as journal:
        assert "another process is using this folder" in refusal(Store, tmp_path)
        journal.append(line_of(0), [])
        assert len(read_records(tmp_path)) == 1  # readers are not in the way
    fill(tmp_path, [1])


def test_a_file_that_cannot_be_written_is_one_line(tmp_path):
    fill(tmp_path, range(2))
    with (
        Store(tmp_path) as store,
        pytest.raises(InputError, match=r"out\.pgn: cannot be written: No such file"),
    ):
        Journal(store, [tmp_path / "nowhere" / "out.pgn"])
    fill(tmp_path, [2])
    (tmp_path / DATABASE).unlink()
    (tmp_path / DATABASE).mkdir()
    assert "run.db: cannot be used: unable to open" in refusal(Store, tmp_path)
