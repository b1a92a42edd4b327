"""Remarks about a match."""

import pytest

from games.record import Control
from tuner.play.match.tally import first_forfeit_text
from tuner.play.players import PlayerSpec


@pytest.mark.parametrize(
    ("forfeit", "nodes", "wanted"),
    [
        (
            "b stall",
            5000,
            (
                "two lost a game by stall; the match continues. Some engines ignore a limit of"
                " nodes and search without end: give --depth or --movetime"
            ),
        ),
        ("a stall", None, "one lost a game by stall; the match continues"),
        ("a illegal move", 5000, "one lost a game by illegal move; the match continues"),
    ],
)
def test_the_first_forfeit_is_reported_with_its_likely_cause(forfeit, nodes, wanted):
    players = tuple(
        PlayerSpec(name, Control(depth=None if nodes else 4, nodes=nodes))
        for name in ("one", "two")
    )
    assert first_forfeit_text(forfeit, players) == wanted
