"""One engine for the tests of a file, reset to its initial state for each of them."""

import pytest

from tests.games.chess.engines.uci.support import Talk


@pytest.fixture(scope="module")
def shared():
    talk = Talk()
    yield talk
    assert talk.leave() == []


@pytest.fixture
def talk(shared):
    """The engine with nothing running, all options as at the start, and the starting position."""
    shared.ask("stop")  # a test that failed may have left it searching
    shared.ask("position startpos")
    assert (
        shared.ask(
            "setoption name UCI_Chess960 value false",
            "setoption name EvalFile value classic",
            "ucinewgame",
            "position startpos",
        )
        == []
    )
    return shared
