"""The record of shogi does what every game's record must."""

import pytest

from games.shogi.game import GAME
from tests.conformance import Evaluation, checks_of
from tests.games.shogi.support import loaded

kept_alive: list = []


def evaluation() -> Evaluation:
    engine, parameters = loaded("classic")
    bound = engine.evaluation(parameters)
    kept_alive.append(bound)
    return Evaluation(
        *bound,
        lambda positions: engine.evaluate(positions, parameters),
        lambda positions: engine.coefficients(positions).phase,
        engine.phases,
    )


@pytest.mark.parametrize("check", checks_of(GAME, evaluation), ids=lambda check: check.__name__)
def test_shogi_conforms(check):
    check()
