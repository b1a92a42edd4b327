"""The sequential test: likelihoods against a general optimizer and other programs, errors against
simulation."""

import math
import re

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax
from scipy.stats import binom

from tests.support import refusal
from tests.tuner.statistics.support import POINTS as SCORES
from tests.tuner.statistics.support import shares_of
from tuner.statistics.sprt import (
    LARGEST_ELO,
    LIKELIEST,
    POINTS,
    Sprt,
    decide,
    expected_pairs_left,
    likeliest_of_points,
    log_likelihood_ratio,
)

CHECKED = [
    ((12, 55, 130, 68, 15), 0, 5),
    ((40, 200, 520, 260, 50), 0, 5),
    ((0, 2, 15, 5, 8), 0, 20),
    ((3, 0, 9, 0, 40), -30, 10),
    ((90, 40, 30, 20, 10), 0, 3),
    ((0, 0, 3, 0, 0), -60, 60),
    ((1, 1, 1, 1, 1), 100, 200),
]
# from the tests of fastchess (app/tests/sprt_test.cpp), there to 1 %
FASTCHESS = [
    ("normalized", (365, 16618, 36229, 16974, 390), 0, 2, 2.25),
    ("normalized", (127, 4883, 10712, 5150, 104), -1.75, 0.25, 3.01),
    ("logistic", (223, 9863, 21279, 10037, 246), 0.5, 2.5, -3.07),
    ("logistic", (871, 26175, 55983, 26678, 821), 0, 2, -4.98),
]


def best_by_search(model: str, pairs, elo: float) -> float:
    """Highest log-likelihood of the pairs at `elo`: sequential quadratic programming over the
    logarithms of the shares."""
    counts = np.where(np.array(pairs) == 0, 1e-3, pairs)
    seen = counts / counts.sum()

    def strength(logarithms):
        shares = softmax(logarithms)
        mean = shares @ SCORES
        if model == "logistic":
            return mean - 1 / (1 + 10 ** (-elo / 400))
        return (
            mean - 0.5 - elo * math.log(10) / 800 * math.sqrt(2 * (shares @ (SCORES - mean) ** 2))
        )

    found = minimize(
        lambda logarithms: -(seen @ log_softmax(logarithms)),
        np.log(shares_of(elo, model)),
        method="SLSQP",
        jac=lambda logarithms: softmax(logarithms) - seen,
        options={"ftol": 1e-14, "maxiter": 2000},
        constraints=[{"type": "eq", "fun": strength}],
    )
    assert abs(strength(found.x)) < 1e-8
    return -found.fun * counts.sum()


@pytest.mark.parametrize("model", sorted(LARGEST_ELO))
@pytest.mark.parametrize("pairs, elo0, elo1", CHECKED)
def test_ratio_is_that_of_the_likeliest_distributions_an_optimiser_finds(model, pairs, elo0, elo1):
    expected = best_by_search(model, pairs, elo1) - best_by_search(model, pairs, elo0)
    assert log_likelihood_ratio(Sprt(elo0, elo1, model=model), pairs) == pytest.approx(
        expected, abs=1e-7
    )


@pytest.mark.parametrize("model, pairs, elo0, elo1, llr", FASTCHESS)
def test_ratio_is_that_of_fastchess(model, pairs, elo0, elo1, llr):
    assert log_likelihood_ratio(Sprt(elo0, elo1, model=model), pairs) == pytest.approx(
        llr, abs=0.006
    )


@pytest.mark.parametrize("elo", [2, 5, 80, 200])
def test_ratio_of_wins_alone_is_the_closed_form(elo):
    """Whoever wins every pair is likeliest a player that wins or loses both, at even chances under
    elo 0."""
    t = math.sqrt(2) * elo * math.log(10) / 800
    chances = {
        "normalized": (1 + t / math.sqrt(1 + t * t)) / 2,
        "logistic": 1 / (1 + 10 ** (-elo / 400)),
    }
    for model, chance in chances.items():
        found = log_likelihood_ratio(Sprt(0, elo, model=model), (0, 0, 0, 0, 104))
        assert found == pytest.approx(104 * math.log(2 * chance), rel=1e-3)


@pytest.mark.parametrize(
    "pairs, approximate, logistic, normalized",
    [
        ((12, 55, 130, 68, 15), 0.525, 0.5219, 0.3673),
        ((40, 200, 520, 260, 50), 2.44, 2.4208, 1.6341),
    ],
)
def test_published_check_values_are_the_normal_approximation_of_the_logistic_model(
    pairs, approximate, logistic, normalized
):
    """0.525 and 2.44 are n (s1 - s0) (2 s - s0 - s1) / (2 variance) (Van den Bergh, GSPRT
    approximation), not the ratio."""
    pairs = np.array(pairs)
    n, s0, s1 = pairs.sum(), 0.5, 1 / (1 + 10 ** (-5 / 400))
    s = pairs @ SCORES / n
    variance = pairs @ (SCORES - s) ** 2 / n
    assert n * (s1 - s0) * (2 * s - s0 - s1) / (2 * variance) == pytest.approx(
        approximate, abs=0.005
    )
    exact = log_likelihood_ratio(Sprt(0, 5, model="logistic"), pairs)
    assert exact == pytest.approx(logistic, abs=1e-4) and exact == pytest.approx(
        approximate, rel=0.01
    )
    assert log_likelihood_ratio(Sprt(0, 5), pairs) == pytest.approx(normalized, abs=1e-4)


@pytest.mark.parametrize("model", sorted(LARGEST_ELO))
@pytest.mark.parametrize("elo", [-190, -20, 0, 7, 60, 190])
def test_likeliest_distribution_has_the_strength_asked_for(model, elo):
    seen = [0.1, 0.05, 0.4, 0.25, 0.2]
    found = np.array(LIKELIEST[model](seen, elo))
    assert (found > 0).all() and found.sum() == pytest.approx(1)
    mean = found @ SCORES
    if model == "logistic":
        assert 400 * math.log10(mean / (1 - mean)) == pytest.approx(elo, abs=1e-6)
    else:
        deviation = math.sqrt(2 * (found @ (SCORES - mean) ** 2))
        assert (mean - 0.5) / deviation * 800 / math.log(10) == pytest.approx(elo, abs=1e-3)


@pytest.mark.parametrize("model", sorted(LARGEST_ELO))
def test_any_counts_have_a_ratio(model):
    random = np.random.default_rng(3)
    spread = [
        random.multinomial(10 ** random.integers(0, 7), random.dirichlet([0.1] * 5))
        for _ in range(150)
    ]
    alone = [np.eye(5, dtype=int)[kind] * 10**power for kind in range(5) for power in range(7)]
    for pairs in (*spread, *alone):
        for elo0, elo1 in ((0, 5), (-200, 200)):
            llr = log_likelihood_ratio(Sprt(elo0, elo1, model=model), pairs.tolist())
            assert math.isfinite(llr)
            mirrored = log_likelihood_ratio(Sprt(-elo1, -elo0, model=model), pairs[::-1].tolist())
            assert mirrored == pytest.approx(-llr, rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("model", sorted(LARGEST_ELO))
def test_no_pairs_say_nothing_and_wins_speak_for_elo1(model):
    test = Sprt(0, 10, model=model)
    assert log_likelihood_ratio(test, (0, 0, 0, 0, 0)) == 0
    assert (
        log_likelihood_ratio(test, (0, 0, 0, 0, 1))
        > 0
        > log_likelihood_ratio(test, (0, 1, 0, 0, 0))
    )


def test_bounds_and_decisions():
    test = Sprt(0, 5)
    assert test.bounds == pytest.approx((-2.9444, 2.9444), abs=1e-4)
    assert Sprt(0, 5, alpha=0.01, beta=0.1).bounds == pytest.approx(
        (math.log(0.1 / 0.99), math.log(0.9 / 0.01))
    )
    assert [decide(test, llr) for llr in (-3, -2.9, 0, 2.9, 3)] == ["H0", None, None, None, "H1"]


@pytest.mark.parametrize(
    "change, complaint",
    [
        ({"model": "bayesian"}, "unknown SPRT model 'bayesian'; available: logistic, normalized"),
        ({"elo0": 5}, "from elo0 5 to elo1 5: elo0 must be less than elo1"),
        ({"elo1": math.nan}, "elo0 must be less than elo1"),
        ({"elo1": 300}, "the normalized model takes -200 to 200"),
        ({"elo0": -2000, "model": "logistic"}, "the logistic model takes -1000 to 1000"),
        ({"alpha": 0}, "both must be positive, their sum less than 1"),
        ({"alpha": 0.5, "beta": 0.5}, "both must be positive, their sum less than 1"),
    ],
)
def test_a_test_that_makes_no_sense_is_refused_in_one_line(change, complaint):
    assert re.search(complaint, refusal(Sprt, **{"elo0": 0, "elo1": 5, **change}))


RUNS, STEP, LONGEST = 1000, 16, 1500
SIMULATED = [("logistic", 0, 30), ("normalized", 0, 50)]


def wrong_decisions(test: Sprt, narrow: Sprt, truth: str, seed: int) -> tuple[int, int]:
    """Of RUNS tests with pairs drawn at elo0 or elo1, how many accept the other: with the bounds of
    `test`, and of `narrow`.

    The ratio is looked at after every STEP pairs, which overshoots the bounds: errors come out
    below alpha and beta, at about 3 % instead of 5 %."""
    random = np.random.default_rng(seed)
    shares = shares_of(test.elo0 if truth == "H0" else test.elo1, test.model)
    drawn = random.multinomial(STEP, shares, size=(RUNS, LONGEST // STEP)).cumsum(axis=1).tolist()
    wrong = {test: 0, narrow: 0}
    for run in drawn:
        going = [narrow, test]  # in the order in which they end
        for pairs in run:
            llr = log_likelihood_ratio(test, pairs)
            while going and (decision := decide(going[0], llr)):
                wrong[going.pop(0)] += decision != truth
            if not going:
                break
        assert not going, "a test did not end"
    return wrong[test], wrong[narrow]


@pytest.mark.parametrize("truth", ["H0", pytest.param("H1", marks=pytest.mark.long)])
@pytest.mark.parametrize(
    "model, elo0, elo1", [SIMULATED[0], pytest.param(*SIMULATED[1], marks=pytest.mark.long)]
)
def test_no_more_than_5_percent_of_tests_decide_wrongly(model, elo0, elo1, truth):
    """At a true rate of 8 % the limit of 62 in 1,000 is kept once in 55 simulations; with wider
    errors it is seen not to be."""
    limit = binom.ppf(0.95, RUNS, 0.05)
    assert binom.cdf(limit, RUNS, 0.08) < 0.02
    wrong, wrong_at_15 = wrong_decisions(
        Sprt(elo0, elo1, model=model), Sprt(elo0, elo1, 0.15, 0.15, model), truth, seed=4
    )
    assert 0 < wrong <= limit < wrong_at_15


@pytest.mark.long
def test_what_is_left_is_expected_from_what_the_test_makes_of_many_pairs():
    """The mean over tests that go on: at either hypothesis, and half-way between, where tests are
    the longest and less than that is expected."""
    test, begun = Sprt(0, 40), 40
    for elo, low, high in ((0, 0.7, 1.4), (40, 0.7, 1.4), (20, 0.4, 1.1)):
        shares, dice = shares_of(elo, "normalized"), np.random.default_rng(3)
        expected, needed = [], []
        for _ in range(80):
            pairs, seen, decided = np.zeros(5, int), 0, None
            while decided is None:
                pairs += np.bincount(dice.choice(5, 10, p=shares), minlength=5)
                seen += 10
                decided = decide(test, log_likelihood_ratio(test, pairs.tolist()))
                if seen == begun and decided is None:
                    expected.append(expected_pairs_left(test, pairs.tolist()))
            if seen > begun:
                needed.append(seen - begun)
        assert low <= np.mean(expected) / np.mean(needed) <= high, elo
    far = expected_pairs_left(test, (1000, 3000, 6000, 3000, 1000))
    assert far == 0.0  # decided long ago
    assert expected_pairs_left(test, (0, 0, 9, 0, 0)) is None
    assert expected_pairs_left(test, (1, 2, 3, 2, 1)) is None
    near, early = (
        expected_pairs_left(test, pairs) for pairs in ((9, 30, 60, 50, 28), (2, 5, 9, 6, 2))
    )
    assert near < early


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
    assert (
        refusal(Sprt, 0.0, 5.0, model=POINTS, points=MOST)
        == "SPRT from 0 to 5 points a game: expected -2.7 to 2.7, as a game wins 3 at most, such as"
        " 0 and 0.05"
    )


def test_hypotheses_in_the_wrong_order_are_refused_in_points():
    assert re.search(
        "^SPRT from 0.05 to 0 points a game: the first must be less than the second$",
        refusal(Sprt, 0.05, 0.0, model=POINTS, points=MOST),
    )
