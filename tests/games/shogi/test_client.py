"""USI engines as sources of scores: our own, whose evaluations are known."""

import numpy as np
import pytest

from games.record import Control
from games.search.searcher import Limits
from games.shogi.engines.contest import evaluator
from games.shogi.game import GAME
from tests.games.shogi.engines.usi.support import COMMAND
from tests.games.shogi.support import loaded, searcher_of
from tests.support import refusal

START, DROP = "startpos", "4k4/9/9/9/9/9/9/9/4K4 w R2p 1"
MATE, MATED = "4k4/9/4P4/9/9/9/9/9/4K4 b G 1", "4k4/4G4/4P4/9/9/9/9/9/4K4 w - 1"


def positions(*texts: str) -> np.ndarray:
    return np.array([GAME.position(text) for text in texts])


@pytest.mark.long
def test_searches_are_those_of_the_engine_from_the_first_player_s_view():
    engine, parameters = loaded("hand")
    client = evaluator(COMMAND, {"USI_Hash": 1})
    try:
        asked = client.asked(positions(START, DROP, MATE, MATED))
        assert asked.second.tolist() == [False, True, False, True] and asked.checked.tolist() == [
            False,
            False,
            False,
            True,
        ]
        client.set({"hand.rook": 900})
        quiet, drop, mate, mated = client.searches(asked, Control(depth=1))
        assert drop.score == 680.0 and drop.mate is None
        assert mate == (np.inf, 1) and mated == (np.inf, 0)
        searched = searcher_of("hand", playing=True).search([GAME.start()], Limits(depth=1))
        assert quiet.score == round(searched.value)
    finally:
        client.close()


def test_plies_to_a_mate_are_told_in_moves():
    client = evaluator(COMMAND, {})
    try:
        two = "8k/9/7+P1/9/9/9/9/9/4K4 b G 1"
        plies = searcher_of("hand", playing=False).search(positions(two), Limits(depth=5)).win_in
        (found,) = client.searches(client.asked(positions(two)), Control(depth=5))
        assert plies is not None and plies % 2 == 1 and found.mate == (plies + 1) // 2
    finally:
        client.close()


@pytest.mark.parametrize(
    ("command", "fault"),
    [
        (
            "no-such-program",
            "no-such-program: no such program, expected the command of a usi engine",
        ),
        ("true", "true: exited with status 0; is it a usi engine?"),
    ],
)
def test_what_does_not_start_is_refused_in_one_line(command, fault):
    assert refusal(evaluator, command, {}) == fault
