"""The parameter files of backgammon, which no command offers yet: the game has no record."""

from types import SimpleNamespace

import numpy as np
import pytest

from evalterms.backgammon import TERMS
from evalterms.compose import compose
from games.backgammon.native import WHOLE_GAMES, choose_by_pubeval
from tuner.io.files import BUNDLED
from tuner.networks.players import NetworkPlayer, Player, play_games
from tuner.networks.terms import neuron, terms_encoding
from tuner.parameters import reader
from tuner.parameters.layout import layout_of
from tuner.parameters.writer import to_text


@pytest.fixture
def read(monkeypatch):
    monkeypatch.setattr(reader, "find", lambda name: SimpleNamespace(stages=("contact", "race")))
    return lambda name: reader.read_parameters(BUNDLED / "backgammon" / f"{name}.yaml", layout_of(TERMS), "backgammon")


@pytest.mark.parametrize("name", ["zero", "classic"])
def test_files_have_all_weights_and_are_written_back_to_the_same_bytes(read, name):
    parameters = read(name)
    text = (BUNDLED / "backgammon" / f"{name}.yaml").read_text()
    assert text.endswith(to_text(parameters)) and text.startswith("# ")
    assert parameters.scale == 0.00333
    assert bool(parameters.weights.any()) == (name == "classic")


def test_classic_beats_pubeval(read):
    parameters = read("classic")
    encoding = terms_encoding(compose("backgammon", TERMS))
    player = NetworkPlayer(neuron(parameters.weights, parameters.scale), encoding, WHOLE_GAMES, WHOLE_GAMES.most_points)
    played = play_games(WHOLE_GAMES, player, Player(choose_by_pubeval), 4000, seed=1)
    assert played.points.mean() > 0.05
    assert np.sign(played.points).mean() > 0
