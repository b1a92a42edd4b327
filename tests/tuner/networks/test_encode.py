"""Inputs of many positions against one call of the encoding for each."""

import numpy as np
import pytest

from evalterms.encoding import encodings_of
from games.backgammon.native import WHOLE_GAMES
from games.chess.fen import position
from tests.evalterms.chess.test_encodings import boards
from tests.tuner.networks.support import counts_of_positions, network
from tuner.networks import encode
from tuner.networks.encode import counts_of, inputs_of
from tuner.networks.selfplay import TdLearner, TdSettings


def positions_of(game: str) -> np.ndarray:
    if game == "chess":
        return np.array([position(board.fen()) for board in boards(60)])
    encoding = encodings_of(game)["tesauro198"]
    return np.array(TdLearner(network(encoding.size, [(1, "tanh")]), encoding, WHOLE_GAMES, TdSettings(rate=0.1)).play(1, 60)[1])


@pytest.mark.parametrize("game", ["chess", "backgammon"])
def test_inputs_are_counts_times_units(game, monkeypatch):
    monkeypatch.setattr(encode, "AT_ONCE", 25)  # several parts, the last one short
    some = positions_of(game)
    for encoding in encodings_of(game).values():
        counts = counts_of_positions(encoding, some)
        assert (counts_of(encoding, some).toarray() == counts).all() and counts.any(axis=1).all()
        found = inputs_of(encoding, some)
        assert found.dtype == np.float32
        assert found.toarray() == pytest.approx(counts * encoding.units, rel=1e-6)


def test_no_positions_have_no_inputs():
    encoding = encodings_of("chess")["bitboard768"]
    assert inputs_of(encoding, np.zeros((0, 10), np.uint64)).shape == (0, 768)
