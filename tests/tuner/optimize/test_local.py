import numpy as np

from tests.tuner.optimize.simulation import numbers_of, scores, strength
from tuner.optimize.local import Local
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


def test_the_same_pairs_give_the_same_proposals():
    numbers, generator = numbers_of(3), np.random.default_rng(1)
    first, second = (Local(numbers, 7) for _ in range(2))
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


def test_values_stay_within_their_limits():
    numbers = [
        Number("at the end", True, 10, 0, 10, 2, 0.05),
        Number("small", False, 0.1, 0.0, 0.2, 0.02, 0.05),
    ]
    method = Local(numbers, 1)

    def elo(u):  # best beyond the limits
        return 50 * u[:, 0] - 300 * u[:, 1]

    play(method, 120, elo)
    low, high = np.array([(number.low, number.high) for number in numbers]).T
    for values in (*method.proposal(120), method.best(), *method.estimate()[:3]):
        assert ((low <= values) & (values <= high)).all()
    e = method.estimate()
    assert (e.low <= e.best).all() and (e.best <= e.high).all()


def test_numbers_without_effect_are_said_to_have_none():
    e = play(Local(numbers_of(2), 5), NOISE).estimate()
    assert abs(e.gain.value) <= 2.6 * e.gain.standard_error
    assert (abs(e.worth) <= 2.6 * e.worth_error).all()
    assert (abs(e.cost) <= 2.6 * e.cost_error).all()


def test_what_matters_is_told_from_what_does_not():
    def elo(u):
        return -400 * (u[:, 0] - 0.4) ** 2

    e = play(Local(numbers_of(2), 2), 2000, elo).estimate()
    assert abs(e.best[0] - 0.4) < 0.15 and e.low[0] < 0.4 < e.high[0]
    assert e.worth[0] - 1.96 * e.worth_error[0] > 20
    assert e.cost[0] - 1.96 * e.cost_error[0] > 0 and e.cost[1] < e.cost[0] / 3
    assert e.high[1] - e.low[1] > 3 * (e.high[0] - e.low[0])
    assert abs(e.gain.value - 64) < 2.5 * e.gain.standard_error and e.left_later < e.left


def test_few_pairs_are_not_trusted():
    e = play(Local(numbers_of(2), 2), 10).estimate()
    assert e.doubt == "there are too few pairs" and np.array_equal(e.best, [0, 0])


def test_simulated_strength_is_lost_where_it_says():
    for kind in ("quadratic", "correlated", "flat"):
        elo, best = strength(kind, 3, 1)
        assert abs(elo(best[None])[0]) < 1e-9 and abs(elo(np.zeros((1, 3)))[0] + 60) < 1e-6
