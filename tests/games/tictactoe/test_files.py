"""Files of games: accepted and refused content, and the count of each game in the report."""

import gzip
import re

import numpy as np
import pytest
import zstandard

from tests.games.tictactoe.support import random_games, read, texts
from tests.support import file_with, refusal

X_WINS = "1-0 b2 a1 c1 a3 a2 b1 c2"
O_RESIGNS = "1-0 b2 a1"
DRAW = "1/2-1/2 b2 a1 a2 c2 c3 b3 b1 a3 c1"


def written(folder, *lines):
    return file_with(folder / "games.ttt", "\n".join(lines) + "\n")


def test_a_game_is_read_from_its_start_to_its_end(tmp_path):
    (batch,), report, notes = read(written(tmp_path, X_WINS))
    assert len(batch.positions) == 8
    assert texts([batch])[::7] == [".../.../... x", "o../xxx/oox o"]
    assert (batch.outcomes == 1).all()
    assert (report.games, report.used, report.positions, notes) == (1, 1, 8, [])


def test_every_position_of_a_game_has_its_outcome(tmp_path):
    batches, report, _ = read(written(tmp_path, X_WINS, "0-1 b2 a1", DRAW))
    assert [set(batch.outcomes) for batch in batches] == [{1}, {-1}, {0}]
    assert report.positions == 8 + 3 + 10


def test_positions_are_chosen_by_ply(tmp_path):
    path = written(tmp_path, X_WINS)
    every = texts(read(path)[0])
    assert texts(read(path, skip_start=2)[0]) == every[2:]
    assert texts(read(path, skip_end=3)[0]) == every[:-3]
    assert texts(read(path, skip_start=5, skip_end=5)[0]) == []
    assert texts(read(path, skip_start=20, skip_end=20)[0]) == []


def test_auto_leaves_out_the_end_of_a_game_but_not_where_a_player_resigned(tmp_path):
    path = written(tmp_path, X_WINS)
    assert texts(read(path, positions="auto")[0]) == texts(read(path)[0])[:-1]
    assert texts(read(path, positions="auto", skip_end=1)[0]) == texts(read(path)[0])[:-1]
    path = written(tmp_path, O_RESIGNS)
    assert texts(read(path, positions="auto")[0]) == texts(read(path)[0])


def test_a_sample_of_a_game_keeps_its_order_and_depends_on_the_seed_alone(tmp_path):
    path = written(tmp_path, *random_games(1, 50))
    games = {batch.identities[0]: texts([batch]) for batch in read(path)[0]}
    samples = {seed: read(path, per_game=3, seed=seed)[0] for seed in (1, 2)}
    for batch in samples[1]:
        places = [games[batch.identities[0]].index(text) for text in texts([batch])]
        assert len(places) == 3
        assert places == sorted(set(places))
    assert texts(samples[1]) == texts(read(path, per_game=3, seed=1)[0])
    assert texts(samples[1]) != texts(samples[2])


def test_duplicates_are_dropped_as_asked(tmp_path):
    path = written(tmp_path, X_WINS, O_RESIGNS, X_WINS)
    assert read(path, duplicates="keep")[1].positions == 8 + 3 + 8
    report = read(path, duplicates="games")[1]
    assert (report.games, report.used, report.duplicate_games, report.positions) == (3, 2, 1, 8 + 3)
    batches, report, _ = read(path, duplicates="positions")
    assert (report.duplicate_games, report.duplicate_positions, report.positions) == (1, 3, 8)
    assert len(set(texts(batches))) == 8


def test_openings_are_the_same_where_the_first_moves_are(tmp_path):
    one, other, third = read(
        written(tmp_path, "1-0 b2 a1 c1 a3", "0-1 b2 a1 c1 c3", "1-0 b2 a1 c3 a3")
    )[0]
    assert one.openings == other.openings != third.openings
    assert len({int(batch.identities[0]) for batch in (one, other, third)}) == 3


def test_unfinished_games_comments_and_empty_lines_are_passed_over(tmp_path):
    batches, report, notes = read(
        written(tmp_path, "# a comment", "", f"{X_WINS}  # another", "* b2 a1")
    )
    assert (report.games, report.used, report.undecided, report.bad, len(batches), notes) == (
        2,
        1,
        1,
        0,
        1,
        [],
    )


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("1-0 b2 b2", "illegal move 'b2' at ply 2"),
        ("1-0 b2 d4", "illegal move 'd4' at ply 2"),
        ("1-0 b2 a1 c1 a3 a2 b1 c2 b3", "illegal move 'b3' at ply 8"),
        ("2-0 b2", "unknown result '2-0', expected 1-0, 0-1, 1/2-1/2, *"),
        ("b2 a1", "unknown result 'b2', expected 1-0, 0-1, 1/2-1/2, *"),
        ("0-1 b2 a1 c1 a3 a2 b1 c2", "wrong result '0-1', the moves lead to another"),
    ],
)
def test_a_bad_game_is_reported_with_file_and_line_and_skipped(tmp_path, line, reason):
    path = written(tmp_path, "# games", line, X_WINS)
    _, report, notes = read(path)
    assert notes == [f"{path}:2: {reason}; game skipped"]
    assert (report.games, report.bad, report.used) == (2, 1, 1)
    assert report.faults == {" ".join(reason.split()[:2]): 1}
    assert re.search("games.ttt:2: .*--strict", refusal(read, path, strict=True))


@pytest.mark.parametrize(
    "content", [b"", b"\xff\xfe\x00", b"1-0 \xc3\x28", b"\0" * 1000, b"1-0 " + b"a1 " * 100_000]
)
def test_bytes_that_are_no_games_are_faults_at_most(tmp_path, content):
    path = file_with(tmp_path / "games.ttt", content)
    batches, report, notes = read(path)
    assert (batches, report.used) == ([], 0)
    assert len(notes) == report.bad == report.games


def test_archives_and_other_line_ends_read_alike(tmp_path):
    content = ("\n".join(random_games(2, 100)) + "\n").encode()
    contents = {
        "games.ttt": content,
        "games.ttt.gz": gzip.compress(content),
        "dos.ttt": content.replace(b"\n", b"\r\n"),
        "games.ttt.zst": zstandard.compress(content),
        "marked.ttt": b"\xef\xbb\xbf" + content.rstrip(),
    }
    found = []
    for name, data in contents.items():
        (tmp_path / name).write_bytes(data)
        batches, report, notes = read(tmp_path / name)
        assert (report.used, notes) == (100, [])
        found.append(np.concatenate([batch.positions for batch in batches]))
    assert all(np.array_equal(found[0], other) for other in found[1:])
    (tmp_path / "games.ttt.gz").write_bytes(gzip.compress(content)[:-20])
    assert "truncated gz archive" in refusal(read, tmp_path / "games.ttt.gz")


def test_positions_that_need_a_quiescence_search_are_refused(tmp_path):
    assert "tictactoe has no 'quiet' positions; choose 'auto' or 'all'" in refusal(
        read, written(tmp_path, X_WINS), positions="quiet"
    )
