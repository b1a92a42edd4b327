"""The SPRT in points a game: the likeliest distributions by another optimizer, and the error rates
of simulated matches."""

import numpy as np
import pytest
from scipy.optimize import minimize

from games.streams import InputError
from tuner.statistics.sprt import POINTS, Sprt, decide, likeliest_of_points, log_likelihood_ratio

MOST = 3
PAIR_POINTS = np.arange(-2 * MOST, 2 * MOST + 1)
SHARES = np.array([1, 1, 6, 5, 20, 4, 60, 4, 20, 5, 6, 1, 1]) / 134


def tilted(points: float) -> np.ndarray:
    """SHARES with an exponential weight, of these points a game."""
    low, high = -5.0, 5.0
    for _ in range(200):
        slope = (low + high) / 2
        shares = SHARES * np.exp(slope * PAIR_POINTS)
        shares /= shares.sum()
        low, high = (slope, high) if shares @ PAIR_POINTS / 2 < points else (low, slope)
    return shares


@pytest.mark.parametrize("points", [-0.3, 0.0, 0.2])
def test_the_likeliest_shares_are_those_of_another_optimiser(points):
    found = np.array(likeliest_of_points(SHARES.tolist(), points))
    assert found @ PAIR_POINTS / 2 == pytest.approx(
        points, abs=1e-9
    ) and found.sum() == pytest.approx(1)
    best = minimize(
        lambda p: -SHARES @ np.log(p),
        np.full(13, 1 / 13),
        bounds=[(1e-9, 1)] * 13,
        options={"maxiter": 500},
        constraints=[
            {"type": "eq", "fun": lambda p: p.sum() - 1},
            {"type": "eq", "fun": lambda p: p @ PAIR_POINTS / 2 - points},
        ],
    )
    assert found == pytest.approx(best.x, abs=1e-3) and SHARES @ np.log(found) > -best.fun - 1e-7


@pytest.mark.parametrize(("points", "wrong"), [(0.0, "H1"), (0.4, "H0")])
def test_wrong_decisions_are_as_rare_as_promised(points, wrong):
    test, random = Sprt(0.0, 0.4, model=POINTS, points=MOST), np.random.default_rng(2)
    decisions = []
    for _ in range(60):
        counts = np.zeros(13, np.int64)
        while True:
            counts += random.multinomial(10, tilted(points))
            if decision := decide(test, log_likelihood_ratio(test, counts)):
                decisions.append(decision)
                break
    assert decisions.count(wrong) <= 8  # of 60 at 5 %: less likely than 1 in 100


def test_hypotheses_beyond_what_a_game_wins_are_refused():
    with pytest.raises(InputError) as caught:
        Sprt(0.0, 5.0, model=POINTS, points=MOST)
    assert (
        str(caught.value)
        == "SPRT from 0 to 5 points a game: expected -2.7 to 2.7, as a game wins 3 at most, such as"
        " 0 and 0.05"
    )


def test_hypotheses_in_the_wrong_order_are_refused_in_points():
    with pytest.raises(
        InputError,
        match="^SPRT from 0.05 to 0 points a game: the first must be less than the second$",
    ):
        Sprt(0.05, 0.0, model=POINTS, points=MOST)
