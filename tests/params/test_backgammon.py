"""The parameter files of backgammon."""

import numpy as np
import pytest

from evalterms.backgammon import TERMS
from evalterms.framework.compose import compose
from games.backgammon.rules.play import WHOLE_GAMES, choose_by_pubeval
from tuner.evaluation.loading import load_parameters
from tuner.evaluation.networks.evaluation import neuron, terms_encoding
from tuner.evaluation.networks.players import CompiledPlayer, NetworkPlayer, play_games


@pytest.mark.parametrize("name", ["zero", "classic"])
def test_hundred_stands_for_a_point(name):
    parameters = load_parameters(f"backgammon/{name}")
    assert parameters.scale == 0.00333 and parameters.stages == ("contact", "race")
    assert bool(parameters.weights.any()) == (name == "classic")


def test_classic_beats_pubeval():
    parameters = load_parameters("backgammon/classic")
    encoding = terms_encoding(compose("backgammon", TERMS))
    player = NetworkPlayer(
        neuron(parameters.weights, parameters.scale), encoding, WHOLE_GAMES, WHOLE_GAMES.most_points
    )
    played = play_games(WHOLE_GAMES, player, CompiledPlayer(choose_by_pubeval), 4000, seed=1)
    assert played.points.mean() > 0.05
    assert np.sign(played.points).mean() > 0
