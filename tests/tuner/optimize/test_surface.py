import numpy as np
from scipy.optimize import minimize

from tests.tuner.optimize.simulation import scores, strength
from tuner.core.estimates import ELO
from tuner.optimize.local import CURVE, Data, Surface, grid

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
