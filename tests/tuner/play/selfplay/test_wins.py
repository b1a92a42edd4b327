"""Learning from wins alone: each win counts as one point, in the outcome and at leaves that end the
game."""

from dataclasses import replace

import numpy as np
import pytest

from games.record import find
from games.search.searcher import Limits
from tuner.evaluation.evaluation import WeightsEvaluation
from tuner.evaluation.loading import load_engine
from tuner.options.selfplay import SelfplaySettings
from tuner.play.openings import Opening
from tuner.play.selfplay.games import Plan, play_episode
from tuner.play.selfplay.learner import new_learner

GAME = find("backgammon")


@pytest.mark.parametrize("method", ["td", "td-leaf"])
def test_a_gammon_is_learned_from_as_a_single_game(method):
    engine, parameters = load_engine("backgammon/zero")
    searcher = engine.searcher(parameters, False, 1, lean=False)
    plan, start = Plan(Limits(depth=1), plies=2000), Opening(GAME.start())
    games = [play_episode(GAME, searcher, plan, number, 3, start) for number in range(12)]
    assert len({abs(game.outcome) for game in games}) > 1
    single = [
        replace(game, outcome=np.sign(game.outcome) / 3, known=np.sign(game.known) / 3)
        for game in games
    ]
    settings = SelfplaySettings(
        start="backgammon/zero", games=12, depth=1, random_plies=0, method=method
    )

    def learned(wins: bool, played: list) -> np.ndarray:
        learner = new_learner(WeightsEvaluation(engine, parameters), replace(settings, wins=wins))
        learner.learn(played)
        return learner.weights

    assert (learned(True, games) == learned(False, single)).all()
    assert (learned(True, games) != learned(False, games)).any()
