"""Values and results of games that learned weights and networks play against themselves."""

import shutil

import numpy as np
import pytest

from tests.commands.support import done
from tests.tuner.core.support import change_settings
from tuner.evaluation.loading import load_engine
from tuner.evaluation.networks.evaluation import network_evaluation
from tuner.findings.played_calibration import (
    learned_network,
    learned_weights,
    played_values,
    values_of,
)
from tuner.io.run_folder import read_settings
from tuner.io.terminal import Display
from tuner.options.selfplay import SECTION, SelfplaySettings
from tuner.play.openings import Opening
from tuner.play.selfplay.games import play_episode
from tuner.play.selfplay.settings import MEGABYTES, plan_of


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("played") / "run"
    done("selfplay", "backgammon/classic", "--games", 16, "--run", folder)
    return folder


def learned_of(folder):
    _, parameters = load_engine("backgammon/classic")
    return learned_weights(folder / "params.yaml", 16, parameters.weights, print)


def test_games_come_after_those_of_the_run_and_leave_out_what_the_rules_decide(run):
    found = played_values(learned_of(run), 12, Display())
    settings = read_settings(run, SECTION, SelfplaySettings)
    engine, parameters = load_engine(run / "params.yaml")
    searcher = engine.searcher(parameters, False, MEGABYTES, lean=False)
    start = engine.game.start()
    games = [
        play_episode(
            engine.game, searcher, plan_of(settings), 16 + k, settings.seed, Opening(start)
        )
        for k in range(12)
    ]
    # after a move; the evaluation does not see dice
    positions = np.concatenate([episode.line[1:-1] for episode in games])
    value = np.tanh(parameters.scale * engine.evaluate_many(positions, parameters, 1))
    result = np.repeat(
        [episode.outcome for episode in games], [len(episode.line) - 2 for episode in games]
    )
    assert found.games == 12 and found.broken_off == 0
    np.testing.assert_allclose(found.result, result)
    np.testing.assert_allclose(found.value, value, atol=1e-3)  # searches round weights
    classic = load_engine("backgammon/classic")[1]
    before = np.tanh(parameters.scale * engine.evaluate_many(positions, classic, 1))
    np.testing.assert_allclose(found.before, before, atol=1e-3)
    assert np.abs(found.before - found.value).max() > 0.01
    assert values_of([], 0.003).games == 0


def test_what_learned_from_wins_is_held_against_wins(run, tmp_path):
    """The games are the same for the same weights: values and results are those of wins."""
    shutil.copytree(run, tmp_path / "wins")
    change_settings(tmp_path / "wins", wins=True)
    points, wins = (
        played_values(learned_of(folder), 12, Display()) for folder in (run, tmp_path / "wins")
    )
    np.testing.assert_allclose(wins.value, np.clip(3 * points.value, -1, 1))
    np.testing.assert_allclose(wins.before, np.clip(3 * points.before, -1, 1))
    np.testing.assert_allclose(wins.result, np.sign(points.result))


@pytest.mark.parametrize("wins", [(), ("--wins",)], ids=["points", "wins"])
def test_values_of_a_network_are_those_of_its_evaluation(tmp_path, wins):
    done("selfplay", "backgammon", "--hidden", 3, "--games", 60, *wins, "--run", tmp_path)
    learned, evaluation = learned_network(tmp_path, 60), network_evaluation(tmp_path / "net.yaml")
    found, game = played_values(learned, 10, Display()), evaluation.game
    start = Opening(game.start())
    episodes = [
        play_episode(game, learned.searcher, learned.plan, 60 + k, learned.seed, start)
        for k in range(10)
    ]
    positions = np.concatenate([episode.line[1:-1] for episode in episodes])
    value = np.tanh(evaluation.scale * evaluation.values(positions))
    np.testing.assert_allclose(found.value, 3 * value if wins else value, atol=2e-4)
    results = np.repeat(
        [episode.outcome for episode in episodes], [len(episode.line) - 2 for episode in episodes]
    )
    np.testing.assert_allclose(found.result, np.sign(results) if wins else results)
    assert found.games == 10 and found.before is None
