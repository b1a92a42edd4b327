"""Damaged and nasty files of games: what is accepted is what python-chess reads, in time
proportional to the bytes."""

import json
import random
from collections import Counter
from pathlib import Path

import pytest

from games.chess.files import faults
from tests.games.chess.mutation import EXPLAINED, mutate, originals, trials
from tests.games.chess.rubbish import RUBBISH
from tests.games.support import SHARED, games_of, games_of_bytes, oracle_games, read
from tests.games.test_plain import plain


@pytest.mark.long
def test_damaged_games_that_are_accepted_have_the_moves_that_python_chess_reads(tmp_path):
    accepted, refused = 0, Counter()
    for trial in trials(31, 2000, tmp_path):
        for game in trial.differing:
            assert trial.cause(game) in EXPLAINED, trial.content
        accepted += len(trial.accepted)
        refused.update(
            faults.kind_of_fault(game.fault) for game in trial.ours if game.reason is not None
        )
    assert accepted > 200
    assert sum(refused.values()) > 1000
    assert len(refused) > 10


def test_every_error_that_python_chess_finds_in_damaged_games_is_reported(tmp_path):
    """Or we know why not."""
    for trial in trials(32, 500, tmp_path):
        if any(errors for _, _, errors in trial.theirs) and not any(
            game.reason for game in trial.ours
        ):
            assert trial.differing, trial.content
            assert {trial.cause(game) for game in trial.differing} <= EXPLAINED


def test_games_around_a_damaged_one_are_read_unless_it_takes_their_tags_for_its_own(tmp_path):
    rng, games = random.Random(33), originals(33, 40)
    for _ in range(300):
        before, damaged, behind = (
            rng.choice(games),
            mutate(rng, rng.choice(games)),
            rng.choice(games),
        )
        found = games_of_bytes(before + damaged.rstrip() + b"\n\n" + behind, tmp_path)
        wanted = [(start, moves) for start, moves, _ in oracle_games(before + behind)]
        assert (found[0].start, found[0].moves) == wanted[0]
        assert (found[-1].start, found[-1].moves) == wanted[1], damaged


# each of our own files has one fault in its first game, and the same good game behind it
OURS = {
    "illegal_move.pgn": faults.ILLEGAL,
    "ambiguous_move.pgn": faults.AMBIGUOUS,
    "open_comment.pgn": faults.COMMENT,
    "open_variation.pgn": faults.VARIATION,
    "no_result.pgn": faults.NO_RESULT,
    "two_results.pgn": faults.RESULTS,
    "impossible_start.pgn": faults.FEN_KINGS,
    "torn_tag.pgn": faults.TAG,
    "another_variant.pgn": faults.VARIANT,
}
FOLDER = Path(__file__).with_name("bad_pgn")
COLLECTION = SHARED / "nasty_pgn"
# a blank line among the moves, at which python-chess ends the game
BLANK_LINES = {"blank_line_in_movetext.pgn"}
UTF_16 = {"utf16.pgn"}
GOOD = (
    b"1. f4 e5 2. fxe5 d6 3. exd6 Bxd6 4. g3 Qg5 5. Nf3 0-1",
    b"1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6 1-0",
)


def files(wanted) -> pytest.MarkDecorator:
    """A test for each file that is wanted: ours always, those of the collection where it is
    there."""
    found = [
        path
        for folder in (FOLDER, COLLECTION)
        for path in sorted(folder.glob("*.pgn"))
        if wanted(path)
    ]
    values = [pytest.param(path, id=f"{path.parent.name}/{path.name}") for path in found]
    if not COLLECTION.is_dir():
        values.append(
            pytest.param(
                None,
                id="absent",
                marks=pytest.mark.skip(reason="../shared/data/nasty_pgn is not here"),
            )
        )
    return pytest.mark.parametrize("path", values)


def test_our_files_are_those_that_are_listed():
    assert {path.name for path in FOLDER.iterdir()} == set(OURS) | UTF_16


@pytest.mark.parametrize(("name", "fault"), OURS.items())
def test_each_of_our_files_has_its_fault_and_then_a_good_game(name, fault):
    assert [game.fault for game in games_of(FOLDER / name)] == [fault, faults.OK]


@files(lambda path: True)
def test_a_nasty_file_is_read_and_its_accepted_games_are_those_of_python_chess(path):
    content = path.read_bytes()
    if path.name in UTF_16:
        content = content.decode("utf-16").encode()
    theirs = [(start, moves) for start, moves, _ in oracle_games(content)]
    if path.name in BLANK_LINES:
        theirs[:2] = [(theirs[0][0], theirs[0][1] + moves_continued(path))]
    if path.name == "open_comment.pgn":  # for python-chess it reaches to the end of the file
        theirs += [(start, moves) for start, moves, _ in oracle_games(GOOD[0])]
    for game in games_of(path):
        assert game.reason is not None or (game.start, game.moves) in theirs, game
        assert game.reason is None or game.fault in faults.SENTENCES


def moves_continued(path) -> list[int]:
    """The moves of the first game behind the blank line, by python-chess, once it is taken out."""
    content = path.read_bytes().replace(b"e5\n\n2.", b"e5\n2.")
    return oracle_games(content)[0][1][2:]


@files(lambda path: True)
def test_the_report_on_a_nasty_file_adds_up(path):
    batches, report, notes = read(path)
    assert report.games == report.used + report.bad + report.undecided
    assert report.bad == len(notes) == sum(report.faults.values())
    assert report.used == sum(len(batch.first) for batch in batches)
    assert report.positions == sum(len(batch.positions) for batch in batches)
    assert all(str(path) in note and "\n" not in note for note in notes)


@files(lambda path: path.read_bytes().rstrip().endswith(GOOD))
def test_a_good_game_behind_a_nasty_one_is_found(path):
    content = path.read_bytes().rstrip()
    ((start, moves, errors),) = oracle_games(next(game for game in GOOD if content.endswith(game)))
    last = games_of(path)[-1]
    assert (last.reason, last.start, last.moves) == (None, start, moves) and not errors
    assert last.result == (1 if content.endswith(b"1-0") else -1)


MOST = 32  # looks at a byte, of any kind of rubbish


@pytest.fixture(scope="module")
def looks() -> dict[str, dict[str, list[int]]]:
    finished = plain("-m", "tests.games.chess.work")
    assert finished.returncode == 0, finished.stderr
    return json.loads(finished.stdout)


@pytest.mark.parametrize("reader", ["games.chess.files.pgn", "games.chess.files.epd"])
@pytest.mark.parametrize("kind", RUBBISH)
def test_twice_as_many_bytes_are_looked_at_twice_as_often(reader, kind, looks):
    few, many = looks[reader][kind]
    assert many <= MOST * len(RUBBISH[kind](4000))
    assert many <= 2.5 * few + 1000
