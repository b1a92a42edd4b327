"""What the network of `tuner headroom` sees: both sides alike, boards from the side to move."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from tests.tuner.headroom.support import linear, sample_of
from tuner.headroom import network
from tuner.headroom.network import learn_on_top, views_of
from tuner.headroom.trees import Counts

ODD = np.array([0, 0, 0, 1], bool)  # which counts stay the same if the players are exchanged


def views(exchanged: bool):
    random = np.random.default_rng(3)
    counts = random.integers(-3, 4, (500, 4)).astype(float)
    if exchanged:
        counts = np.where(ODD, counts, -counts)
    logit = random.normal(0, 1, 500) * (-1 if exchanged else 1)
    return views_of(
        Counts(csr_array(counts), np.arange(4), ODD), logit, random.random(500), np.ones(500, bool)
    )


def test_if_the_players_are_exchanged_so_are_the_views():
    first, second = views(False)
    other, one = views(True)
    assert first.inputs.toarray() == pytest.approx(one.inputs.toarray())
    assert second.inputs.toarray() == pytest.approx(other.inputs.toarray())
    assert (first.side == 1).all() and (second.side == -1).all()
    some = first.inputs.toarray()
    assert np.sqrt((some[:, :4] ** 2).mean(0)) == pytest.approx(np.ones(4), rel=1e-5)


def test_a_network_that_learns_nothing_adds_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(
        network, "OPTIONS", network.LearnOptions(rate=10.0, epochs=1)
    )  # far too fast to help
    sample = sample_of(tmp_path / "data", 100, linear, "scores")
    learned = sample.game < 60
    found = learn_on_top(sample, linear(sample.counts().of.toarray(), sample.share), learned)
    assert (
        np.isnan(found.logit[learned]).all()
        and (found.logit[~learned] == 0).all()
        and found.board is None
    )
