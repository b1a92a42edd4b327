"""Faults of a file are counted by kind; the first are noted one by one, or the first ends the reading."""

from __future__ import annotations

import pytest

from games.faults import MOST_NOTES, Faults
from games.record import ReadOptions, ReadReport, find
from games.streams import InputError


@pytest.mark.parametrize(("game", "name", "bad"), [("shogi", "bad.csa", "V2.2\nPI\n+\n+5544FU\n%TORYO\n/\n"),
                                                   ("tictactoe", "bad.ttt", "1-0 a1 a1\n")])
def test_many_bad_games_are_counted_and_a_thousand_noted(tmp_path, game, name, bad):
    path = tmp_path / name
    path.write_text(bad * (MOST_NOTES + 7))
    notes, report = [], ReadReport()
    read = find(game).read(str(path), ReadOptions(positions="all"), report, notes.append)
    assert sum(len(batch.positions) for batch in read) == 0
    assert report.bad == report.games == sum(report.faults.values()) == MOST_NOTES + 7
    assert len(notes) == MOST_NOTES + 1 and notes[-1] == f"{path}: 7 more bad games skipped"


def test_the_first_fault_ends_a_strict_reading():
    with pytest.raises(InputError, match="^a.csa:3: no such move; fix it, or leave out --strict to skip such games$"):
        Faults("a.csa", "game", True, ReadReport(), pytest.fail).add(3, "no such move", "move")
