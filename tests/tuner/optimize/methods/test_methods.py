import numpy as np
import pytest

from tests.tuner.optimize.simulation import numbers_of, scores, strength
from tuner.optimize.methods import METHODS
from tuner.optimize.numbers import Number

NOISE = 400  # pairs


def play(method, pairs, elo=None, seed=0):
    """Play pairs one after the other; without a function of strength all settings are equal."""
    generator = np.random.default_rng(seed)
    for pair in range(pairs):
        a, b = method.proposal(pair)
        difference = np.zeros(1) if elo is None else elo(a[None]) - elo(b[None])
        method.add(pair, a, b, scores(difference, generator)[0])
    return method


@pytest.mark.parametrize("name", METHODS)
def test_the_same_pairs_give_the_same_proposals(name):
    numbers, generator = numbers_of(3), np.random.default_rng(1)
    first, second = (METHODS[name](numbers, 500, 7) for _ in range(2))
    for pair in range(60):
        a, b = first.proposal(pair)
        score = generator.integers(5) / 4
        first.add(pair, a, b, score)
        if pair % 20 == 0:
            first.estimate()
        second.add(pair, a, b, score)  # as a run that goes on does: it proposes nothing before
    for mine, other in zip(first.proposal(60), second.proposal(60), strict=True):
        assert np.array_equal(mine, other)
    assert np.array_equal(first.best(), second.best())


@pytest.mark.parametrize("name", METHODS)
def test_values_stay_within_their_limits(name):
    numbers = [
        Number("at the end", True, 10, 0, 10, 2, 0.05),
        Number("small", False, 0.1, 0.0, 0.2, 0.02, 0.05),
    ]
    method = METHODS[name](numbers, 200, 1)

    def elo(u):  # best beyond the limits
        return 50 * u[:, 0] - 300 * u[:, 1]

    play(method, 120, elo)
    low, high = np.array([(number.low, number.high) for number in numbers]).T
    for values in (*method.proposal(120), method.best(), *method.estimate()[:3]):
        assert ((low <= values) & (values <= high)).all()
    e = method.estimate()
    assert (e.low <= e.best).all() and (e.best <= e.high).all()


def test_spsa_has_the_schedule_of_fishtest():
    pairs, numbers = (
        50,
        [Number("x", False, 0.0, -9, 9, 0.2, 0.1), Number("y", False, 1, -9, 9, 1, 0.02)],
    )
    method, theta = METHODS["spsa"](numbers, pairs, 3), np.array([0.0, 1.0])
    c_end, r_end = np.array([0.2, 1.0]), np.array([0.1, 0.02])
    a_end = r_end * c_end**2
    for k in range(1, pairs + 11):
        up, down = method.proposal(k - 1)
        c_k = c_end * pairs**0.101 / k**0.101
        r_k = a_end * (0.1 * pairs + pairs) ** 0.602 / (0.1 * pairs + k) ** 0.602 / c_k**2
        assert np.allclose((up + down) / 2, theta) and np.allclose(abs(up - down) / 2, c_k)
        if k == pairs:
            assert np.allclose(c_k, c_end) and np.allclose(r_k, r_end)
        wins, losses = [(2, 0), (1, 0), (1, 1), (0, 1), (0, 2)][k % 5]
        method.add(k - 1, up, down, 0.5 + (wins - losses) / 4)
        theta = theta + r_k * c_k * (wins - losses) * np.sign(up - down)
        assert np.allclose(method.best(), theta)


@pytest.mark.parametrize("name", METHODS)
def test_numbers_without_effect_are_said_to_have_none(name):
    e = play(METHODS[name](numbers_of(2), NOISE, 5), NOISE).estimate()
    assert abs(e.gain.value) <= 2.6 * e.gain.standard_error
    assert (abs(e.worth) <= 2.6 * e.worth_error).all()
    assert (abs(e.cost) <= 2.6 * e.cost_error).all()


def test_what_matters_is_told_from_what_does_not():
    def elo(u):
        return -400 * (u[:, 0] - 0.4) ** 2

    e = play(METHODS["local"](numbers_of(2), 2000, 2), 2000, elo).estimate()
    assert abs(e.best[0] - 0.4) < 0.15 and e.low[0] < 0.4 < e.high[0]
    assert e.worth[0] - 1.96 * e.worth_error[0] > 20
    assert e.cost[0] - 1.96 * e.cost_error[0] > 0 and e.cost[1] < e.cost[0] / 3
    assert e.high[1] - e.low[1] > 3 * (e.high[0] - e.low[0])
    assert abs(e.gain.value - 64) < 2.5 * e.gain.standard_error and e.left_later < e.left


def test_few_pairs_are_not_trusted():
    e = play(METHODS["local"](numbers_of(2), 100, 2), 10).estimate()
    assert e.doubt == "there are too few pairs" and np.array_equal(e.best, [0, 0])


def test_simulated_strength_is_lost_where_it_says():
    for kind in ("quadratic", "correlated", "flat"):
        elo, best = strength(kind, 3, 1)
        assert abs(elo(best[None])[0]) < 1e-9 and abs(elo(np.zeros((1, 3)))[0] + 60) < 1e-6
