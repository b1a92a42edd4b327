"""Temporal differences: three derivations of one sum, what they become at the ends of lambda, and
errors not to repeat.

The errors are those of the source documents: a forum post of 2000 (E1, E2) and a dissertation (F1,
F3, F5). Each test builds a game in which the faulty update and the right one have different signs.
"""

import numpy as np
import pytest

from tuner.objectives.temporal import decays, differences, errors, unpredicted_blunders

SCALE = 0.00255


@pytest.fixture
def rng():
    return np.random.default_rng(11)


def game(rng, n=None, columns=4):
    """Coefficients (n, columns), values and outcome of a game."""
    n = n or int(rng.integers(1, 60))
    x = rng.normal(size=(n, columns))
    return x, np.tanh(0.3 * x @ rng.normal(size=columns)), float(rng.choice([-1, 0, 1]))


@pytest.mark.parametrize("lambda_", [0.0, 0.3, 0.7, 0.985, 1.0])
def test_the_scan_is_the_double_sum_and_the_eligibility_trace(rng, lambda_):
    for _ in range(40):
        x, v, z = game(rng)
        n, d = len(v), differences(v, z)
        c = errors(d, lambda_)
        double_sum = [sum(lambda_ ** (m - t) * d[m] for m in range(t, n)) for t in range(n)]
        assert np.abs(c - double_sum).max() < 1e-12
        jacobian = SCALE * (1 - v[:, None] ** 2) * x
        eligibility, backward = np.zeros(x.shape[1]), np.zeros(x.shape[1])
        for t in range(n):
            eligibility = lambda_ * eligibility + jacobian[t]
            backward += d[t] * eligibility
        assert np.abs(jacobian.T @ c - backward).max() < 1e-12


@pytest.mark.parametrize("lambda_", [0.0, 0.6, 0.9, 1.0])
def test_the_error_is_the_lambda_return_less_the_value(rng, lambda_):
    for _ in range(20):
        _, v, z = game(rng)
        n, c = len(v), errors(differences(v, z), lambda_)
        for t in range(n):
            steps = [v[t + m] if t + m < n else z for m in range(1, n - t + 1)]
            found = (1 - lambda_) * sum(
                lambda_ ** (m - 1) * steps[m - 1] for m in range(1, n - t)
            ) + lambda_ ** (n - t - 1) * z
            assert abs(c[t] - (found - v[t])) < 1e-12


def test_an_unfinished_game_ends_with_its_last_value(rng):
    _, v, _ = game(rng, 12)
    assert differences(v, None)[-1] == 0
    assert np.abs(errors(differences(v, None), 1.0) - (v[-1] - v)).max() < 1e-12


def test_positions_left_out_count_their_plies(rng):
    """Own moves alone, with lambda to the power of the plies between, agree with every ply where
    the others add nothing."""
    _, v, z = game(rng, 20)
    every = np.repeat(v, 2)  # the value does not change on the opponent's moves
    plies = np.arange(0, 40, 2)
    whole = errors(differences(every, z), decays(0.8, np.arange(40)))
    own = errors(differences(v, z), decays(0.8, plies))
    assert (
        np.abs(whole[1::2] - own).max() < 1e-12
    )  # every[2t + 1] is the ply whose difference is that of v[t]


def test_a_decay_of_zero_cuts_the_sum_off(rng):
    _, v, z = game(rng, 10)
    decay = np.full(10, 0.7)
    decay[4] = 0
    c = errors(differences(v, z), decay)
    assert np.abs(c[:5] - errors(differences(v[:5], v[5]), 0.7)).max() < 1e-12


def test_the_blunder_rule_never_adds(rng):
    for _ in range(20):
        _, v, z = game(rng)
        predicted = rng.random(len(v)) < 0.5
        d = differences(v, z)
        masked = unpredicted_blunders(d, predicted)
        assert (
            masked.sum() <= d.sum()
            and (masked[predicted] == d[predicted]).all()
            and (masked[~predicted] <= 0).all()
        )
    assert (unpredicted_blunders(d, np.ones(len(d), bool)) == d).all()


def test_e1_the_rule_tests_the_difference_that_it_masks():
    """The published loop tests d[i] before it is set, so that nothing is ever masked: it learns
    from the opponent's mistake."""
    v, z, predicted = np.array([0.0, 0.9, 0.5]), 1.0, np.array([False, True, False])
    faulty = np.zeros(3)
    s = np.append(v, z)
    for i in range(1, 4):
        faulty[i - 1] = s[i] - s[i - 1]
        if i < 3 and faulty[i] > 0 and not predicted[i - 1]:
            faulty[i] = 0
    right = unpredicted_blunders(differences(v, z), predicted)
    assert errors(faulty, 1.0)[0] > 0 > errors(right, 1.0)[0]


def test_e2_weights_change_after_all_derivatives_are_measured():
    """Changed one by one while values are stale, a weight's change counts as another's
    derivative."""
    x, z = np.array([[4.0, -1.0]]), 1.0
    c = errors(differences(np.zeros(1), z), 0.7)

    def faulty(w: np.ndarray) -> np.ndarray:
        stale = np.tanh(SCALE * x @ w)
        for j in range(2):
            w[j] += 1.0
            slope = (np.tanh(SCALE * x @ w) - stale) / 0.01
            w[j] += slope @ c - 1.0
        return w

    right = (SCALE * (1 - np.zeros((1, 1)) ** 2) * x).T @ c
    assert right[1] < 0 < faulty(np.zeros(2))[1]


def test_f1_lambda_zero_is_the_next_value_and_one_the_result():
    v, z = np.array([0.2, 0.6, 0.7]), -1.0  # values rose, but the game was lost
    d = differences(v, z)
    swapped = {0.0: errors(d, 1.0)[0], 1.0: errors(d, 0.0)[0]}
    assert errors(d, 0.0)[0] > 0 > swapped[0.0]
    assert errors(d, 1.0)[0] < 0 < swapped[1.0]


def test_f3_the_result_is_part_of_the_sum():
    v, z = np.array([0.1, 0.2, 0.3]), -1.0
    dropped = errors(differences(v, z)[:-1], 0.9)
    assert errors(differences(v, z), 0.9)[0] < 0 < dropped[0]


def test_f5_an_error_belongs_to_its_own_position_not_to_the_next():
    """The published code drops the wrong end of a reversed list and pairs each error with its
    successor's gradient."""
    x, v, z = np.array([[1.0], [-1.0], [1.0]]), np.array([0.0, 0.1, 0.0]), 0.0
    c = errors(differences(v, z), 0.0)
    slopes = (1 - v[:, None] ** 2) * x
    right, faulty = (slopes.T @ c)[0], (slopes[1:].T @ c[:-1])[0]
    assert right > 0 > faulty
