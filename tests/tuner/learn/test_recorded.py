"""The scale of recorded scores: recovered from simulated games, its errors, and refusals; blends
and the filter."""

import numpy as np
import pytest
from scipy.optimize import curve_fit

from tests.support import refusal
from tuner.datasets.dataset import BLOCK
from tuner.learn.scores import (
    blended,
    blocks_of_games,
    close,
    fit_score_scale,
    later_blended,
    remarks_on,
    scale_line,
)


def simulated(
    seed: int, games: int, scale: float, length: int = 30
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Scores, results and games: the positions of a game share its result, drawn with the
    expectation of each score."""
    rng = np.random.default_rng(seed)
    mean = rng.normal(0, 0.5 / scale, games)
    group = np.repeat(np.arange(games, dtype=np.uint64), length)
    scores = (mean[group.astype(int)] + rng.normal(0, 0.2 / scale, len(group))).astype(np.float32)
    p = (1 + np.tanh(scale * scores)) / 2
    shared = rng.random(games)[group.astype(int)]
    width = 0.3 * np.minimum(p, 1 - p)
    return (
        scores,
        np.where(shared < p - width, 1.0, np.where(shared > p + width, -1.0, 0.0)).astype(
            np.float32
        ),
        group,
    )


@pytest.mark.parametrize("scale", [0.0008, 0.003, 0.02])
def test_the_scale_is_that_of_least_squares(scale):
    scores, results, games = simulated(1, 400, scale)
    found = fit_score_scale(scores, results, games)
    (expected,), _ = curve_fit(
        lambda x, k: np.tanh(k * x), scores.astype(float), results.astype(float), p0=[scale]
    )
    assert found.value == pytest.approx(expected, rel=1e-5)
    assert (found.games, found.scores) == (400, 12_000)


def test_its_error_covers_the_truth():
    inside = 0
    for seed in range(100):
        found = fit_score_scale(*simulated(seed, 150, 0.003))
        inside += abs(found.value - 0.003) < 1.96 * found.error
    assert 88 <= inside <= 99


def test_mates_unknown_scores_and_wild_draws_do_not_move_it():
    scores, results, games = simulated(2, 300, 0.003)
    usual = fit_score_scale(scores, results, games).value
    extra = np.array([np.inf, -np.inf, np.nan, 15_000, -15_000], np.float32)
    more = (
        np.concatenate([scores, extra]),
        np.concatenate([results, [-1, 1, 1, 0, 0]]),
        np.append(games, [0, 1, 2, 3, 4]),
    )
    assert fit_score_scale(*more).value == pytest.approx(usual, rel=1e-3)


def test_the_order_of_positions_does_not_matter():
    scores, results, games = simulated(3, 100, 0.003)
    order = np.random.default_rng(1).permutation(len(scores))
    one, other = (
        fit_score_scale(scores, results, games),
        fit_score_scale(scores[order], results[order], games[order]),
    )
    assert other == pytest.approx(one, rel=1e-5)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s, z, g: (-s, z, g), "do not predict the results of these 100 games"),
        (lambda s, z, g: (s * 0, z, g), "do not predict"),
        (
            lambda s, z, g: (s, np.random.default_rng(5).permutation(100).repeat(30) % 3 - 1.0, g),
            "do not predict",
        ),
        (
            lambda s, z, g: (s[:300], z[:300], g[:300]),
            "only 10 games with scores that are not mates, expected at least 20",
        ),
        (lambda s, z, g: (s * np.inf, z, g), "only 0 games"),
    ],
)
def test_scores_that_cannot_be_scaled_are_refused(change, message):
    said = refusal(fit_score_scale, *change(*simulated(4, 100, 0.003)))
    assert message in said and "--method" in said


def test_a_line_says_what_a_score_of_100_is_here():
    found = fit_score_scale(*simulated(6, 400, 0.003))
    share = 100 * (1 + np.tanh(100 * found.value)) / 2
    assert f"+100 centipawns score {share:.1f} +/- " in scale_line(found)
    assert scale_line(found, "x").endswith("(12,000 scores of 400 games)")


def test_targets_blend_values_and_results():
    scores, results = np.array([0, 100, np.inf, -np.inf, np.nan]), np.array([1, -1, 0, -1, 1.0])
    values = np.array([0, np.tanh(0.3), 1, -1, np.nan])
    for share in (0.0, 0.25, 0.5):
        assert np.allclose(
            blended(scores, results, 0.003, share),
            (1 - share) * values + share * results,
            equal_nan=True,
        )
    assert blended(scores, results, 0.003, 1.0).tolist() == results.tolist()


def test_targets_blend_later_scores_as_sums_of_all_n_step_returns():
    """Sutton's definition: (1 - l) sum l^(n-1) v(t + n - 1), and l^N of the result."""
    rng = np.random.default_rng(12)
    first = np.array([0, 3, 3, 4, 11])
    scores, results = rng.normal(0, 200, 11), np.repeat([1.0, -1.0, 0.0], [3, 1, 7])
    for share in (0.0, 0.3, 0.9):
        found = later_blended(scores, results, 0.003, share, first)
        for begin, end in zip(first[:-1], first[1:], strict=True):
            values = np.tanh(0.003 * scores[begin:end])
            for t in range(end - begin):
                n = end - begin - t
                expected = sum((1 - share) * share**k * values[t + k] for k in range(n))
                expected += share**n * results[begin]
                assert found[begin + t] == pytest.approx(expected, abs=1e-6)
    assert later_blended(scores, results, 0.003, 1.0, first).tolist() == results.tolist()


def test_blocks_are_of_whole_games():
    sizes = np.random.default_rng(3).integers(0, 400, 3000)
    first = np.concatenate([[0], np.cumsum(sizes)])
    blocks = list(blocks_of_games(first))
    assert len(blocks) > 3
    assert np.concatenate([[0], *(block[1:] for block in blocks)]).tolist() == first.tolist()
    assert max(block[-1] - block[0] for block in blocks) <= BLOCK


@pytest.mark.parametrize("evaluations", [np.zeros(50), -np.arange(50.0)])
def test_evaluations_that_do_not_rise_with_the_scores_are_refused(evaluations):
    assert (
        "--max-difference: the evaluations of the starting values do not rise with the scores"
        in refusal(close, np.arange(50.0), evaluations, 0.003, 40)
    )


SIZE = 4000


def sound(seed: int, noise: float = 60.0) -> tuple[np.ndarray, np.ndarray]:
    """Evaluations of positions, and scores of searches there, which see what evaluations do not."""
    dice = np.random.default_rng(seed)
    static = np.round(dice.standard_t(4, SIZE) * 120)
    scores = np.round(0.9 * static + dice.normal(size=SIZE) * noise + 12)
    scores[dice.random(SIZE) < 0.03] = np.inf
    scores[dice.random(SIZE) < 0.03] = 0  # draws by repetition
    scores[dice.random(SIZE) < 0.05] = np.nan
    return scores, static


FAULTS = {
    "zeros": (lambda s, dice: np.where(dice.random(SIZE) < 0.5, 0, s), "of the scores are 0"),
    "pawns": (lambda s, dice: s / 100, "scores are in pawns"),
    "the other side": (lambda s, dice: -s, "those of the other side"),
    "the side to move": (lambda s, dice: s * dice.choice([-1, 1], SIZE), "or of the side to move"),
    "other positions": (lambda s, dice: dice.permutation(s), "do not follow"),
    "capped": (lambda s, dice: np.clip(s, -200, 200), "they are capped"),
    "mates": (lambda s, dice: np.where(np.isinf(s), 9_990, s), "written as numbers"),
    "mostly zeros": (lambda s, dice: np.where(dice.random(SIZE) < 0.9, 0, s), "scores are 0"),
}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("fault", FAULTS)
def test_faults_of_scores_are_named(fault, seed):
    change, said = FAULTS[fault]
    scores, static = sound(seed)
    found = remarks_on(change(scores, np.random.default_rng(seed + 50)), static)
    assert len(found) == 1 and said in found[0]


@pytest.mark.parametrize("seed", range(10))
def test_sound_scores_raise_no_alarm(seed):
    scores, static = sound(seed, noise=20.0 * (seed + 1))
    assert remarks_on(scores, static) == []
    assert remarks_on(scores[:100], static[:100]) == []
    assert remarks_on(2.56 * scores, static) == []
