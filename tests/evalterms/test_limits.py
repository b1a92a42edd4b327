"""Coefficients have eight bits: more is an error, never a wrong number."""

import numpy as np
import pytest

from evalterms.compose import compose
from evalterms.term import Term
from games.bits import popcount
from games.record import find
from tuner.engine import Engine
from tuner.layout import layout_of

many = Term("many")
SIXTEEN = many.parameter("sixteen_a_pawn")


@many.counts
def count_many(us, them, emit):
    """Every pawn sixteen times."""
    emit(SIXTEEN, popcount(us.pawns) * 16)


@pytest.fixture(scope="module")
def counts():
    """The coefficient of some FENs, behind a hundred positions without any."""
    engine = Engine(find("chess"), compose("chess", [many]), layout_of([many]))

    def count(*fens):
        positions = np.array([engine.game.position("4k3/8/8/8/8/8/8/4K3 w - - 0 1")] * 100
                             + [engine.game.position(text) for text in fens])
        return engine.coefficients(positions).dense(1)[100:, 0].tolist()

    return count


def test_the_most_and_the_least_that_fit_are_counted(counts):
    fens = ["4k3/p7/8/8/8/8/PPPPPPPP/4K3 w - - 0 1", "4k3/pppppppp/8/8/8/8/8/4K3 w - - 0 1", "4k3/8/8/8/8/8/P7/4K3 w - - 0 1"]
    assert counts(*fens) == [112, -128, 16]


def test_a_count_beyond_eight_bits_raises(counts):
    with pytest.raises(OverflowError, match="127"):
        counts("4k3/8/8/8/8/8/PPPPPPPP/4K3 w - - 0 1")
