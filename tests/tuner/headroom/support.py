"""Samples of positions whose values are known: linear in their counts, or not."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy.special import expit

from tests.tuner.support import PHASES, flat_layout, write_sample
from tuner.headroom.sample import ValuedSample
from tuner.learn.reading import Read
from tuner.learn.start import Start
from tuner.options.tune import TuneSettings
from tuner.parameters.parameters import Parameters

COLUMNS, LENGTH = 6, 10
WEIGHTS = np.array([120.0, -60.0, 200.0, 40.0, -150.0, 90.0])
SCALE = 0.0025


def sample_of(
    folder: Path,
    games: int,
    logit: Callable[[np.ndarray, np.ndarray], np.ndarray],
    targets: str,
    seed: int = 1,
) -> ValuedSample:
    """Positions whose values are expit(logit(counts, share of the first stage)); results if
    `targets` says so, else expected scores."""
    random = np.random.default_rng(seed)
    n = games * LENGTH
    counts = random.integers(-3, 4, (n, COLUMNS)).astype(np.int8)
    phase = random.integers(0, PHASES + 1, n)
    p = expit(logit(counts.astype(float), phase / PHASES))
    q = (random.random(n) < p).astype(float) if targets == "results" else p
    written = write_sample(folder, counts, 2 * q - 1, np.full(games, LENGTH), phase=phase)
    weights = np.tile(np.where(np.arange(COLUMNS) < 3, WEIGHTS, 0.5 * WEIGHTS), (2, 1))
    parameters = Parameters("none", flat_layout(COLUMNS), ("mg", "eg"), weights, SCALE)
    options = TuneSettings(
        method="logistic", targets=targets, device="cpu", prior="auto", lambda_=0.0
    )
    return ValuedSample(
        Start(None, None, parameters), options, Read(written.data, "", None, None), np.arange(games)
    )


def linear(counts: np.ndarray, share: np.ndarray) -> np.ndarray:
    return 2 * SCALE * (counts @ WEIGHTS)


def with_product(counts: np.ndarray, share: np.ndarray) -> np.ndarray:
    """A planted function, all of it late: the first count squared with its sign, and a product of
    three others."""
    a, b, c, d = counts[:, :4].T
    return linear(counts, share) + (1 - share) * (0.5 * a * np.abs(a) + 0.2 * b * c * d)
