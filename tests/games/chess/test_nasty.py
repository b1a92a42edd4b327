"""A collection of PGN files made to trip readers: none crashes ours, and what it accepts is what python-chess reads."""

from __future__ import annotations

import pytest

from games.chess import faults
from tests.games.support import SHARED, games_of, oracle_games, read

FILES = sorted((SHARED / "nasty_pgn").glob("*.pgn")) or [
    pytest.param(None, marks=pytest.mark.skip(reason="../shared/data/nasty_pgn is not here"))]
BLANK_LINES = {"blank_line_in_movetext.pgn"}  # a blank line among the moves, at which python-chess ends the game
UTF_16 = {"utf16.pgn"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name if path else "absent")
def test_a_nasty_file_is_read_and_its_accepted_games_are_those_of_python_chess(path):
    content = path.read_bytes()
    if path.name in UTF_16:
        content = content.decode("utf-16").encode()
    theirs = [(start, moves) for start, moves, _ in oracle_games(content)]
    if path.name in BLANK_LINES:
        theirs[:2] = [(theirs[0][0], theirs[0][1] + moves_continued(path))]
    games = games_of(path)
    for game in games:
        assert game.reason is not None or (game.start, game.moves) in theirs, game
        assert game.reason is None or game.fault in faults.SENTENCES


def moves_continued(path) -> list[int]:
    """The moves of the first game behind the blank line, by python-chess, once it is taken out."""
    content = path.read_bytes().replace(b"e5\n\n2.", b"e5\n2.")
    return oracle_games(content)[0][1][2:]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name if path else "absent")
def test_the_report_on_a_nasty_file_adds_up(path):
    batches, report, notes = read(path)
    assert report.games == report.used + report.bad + report.undecided
    assert report.bad == len(notes) == sum(report.faults.values())
    assert report.used == sum(len(batch.first) for batch in batches)
    assert report.positions == sum(len(batch.positions) for batch in batches)
    assert all(str(path) in note and "\n" not in note for note in notes)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name if path else "absent")
def test_a_good_game_behind_a_nasty_one_is_found(path):
    """Most of the files end with the same good game."""
    content = path.read_bytes()
    tail = b"1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6 1-0"
    if path.name in UTF_16 or not content.rstrip().endswith(tail):
        pytest.skip("it does not end with the good game")
    last = games_of(path)[-1]
    assert (last.reason, len(last.moves), last.result) == (None, 8, 1)
