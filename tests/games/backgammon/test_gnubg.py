"""gnubg as a player: boards as gnubg reads them, and games without a fault."""

from __future__ import annotations

import os
import shutil

import numpy as np
import pytest

from games.backgammon.board import packed, with_dice
from games.backgammon.fibs import fibs_board
from games.backgammon.gnubg import PLACES, gnubg_plies
from games.record import find
from games.streams import InputError
from tests.commands.match_support import play
from tests.commands.support import tuner

GAME = find("backgammon")
INSTALLED = shutil.which("gnubg", path=os.pathsep.join((os.environ.get("PATH", ""), PLACES))) is not None
needs_gnubg = pytest.mark.skipif(not INSTALLED, reason="no gnubg")


def test_a_board_is_seen_by_the_side_to_move():
    start = with_dice(GAME.start(), (3, 1))
    points = fibs_board(start).split(":")[6:32]
    assert ":".join(points) == "0:-2:0:0:0:0:5:0:3:0:0:0:-5:5:0:0:0:-3:0:-5:0:0:0:0:2:0"
    other = start.copy()
    other[4] |= np.uint64(1)
    assert fibs_board(other) == fibs_board(start)  # it is the same for both
    counts = np.zeros((2, 26), np.int64)
    counts[0, [25, 3, 0]], counts[1, [25, 1, 0]] = (2, 4, 9), (1, 6, 8)
    fields = fibs_board(packed(counts, False, (6, 5))).split(":")
    assert (fields[6], fields[9], fields[30], fields[31]) == ("-1", "4", "-6", "2")
    assert fields[32:35] == ["1", "6", "5"] and fields[45:49] == ["9", "8", "2", "1"]


@pytest.mark.parametrize("text", ["", "3", "-1", "00", "zero", "1.5"])
def test_wrong_plies_are_refused_in_one_line(text):
    with pytest.raises(InputError, match="expected gnubg:PLIES with 0 to 2 plies"):
        gnubg_plies(text)


@needs_gnubg
def test_gnubg_plays_without_a_fault_and_beats_pubeval():
    found = play("gnubg:0", "pubeval", "--games", 60, "--seed", 3)
    assert found["forfeits"] == {} and found["players"] == ["gnubg:0", "pubeval"] and found["ends"] == {"rules": 60}
    assert found["less_luck"]["high"] > 0.3


@needs_gnubg
def test_gnubg_beats_random_and_takes_no_options():
    assert play("gnubg:1", "random", "--games", 4)["wins"] == 4
    ran = tuner("match", "gnubg:0", "pubeval", "--games", 2, "--option-a", "x=1")
    assert ran.status == 2 and "gnubg:0: has no option 'x'" in ran.err
