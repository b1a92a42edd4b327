"""Ratings of tournaments and pools, against a logistic regression of statsmodels with errors
clustered by pairs, ordinary least squares, planted ratings, and players who won or lost
everything."""

import itertools
import math

import numpy as np
import pytest
from scipy.stats import beta

from tuner.core.estimates import ELO
from tuner.statistics.pentanomial import elo_of, score_of, summarise
from tuner.statistics.ratings import (
    AT_LEAST,
    AT_MOST,
    ESTIMATED,
    GIVEN,
    LOGISTIC,
    POINTS_A_GAME,
    UNKNOWN,
    CountedMatch,
    PairsBetween,
    joint_ratings,
    ratings_of,
)


def played(rng: np.random.Generator, true, pairs: int, draws=0.5) -> list[PairsBetween]:
    """Pairs of games between all players, so many of each pairing."""
    found = []
    for a, b in itertools.combinations(range(len(true)), 2):
        score = score_of(true[a] - true[b])
        drawn = draws * 2 * min(score, 1 - score)
        results = rng.choice(
            [1, 0.5, 0], (pairs, 2), p=[score - drawn / 2, drawn, 1 - score - drawn / 2]
        )
        found.append(PairsBetween(a, b, results.mean(1)))
    return found


def regression(matches: list[PairsBetween], players: int, family) -> tuple[np.ndarray, np.ndarray]:
    """Coefficients with mean 0 and their covariances by statsmodels, a row for each pair."""
    import statsmodels.api as sm

    rows = [
        (np.eye(players)[each.a] - np.eye(players)[each.b], result)
        for each in matches
        for result in each.results
    ]
    design, results = (np.array(column) for column in zip(*rows, strict=True))
    fit = sm.GLM(results, design[:, 1:], family=family).fit(
        cov_type="cluster", cov_kwds={"groups": np.arange(len(results))}
    )
    centre = np.eye(players) - 1 / players
    values, covariance = np.zeros(players), np.zeros((players, players))
    values[1:], covariance[1:, 1:] = fit.params, fit.cov_params()
    return centre @ values, centre @ covariance @ centre


@pytest.mark.parametrize(("players", "pairs"), [(2, 30), (4, 10), (10, 22)])
def test_ratings_and_errors_are_those_of_a_logistic_regression(players, pairs):
    import statsmodels.api as sm

    rng = np.random.default_rng(3)
    matches = played(rng, rng.normal(0, 120, players), pairs)
    rated = ratings_of(players, matches, LOGISTIC)
    values, covariance = regression(matches, players, sm.families.Binomial())
    assert rated.values == pytest.approx(ELO * values, abs=1e-6)
    assert rated.covariance == pytest.approx(ELO**2 * covariance, rel=1e-6, abs=1e-6)


def test_points_a_game_are_those_of_least_squares():
    import statsmodels.api as sm

    rng = np.random.default_rng(4)
    matches = [
        PairsBetween(a, b, rng.normal(b - a, 1.5, 20))
        for a, b in itertools.combinations(range(5), 2)
    ]
    rated = ratings_of(5, matches, POINTS_A_GAME)
    values, covariance = regression(matches, 5, sm.families.Gaussian())
    assert rated.values == pytest.approx(values)
    assert rated.covariance == pytest.approx(covariance, rel=1e-6, abs=1e-9)


def test_a_tournament_of_two_is_their_match():
    pairs = (13, 40, 62, 57, 28)
    results = np.repeat([0, 0.25, 0.5, 0.75, 1], pairs)
    rated = ratings_of(2, [PairsBetween(0, 1, results)], LOGISTIC, {1: 3000})
    elo, match = summarise(pairs).elo, rated.values[0] - 3000
    assert match == pytest.approx(elo.value) and rated.rating(0).half_width == pytest.approx(
        elo.half_width, rel=0.02
    )
    assert rated.superiority(0, 1) == pytest.approx(summarise(pairs).los, abs=0.002)
    assert rated.how == [ESTIMATED, GIVEN] and rated.rating(1).half_width == 0


def test_given_ratings_are_kept_and_the_others_fitted_to_them():
    rng = np.random.default_rng(5)
    true = np.array([2100.0, 2000, 2200, 2400])
    matches = [each for each in played(rng, true, 400) if each.a == 0]
    rated = ratings_of(4, matches, LOGISTIC, {1: 2000, 2: 2200, 3: 2400})
    assert list(rated.values[1:]) == [2000, 2200, 2400]
    assert abs(rated.values[0] - 2100) < rated.rating(0).half_width < 20
    expected = sum(score_of(rated.values[0] - true[i]) for i in (1, 2, 3))
    assert expected == pytest.approx(sum(each.results.mean() for each in matches))


def test_who_won_everything_is_rated_at_least_so_high():
    """0 beats 1, and both beat 2 and 3, who also lose everything to 4, who has beaten nobody else.
    Winning n games against a player is 5 % likely at one rating: that is the bound."""
    won = np.ones(5)
    level = PairsBetween(2, 3, np.array([0.5, 1, 0, 0.5, 0.25]))
    matches = [
        *(PairsBetween(a, b, won) for a, b in ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3))),
        level,
    ]
    rated = ratings_of(5, matches, LOGISTIC)
    assert rated.how == [AT_LEAST, AT_LEAST, ESTIMATED, ESTIMATED, UNKNOWN]
    assert math.isnan(rated.values[4]) and math.isnan(rated.rating(0).half_width)
    assert rated.values[2] + rated.values[3] == pytest.approx(0)
    likelihood = math.prod(score_of(rated.values[1] - rated.values[i]) ** 10 for i in (2, 3))
    assert likelihood == pytest.approx(0.05)
    assert rated.middles[0] > rated.middles[1] > rated.middles[2]
    assert rated.superiority(0, 1) == pytest.approx(beta.sf(0.5, 5 + 1, 1))
    assert rated.superiority(1, 0) == pytest.approx(beta.cdf(0.5, 5 + 1, 1))
    assert rated.superiority(0, 4) is None
    turned = [PairsBetween(each.a, each.b, 1 - each.results) for each in matches]
    lost = ratings_of(5, turned, LOGISTIC)
    assert lost.how == [AT_MOST, AT_MOST, ESTIMATED, ESTIMATED, UNKNOWN]
    assert lost.values[1] == pytest.approx(-rated.values[1])


def test_who_won_everything_against_players_far_apart_is_placed_above_both():
    won = [PairsBetween(0, i, np.ones(9)) for i in (1, 2)]
    rated = ratings_of(3, won, LOGISTIC, {1: -10_000, 2: 10_000})
    assert rated.how[0] == AT_LEAST and rated.values[0] > 10_000


def test_pairs_that_do_not_differ_give_no_interval():
    rated = ratings_of(2, [PairsBetween(0, 1, np.full(9, 0.5))], LOGISTIC)
    assert math.isnan(rated.rating(0).half_width) and rated.superiority(0, 1) is None
    assert list(rated.values) == [0, 0]
    nobody = ratings_of(3, [], LOGISTIC)
    assert nobody.how == [ESTIMATED, UNKNOWN, UNKNOWN] and math.isnan(nobody.rating(0).half_width)


def test_a_far_rating_is_found():
    results = np.concatenate([np.ones(999), [0.5]])
    rated = ratings_of(2, [PairsBetween(0, 1, results)], LOGISTIC)
    assert rated.values[0] - rated.values[1] == pytest.approx(elo_of(0.9995))


def value_and_error(ratings, a, b):
    found = ratings.difference(a, b)
    return found.value, found.standard_error


def test_joint_ratings_are_those_of_all_matches_together():
    rng = np.random.default_rng(5)
    names, true = ["a", "b", "c"], (0.0, 35.0, -20.0)
    between = played(rng, true, 200)
    matches = [
        CountedMatch(names[a], names[b], np.bincount((4 * results).astype(int), minlength=5))
        for a, b, results in between
    ]
    ratings, rated = joint_ratings(matches), ratings_of(3, between, LOGISTIC)
    assert ratings.players == names
    found, error = value_and_error(ratings, "b", "a")
    assert found == pytest.approx(rated.values[1] - rated.values[0])
    assert error == pytest.approx(rated.between(0, 1).standard_error) and 5 < error < 20
    assert abs(found - 35) < 2.5 * error
    alone, wider = value_and_error(joint_ratings(matches[:1]), "b", "a")
    assert wider > error and alone == pytest.approx(-summarise(matches[0].pairs).elo.value)


@pytest.mark.parametrize("pairs", [(0, 0, 0, 0, 20), (0, 0, 20, 0, 0), (20, 0, 0, 0, 0)])
def test_a_match_without_spread_has_a_finite_difference_and_error(pairs):
    found, error = value_and_error(joint_ratings([CountedMatch("a", "b", pairs)]), "a", "b")
    assert math.isfinite(found) and 10 < error < 300
    sign = pairs[-1] - pairs[0]
    assert found == pytest.approx(0, abs=1e-6) if not sign else 200 < found * sign / 20 < 1000
