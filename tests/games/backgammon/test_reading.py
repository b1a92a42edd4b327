"""Files of backgammon as batches of positions: matches, labeled positions, their outcomes, faults
and duplicates."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from examples.sample_games.backgammon import play
from games.backgammon.files import mat
from games.backgammon.files import reading as labels
from games.backgammon.rules.board import swapped, turn_of, with_dice
from games.record import ReadOptions, ReadReport, find
from games.streams import InputError
from tests.commands.support import done
from tests.games.backgammon.support import labels_text
from tests.games.backgammon.test_files import DATA, mutations, random_games, some_labels
from tests.games.support import REPOSITORY
from tests.support import file_with, refusal

GAME = find("backgammon")
ALL = ReadOptions(positions="all")
MUTATED = 120
LABEL = "4HPwATDgc/ABMA,0.525,0.15,0.01,0.14,0.01"


def read(path, options=ALL):
    """Batches, report and notes."""
    report, notes = ReadReport(), []
    return list(GAME.files.read(str(path), options, report, notes.append)), report, notes


def written(folder: Path, games, name="games.mat") -> Path:
    return file_with(folder / name, mat.mat_text(games))


def labelled(folder: Path, *lines: str) -> Path:
    return file_with(folder / "positions.csv", "\n".join([",".join(labels.HEADER), *lines]) + "\n")


def test_games_of_self_play_are_read_as_they_were_played(tmp_path):
    games = [play(number) for number in range(20)]
    batches, report, notes = read(written(tmp_path, games))
    assert (report.games, report.used, notes) == (20, 20, [])
    for game, batch in zip(games, batches, strict=True):
        assert (batch.positions == game.line).all()
        assert np.allclose(batch.outcomes * 3, game.points) and batch.outcomes.dtype == np.float32
    assert {round(float(batch.outcomes[0]) * 3) for batch in batches} >= {-2, -1, 1, 2}
    auto, _, _ = read(written(tmp_path, games), ReadOptions())
    for game, batch in zip(games, auto, strict=True):
        assert (batch.positions == game.line[:-1]).all()  # the last position is the end of the game


def test_the_cube_and_the_score_do_not_change_outcomes_and_dropped_games_have_none():
    batches, report, _ = read(DATA / "gnubg.mat")
    assert (report.games, report.used, report.undecided) == (2, 1, 1)
    assert report.faults == {
        "ended by a dropped double, so without points of play: the rest is a selection": 1
    }
    assert np.allclose(batches[0].outcomes, 2 / 3) and batches[0].numbers.tolist() == [
        2
    ]  # 8 points with the cube at 4


def test_faults_are_named_counted_and_skipped(tmp_path):
    text = (DATA / "gnubg.mat").read_text()
    path = file_with(tmp_path / "a.mat", text.replace("21: 13/11 24/23", "21: 13/11 24/22", 1))
    _, report, notes = read(path)
    assert (report.games, report.used, report.bad) == (2, 1, 1)
    assert report.faults == {"illegal move": 1}
    assert notes == [f"{path}:7: '13/11 24/22' is not a legal move of 21 at ply 1; game skipped"]
    assert "fix it, or leave out --strict to skip such games" in refusal(
        read, path, replace(ALL, strict=True)
    )


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("AAAAAAAAAAAAAA,1,0,0,0,0", "has no checkers"),
        ("//////////////,1,0,0,0,0", "has 80 checkers of one side, expected at most 15"),
        ("4HPwATDgc/ABMA,1.5,0,0,0,0", "win is '1.5', expected a probability from 0 to 1"),
    ],
)
def test_impossible_boards_and_probabilities_are_one_line(tmp_path, line, message):
    _, report, notes = read(labelled(tmp_path, LABEL, line))
    assert (report.games, report.used, report.bad, len(notes)) == (2, 1, 1, 1)
    assert ":3: " in notes[0] and message in notes[0]


def test_labels_are_expected_points_and_take_turns_between_the_sides(tmp_path):
    positions, chances = some_labels()
    path = file_with(tmp_path / "a.csv", labels_text(positions, chances))
    (batch,), report, _ = read(path)
    assert (report.games, report.used, report.positions) == (200, 200, 200)
    second = np.array([turn_of(words) == 1 for words in batch.positions])
    assert 60 < second.sum() < 140
    expected = labels.points_of(chances) / 3
    assert np.allclose(np.where(second, -batch.outcomes, batch.outcomes), expected, atol=1e-5)
    back = batch.positions.copy()
    back[second] = swapped(back[second])
    mover = positions.copy()
    turned = np.array([turn_of(words) == 1 for words in positions])
    mover[turned] = swapped(mover[turned])
    assert (back[:, :4] == mover[:, :4]).all()
    assert len(batch.first) == 200 and batch.scores is None


def test_swapped_positions_have_the_opposite_result_and_evaluation():
    for game in random_games(3, 3):
        ends = game.line[-1:]
        if (won := GAME.result(ends)) is not None:
            assert GAME.result(swapped(ends)) == -won
        assert (swapped(swapped(game.line)) == game.line).all()


def test_duplicates(tmp_path):
    games = [play(0), play(1), play(0)]
    path = written(tmp_path, games)
    done("match", "pubeval", "pubeval", "--games", 8, "--pgn", tmp_path / "match.mat")
    _, report, _ = read(tmp_path / "match.mat")  # pairs of the same game with sides swapped
    assert (report.games, report.used, report.duplicate_games) == (8, 4, 4)
    batches, report, _ = read(path, replace(ALL, duplicates="positions"))
    positions = np.concatenate([batch.positions for batch in batches])
    positions[:, 4] &= np.uint64(1)  # whose roll it is, whatever the ply
    assert len(np.unique(positions, axis=0)) == len(positions) and report.duplicate_positions == 1
    _, report, _ = read(labelled(tmp_path, LABEL, LABEL), replace(ALL, duplicates="positions"))
    assert (report.games, report.used, report.duplicate_games, report.duplicate_positions) == (
        2,
        1,
        1,
        1,
    )


def test_the_content_decides_what_a_file_is(tmp_path):
    path = file_with(tmp_path / "session.txt", mat.mat_text([play(0)]))
    assert (
        GAME.files.holds_games(str(path))
        and GAME.files.of_games(str(path))
        and read(path)[1].used == 1
    )
    (tmp_path / "notes.txt").write_text("Ann plays Bob")
    assert not GAME.files.holds_games(str(tmp_path / "notes.txt"))
    assert "neither the name nor the first lines say the format; expected matches" in refusal(
        read, tmp_path / "notes.txt"
    )
    assert not GAME.files.of_games(str(labelled(tmp_path, LABEL)))


def test_choices_of_positions(tmp_path):
    path = written(tmp_path, [play(0), play(1)])
    assert "--positions quiet: backgammon has no quiescence" in refusal(
        read, path, replace(ALL, positions="quiet")
    )
    assert read(path, replace(ALL, min_elo=1800))[1].below_elo == 2


def test_the_bundled_games_are_those_that_are_made():
    bundled, report, notes = [], ReadReport(), []
    for batch in GAME.files.read(
        str(REPOSITORY / "games/samples/pubeval.mat.zst"), ALL, report, notes.append
    ):
        bundled.append(batch)
        if len(bundled) == 30:
            break
    assert notes == []
    for number, batch in enumerate(bundled):
        assert (batch.positions == play(number).line).all()


@pytest.mark.parametrize("name", ["gnubg.mat", "positions.csv"])
def test_damaged_files_are_counted_and_reported_in_one_line_each(tmp_path, name, mutated=MUTATED):
    if name.endswith("csv"):
        positions, chances = some_labels()
        whole = labels_text(positions[:20], chances[:20]).encode()
    else:
        whole = (DATA / name).read_bytes()[:6000]
    said = 0
    for content in mutations(5, whole, mutated):
        path = file_with(tmp_path / name, content)
        report, notes = ReadReport(), []
        try:
            for batch in GAME.files.read(str(path), ALL, report, notes.append):
                assert (np.abs(batch.outcomes) <= 1).all() and len(batch.positions)
                assert all(
                    len(GAME.legal_moves(with_dice(words, (2, 1)))) for words in batch.positions[:1]
                )
            assert (
                report.games == report.used + report.bad + report.undecided + report.duplicate_games
            )
            assert (
                report.bad
                == len(notes)
                == sum(report.faults.values())
                - report.faults.get(
                    "ended by a dropped double, so without points of play: the rest is a selection",
                    0,
                )
            )
        except InputError as problem:
            notes.append(str(problem))
        said += len(notes)
        assert all("\n" not in note and str(path) in note for note in notes)
    assert said > mutated // 4
