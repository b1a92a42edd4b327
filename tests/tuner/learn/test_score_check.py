"""Faults of scores are named by the evaluations of their positions; sound scores raise no alarm."""

import numpy as np
import pytest

from tuner.learn.scores import remarks_on

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
