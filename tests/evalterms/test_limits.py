"""Coefficients have eight bits: more is an error, never a wrong number."""

import subprocess
import sys

import numpy as np
import pytest

from evalterms.compose import compose
from evalterms.term import Term
from games.bits import popcount
from games.record import find
from tests.conftest import REPOSITORY
from tuner.engine.engine import Engine
from tuner.parameters.layout import layout_of

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


def test_threads_may_compose_the_same_evaluation_at_once(tmp_path, monkeypatch):
    """Without a cache all of them find nothing written yet."""
    monkeypatch.setenv("EVALTUNE_CACHE", str(tmp_path))
    script = ("import threading\nfrom tuner.engine.loading import make_engine\nproblems = []\n"
              "def work():\n    try:\n        make_engine('tictactoe').composition.glue.PHASES\n"
              "    except BaseException as problem:\n        problems.append(problem)\n"
              "threads = [threading.Thread(target=work) for _ in range(16)]\n"
              "[thread.start() for thread in threads]\n[thread.join() for thread in threads]\nassert not problems, problems\n")
    finished = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=REPOSITORY)
    assert finished.returncode == 0, finished.stderr
