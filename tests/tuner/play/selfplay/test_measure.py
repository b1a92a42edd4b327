"""Measurements during a run: players are those that matches have, and the sums are right."""

import ctypes
import math
from itertools import islice

import numpy as np
import pytest

from games.backgammon.rules.play import afterstates
from games.compile import jit
from games.record import find
from tests.games.backgammon.support import rolls_of_games
from tuner.evaluation.evaluation import WeightsEvaluation, load_evaluation
from tuner.evaluation.loading import load_engine
from tuner.options.selfplay import SelfplaySettings
from tuner.play.selfplay.measure import Measurement

GAME = find("backgammon")


def settings_of(opponent: str, **more: int) -> SelfplaySettings:
    return SelfplaySettings(start="zero", measure=(opponent,), **more)


@pytest.mark.parametrize("name", ["classic", "zero"])
def test_weights_choose_as_their_evaluation_does(name):
    """The position after the roll that the evaluation likes best for who moves."""
    engine, parameters = load_engine(f"backgammon/{name}")
    player, checked = WeightsEvaluation(engine, parameters).player(), 0
    for words in islice(rolls_of_games(3, 80), 80):
        after = np.ascontiguousarray(afterstates(words)[0])
        if not len(after) or any(GAME.result([each]) is not None for each in after):
            continue
        if jit.PLAIN:
            best = player.choose(words, after.ravel(), len(after), player.data)
        else:
            native = ctypes.CFUNCTYPE(
                ctypes.c_int64, *[ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64]
            )
            best = native(player.choose.address())(
                words.ctypes.data, after.ctypes.data, len(after), player.data
            )
        liking = engine.evaluate(after, parameters) * (-1 if GAME.second_to_move(words) else 1)
        assert liking[best] >= liking.max() - 0.01  # centipawns: single precision
        checked += len(after) > 1
    assert checked > 50


def test_equal_players_win_nothing_of_each_other():
    settings = settings_of("backgammon/classic", games=2000, measure_games=20)
    found = Measurement(GAME, settings).measured(load_evaluation("backgammon/classic"))
    assert (found.points.value, found.games, found.opponent) == (0, 20, "classic")
    assert math.isnan(found.points.half_width)  # all pairs ended alike


def test_it_measures_twenty_times_and_at_the_end():
    settings = settings_of("random", games=1010, measure_every=100, measure_games=6)
    measurement = Measurement(GAME, settings)
    ends = list(range(30, 1001, 30)) + [1010]
    due = [
        end for before, end in zip([0, *ends], ends, strict=False) if measurement.due(before, end)
    ]
    assert due == [120, 210, 300, 420, 510, 600, 720, 810, 900, 1010]
    assert not measurement.due(1010, 1010)
