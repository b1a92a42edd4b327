"""Headroom of simulated evaluations: nothing where they are linear, most of what was planted where
they are not."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.special import expit

from games.streams import InputError
from tests.tuner.headroom.support import linear, sample_of, with_product
from tuner.findings.records import Gain, Headroom, ModelLoss, gain_of
from tuner.headroom import measure, trees
from tuner.headroom.measure import describe, lines_of, measure_sample
from tuner.headroom.trees import Boosted, Counts, Inputs, boost
from tuner.io.terminal import Display

pytest.importorskip("sklearn", reason="scikit-learn is not here; pip install '.[headroom]'")


def model(found: Headroom, name: str) -> ModelLoss:
    return next(line for line in found.models if line.model == name)


def gain(found: Headroom, name: str) -> Gain:
    gained = gain_of(found.gains, name)
    assert gained is not None
    return gained


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    """A sample, what was predicted, and what was found."""
    sample = sample_of(tmp_path_factory.mktemp("planted") / "data", 2500, with_product, "scores")
    predicted = measure.predict(sample, 0.2, Display())
    return sample, predicted, describe(sample, "start.yaml", predicted)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_nothing_is_found_where_the_evaluation_is_linear(tmp_path, seed):
    found = measure_sample(
        sample_of(tmp_path / "data", 1500, linear, "results", seed), "start.yaml", 0.3, Display()
    )
    assert gain(found, "trees").low <= 0 <= gain(found, "trees").high
    assert gain(found, "network").low <= 0 <= gain(found, "network").high
    assert gain(found, "fit").low > 0  # half of the starting weights are too small
    assert found.loss == "cross-entropy" and found.entropy == 0
    assert any(
        line.startswith(
            "Functions of the same counts that are not linear gain nothing beyond chance here"
        )
        for line in found.sentences
    )
    assert "of the distance" not in " ".join(found.sentences)  # results have no known entropy


def test_trees_find_most_of_what_was_planted(planted):
    """The values are exact, so that the truth has excess 0 and all that the linear fit lacks is
    planted."""
    *_, found = planted
    assert model(found, "fit").value > 0.01
    assert gain(found, "trees").share.value >= 0.8
    assert gain(found, "trees").share.low > 0.7
    assert found.loss == "excess cross-entropy"


def test_a_network_finds_most_of_what_was_planted(planted):
    *_, found = planted
    assert gain(found, "network").on == "fit" and found.board is None
    assert gain(found, "network").share.value >= 0.8
    assert gain(found, "network").share.low > 0.7
    assert found.network_on_trees.value == pytest.approx(
        model(found, "trees").value - model(found, "network").value, abs=1e-6
    )


def test_losses_are_those_of_the_definition(planted):
    sample, predicted, found = planted
    q = sample.q[predicted.held]
    p = expit(predicted.logits["start"][predicted.held])
    loss = -q * np.log(p) - (1 - q) * np.log1p(-p) + q * np.log(q) + (1 - q) * np.log1p(-q)
    assert model(found, "start").value == pytest.approx(loss.mean(), rel=1e-5)
    weights = sample.begun.parameters.weights[0]
    counts = sample.data.matrix() @ weights
    assert predicted.logits["start"] == pytest.approx(
        2 * predicted.scales["start"] * counts, rel=1e-6
    )


def test_quarters_of_the_phase_add_up_and_show_where_the_gain_is(planted):
    *_, found = planted
    lines = found.phases
    assert sum(line.positions for line in lines) == found.held_out_positions
    mean = sum(line.positions * line.trees for line in lines) / found.held_out_positions
    assert mean == pytest.approx(model(found, "trees").value, abs=1e-5)
    gains = [next(each.value for each in line.gains if each.model == "trees") for line in lines]
    assert gains[0] > gains[-1]  # planted late
    assert "where the share of mg is 0 to 0.25" in found.sentences[1]


def test_what_the_trees_use_is_what_was_planted(planted):
    *_, found = planted
    rises = {line.input: line for line in found.counts}
    used = {"single.n0", "single.n1", "single.n2", "single.n3"}
    assert (
        set(
            sorted((name for name in rises if "." in name), key=lambda name: -rises[name].value)[:4]
        )
        == used
    )
    assert all(rises[name].low > 0 for name in used)
    assert rises["the phase"].low > 0
    names = found.sentences[1].partition("the trees use most: ")[2].partition(" (")[0].split(", ")
    assert len(names) == 3 and set(names) <= used


def test_the_players_can_be_exchanged(planted):
    sample, *_ = planted
    some = Inputs(np.zeros(2000), sample.share[:2000], sample.counts().only(slice(2000)))
    f = boost(some, sample.q[:2000], sample.mass[:2000], sample.opening[:2000], 1, 1)
    features = f.features(some)
    assert f.rounds and f.of_features(f.mirrored(features)) == pytest.approx(
        -f.of_features(features)
    )
    assert (f.mirrored(features)[:, 1] == features[:, 1]).all()
    assert f(some) == pytest.approx(f.of_features(features))


def test_sums_of_both_players_stay_the_same_if_they_are_exchanged():
    random = np.random.default_rng(2)
    ours, theirs = random.integers(0, 4, (2, 3000, 2)).astype(float)
    counts = Counts(
        csr_array(np.hstack([ours - theirs, ours + theirs])),
        np.array([0, 1, 0, 1]),
        np.array([0, 0, 1, 1], bool),
    )
    q = expit(0.3 * (ours[:, 0] ** 2 - theirs[:, 0] ** 2))  # difference times sum
    inputs = Inputs(np.zeros(3000), np.ones(3000), counts)
    f = boost(inputs, q, np.ones(3000), np.arange(3000) // 10, 1, 1)
    exchanged = inputs._replace(
        counts=counts._replace(of=csr_array(np.hstack([theirs - ours, ours + theirs])))
    )
    assert f.mirrored(f.features(inputs)) == pytest.approx(f.features(exchanged))
    assert (
        f(exchanged) == pytest.approx(-f(inputs))
        and np.corrcoef(f(inputs), 0.3 * (ours - theirs)[:, 0] * (ours + theirs)[:, 0])[0, 1] > 0.98
    )


def test_no_trees_add_nothing():
    counts = Counts(csr_array((3, 4)), np.arange(4), np.zeros(4, bool))
    none = Boosted(np.zeros(0, int), np.zeros(0, int), np.zeros(0, bool), [])
    assert none(Inputs(np.ones(3), np.ones(3), counts)).tolist() == [0, 0, 0]


def test_positions_of_largest_disagreement_have_the_values_of_all_models(planted):
    sample, predicted, _ = planted
    named = replace(sample)
    object.__setattr__(named, "texts", lambda some: [str(i) for i in some])
    lines = measure.disagreements(named, predicted)
    place = [int(line.position) for line in lines]
    assert (
        len(set(sample.game[place])) == len(place) == measure.MOST_SHOWN
        and predicted.held[place].all()
    )
    apart = np.maximum(
        *(
            np.abs(expit(predicted.logits[name]) - expit(predicted.logits["fit"]))
            for name in ("trees", "network")
        )
    )
    assert apart[place[0]] == np.nanmax(apart[predicted.held])
    for line, i in zip(lines, place, strict=True):
        assert line.value == pytest.approx(sample.q[i], abs=1e-4)
        assert line.trees == pytest.approx(expit(predicted.logits["trees"][i]), abs=1e-4)


def test_without_the_library_the_linear_part_remains(planted, monkeypatch):
    sample, _, whole = planted
    monkeypatch.setattr(measure, "available", lambda: False)
    found = measure_sample(sample, "start.yaml", 0.2, Display())
    assert [line.model for line in found.models] == ["start", "fit", "network"]
    assert model(found, "fit") == model(whole, "fit") and gain(found, "fit") == gain(whole, "fit")
    lines = lines_of(found)
    assert sum("pip install 'evaltune[headroom]'" in line for line in lines) == 1
    assert not any("trees" in line and "pip" not in line for line in lines)


def test_too_few_positions_are_refused(tmp_path):
    with pytest.raises(
        InputError, match="held out: expected at least 200 of both; give more games"
    ):
        measure_sample(
            sample_of(tmp_path / "data", 70, linear, "scores"), "start.yaml", 0.2, Display()
        )


def test_trees_see_the_counts_that_apply_most_often(monkeypatch):
    counts = csr_array(np.array([[1, 0, 2, 0], [1, 0, 0, 1], [3, 1, 0, 0], [1, 0, -1, 1]], float))
    monkeypatch.setattr(trees, "LEAF", 4)
    assert trees.frequent(counts).tolist() == [0, 2, 3]  # the other applies too rarely for a leaf
    monkeypatch.setattr(trees, "MOST_COLUMNS", 2)
    assert trees.frequent(counts).tolist() == [0, 2]
