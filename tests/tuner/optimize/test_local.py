import math

import numpy as np
from scipy.optimize import minimize

from tests.tuner.optimize.simulation import numbers_of, scores, strength
from tuner.core.estimates import ELO, Estimate
from tuner.optimize.local import CURVE, Data, Local, Surface, grid
from tuner.optimize.numbers import Number
from tuner.results.optimized import TunedEstimate, TunedNumber

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


PAIRS = 3000


def fitted(kind="correlated", size=2, seed=0, fits=1):
    generator = np.random.default_rng(seed)
    elo, _ = strength(kind, size, seed)
    a, b = generator.uniform(-0.5, 0.5, (2, PAIRS, size))
    data = Data(a, b, scores(elo(a) - elo(b), generator), np.zeros((PAIRS, size + 1)))
    surface, weights = Surface(size), generator.uniform(0.3, 1, PAIRS)
    for _ in range(fits):
        widths, variance = surface.widths.copy(), surface.variance
        surface.fit(data, weights, np.zeros(size), np.full(size, 0.2))
    return surface, data, weights, widths, variance


def test_the_mean_is_that_of_a_logistic_regression_with_normal_priors():
    surface, data, weights, _, before = fitted(fits=60)
    assert abs(surface.variance / before - 1) < 1e-6, "it converged"
    x = surface.difference(data.a, data.b, data.shifts)
    centre = np.where(surface.groups == CURVE, surface.curve, 0.0)
    precision = surface.widths[surface.groups] ** -2

    def loss(z):
        c = centre + z / precision**0.5
        elo, off = x @ c / ELO, c - centre
        share = weights / (4 * surface.variance)
        likelihood = share * (np.logaddexp(0, elo) - data.scores * elo)
        slope = x.T @ (share * (1 / (1 + np.exp(-elo)) - data.scores)) / ELO
        value = likelihood.sum() + (precision * off**2).sum() / 2
        return value, (slope + precision * off) / precision**0.5

    start = np.zeros(len(centre))
    best = centre + minimize(loss, start, jac=True, options={"gtol": 1e-7}).x / precision**0.5
    errors = surface.covariance.diagonal() ** 0.5
    assert (np.abs(surface.mean - best) < 0.02 * errors).all()


def test_kinks_are_found_where_strength_has_some():
    shapes = {
        "kinked": lambda u: -300 * np.abs(u[:, 0] - 0.1),
        "smooth": lambda u: -400 * (u[:, 0] - 0.1) ** 2,
    }
    found = dict.fromkeys(shapes, 0)
    for name, elo in shapes.items():
        for seed in range(8):
            generator = np.random.default_rng(seed)
            a, b = generator.uniform(-0.4, 0.4, (2, PAIRS, 1))
            data = Data(a, b, scores(elo(a) - elo(b), generator), np.zeros((PAIRS, 2)))
            surface = Surface(1)
            surface.fit(data, np.ones(PAIRS), np.zeros(1), np.full(1, 0.2))
            found[name] += surface.kinked
    assert found["kinked"] >= 7 and found["smooth"] <= 2, found


def test_the_highest_place_is_that_of_another_optimiser():
    surface, *_ = fitted(size=3)
    for coefficients in surface.draws(10, np.random.default_rng(1)):
        grids = [grid(-1.0, 1.0, 0.0, 0.2)] * 3

        def lost(u, coefficients=coefficients):
            return -surface.strength(coefficients[None], u[None])[0]

        starts = np.random.default_rng(2).uniform(-1, 1, (30, 3))
        others = [minimize(lost, u, method="Nelder-Mead", bounds=[(-1, 1)] * 3) for u in starts]
        found = surface.best(coefficients[None], np.zeros(3), grids)[0]
        local = minimize(lost, found, method="Nelder-Mead", bounds=[(-1, 1)] * 3)
        assert lost(found) - local.fun < 2, "Elo: hardly a higher place beside it"
        assert lost(found) <= np.median([other.fun for other in others]) + 2


def test_draws_have_the_covariance_of_the_posterior():
    surface, *_ = fitted()
    drawn = surface.draws(20_000, np.random.default_rng(3))
    spread = drawn.std(0) / surface.covariance.diagonal() ** 0.5
    assert np.abs(spread - 1).max() < 0.05
    half = surface.draws(20_000, np.random.default_rng(3), 0.25)
    assert np.allclose(half - surface.mean, (drawn - surface.mean) / 2)


def test_numbers_of_unknown_worth_are_between_gains_and_losses():
    worth = {"lost": -1.0, "unknown": math.nan, "most": 2.0, "some": 1.0}
    numbers = [TunedNumber(name, 0.0, worth=Estimate(value)) for name, value in worth.items()]
    ordered = TunedEstimate(10, 20, numbers=numbers).by_worth
    assert [one.name for one in ordered] == ["most", "some", "unknown", "lost"]
