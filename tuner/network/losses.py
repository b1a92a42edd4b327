"""Cross-entropy of values of held-out positions given evaluations, and its intervals by resampling
games.

Losses are cross-entropies above the entropy of the values themselves, which no prediction can go
below. Results of games have no such entropy: theirs are plain cross-entropies.

Values q (n,) are expected scores of the first player, from 0 to 1; logits (n,) are log p / (1 - p)
of the prediction p = 1 / (1 + exp(-logit)), where logit = 2 * scale * evaluation.

Intervals of any function of sums over positions are by the bootstrap of clusters (Efron 1979):
positions of one opening resemble each other, so openings are drawn as a whole. What was fitted is
not fitted again: intervals cover the choice of held-out positions, not of those learned from."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, xlogy

from games.streams import InputError
from tuner.datasets.writing import split_games
from tuner.findings.records import Gain, Interval, PhaseLoss
from tuner.network.sample import ValuedSample

STEEPEST = 1.0  # scale, in 1 / centipawns: a pawn decides any game


def cross_entropy(logit: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Return -q log p - (1 - q) log(1 - p) of each position (n,)."""
    return np.logaddexp(0, logit) - q * logit


def entropy(q: np.ndarray) -> np.ndarray:
    """Return the cross-entropy (n,) of values given themselves: the least that any prediction can
    have."""
    return -xlogy(q, q) - xlogy(1 - q, 1 - q)


def fitted_scale(evaluation: np.ndarray, q: np.ndarray, mass: np.ndarray) -> float:
    """Return the scale in [0, STEEPEST] with the least cross-entropy, each position counted `mass`
    (n,) times.

    It is 0 for evaluations that do not rise with the values: nothing beats p = 1/2 then.
    """

    def slope(scale: float) -> float:  # of the mean log likelihood, which is concave
        return float(mass @ (evaluation * (q - expit(2 * scale * evaluation))))

    if slope(0.0) <= 0:
        return 0.0
    if slope(STEEPEST) >= 0:
        return STEEPEST
    return float(brentq(slope, 0.0, STEEPEST, xtol=1e-9))


REPLICATES = 2000
MOST_BLOCKS = 2000  # more clusters are joined at random: blocks are independent too
LEVEL = 0.95
DIGITS = 7  # of what is reported


def block_sums(cluster: np.ndarray, columns: np.ndarray, seed: int = 1) -> np.ndarray:
    """Return the sums (blocks, k) of columns (n, k) over blocks of positions; `cluster` (n,) is any
    identity of the opening."""
    _, block = np.unique(cluster, return_inverse=True)
    blocks = int(block.max(initial=-1)) + 1
    if blocks > MOST_BLOCKS:
        block = (np.random.default_rng([seed, blocks]).permutation(blocks) % MOST_BLOCKS)[block]
        blocks = MOST_BLOCKS
    return np.stack([np.bincount(block, column, blocks) for column in columns.T], axis=1)


def resample(sums: np.ndarray, seed: int = 1, replicates: int = REPLICATES) -> np.ndarray:
    """Return the totals (replicates, k) of as many blocks as there are, drawn with replacement from
    the sums (blocks, k)."""
    random, blocks = np.random.default_rng([seed, len(sums)]), len(sums)
    return np.stack(
        [random.multinomial(blocks, np.full(blocks, 1 / blocks)) @ sums for _ in range(replicates)]
    )


class ResampledSums:
    """Sums of some columns over blocks, and their resampled totals: `interval` takes any function
    of them."""

    def __init__(self, cluster: np.ndarray, columns: dict[str, np.ndarray], seed: int = 1) -> None:
        sums = block_sums(
            cluster, np.stack(list(columns.values()), axis=1).astype(np.float64), seed
        )
        self._total = dict(zip(columns, sums.sum(axis=0), strict=True))
        self._draws = (
            dict(zip(columns, resample(sums, seed).T, strict=True)) if len(sums) > 1 else None
        )

    def interval(self, of: Callable[[dict], np.ndarray]) -> Interval:
        """Return `of` the sums, with the 95 % interval of `of` the resampled sums (replicates,);
        None if it is not known."""
        with np.errstate(all="ignore"):
            value = rounded(of(self._total))
            if self._draws is None:
                return Interval(value)
            drawn = np.asarray(of(self._draws), np.float64)
        drawn = drawn[np.isfinite(drawn)]
        if len(drawn) < REPLICATES / 2:
            return Interval(value)
        low, high = np.quantile(drawn, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
        return Interval(value, rounded(low), rounded(high))


def rounded(value: Any) -> float | None:
    """Return a number with the digits that are reported, None if it is not known."""
    return round(float(value), DIGITS) if np.isfinite(value) else None


FEWEST = 200  # positions held out, and learned from
ASIDE = 8  # one in so many openings is set aside
QUARTERS = 4
PHASE_DIGITS = 6


def to_learn(sample: ValuedSample, held_out: float) -> np.ndarray:
    """Return which positions (n,) bool are learned from if this share of the games is held out;
    InputError for too few."""
    learned = np.isin(sample.game, split_games(sample.data, held_out, sample.options.seed)[0])
    if min(learned.sum(), (~learned).sum()) < FEWEST:
        raise InputError(
            f"{learned.sum():,} positions to learn from and {(~learned).sum():,} held out: expected"
            f" at least {FEWEST:,} of both; give more games, or another --held-out than"
            f" {held_out:g}"
        )
    return learned


def set_aside(cluster: np.ndarray, seed: int) -> np.ndarray:
    """Return which positions (n,) bool are of the openings that are set aside."""
    names = np.unique(cluster)
    chosen = np.random.default_rng([seed, len(names)]).permutation(len(names))[
        : max(1, len(names) // ASIDE)
    ]
    return np.isin(cluster, names[chosen])


def held_losses(
    sample: ValuedSample, held: np.ndarray, logits: dict[str, np.ndarray]
) -> tuple[np.ndarray, dict[str, np.ndarray], ResampledSums]:
    """Return how often each of the held-out positions (n,) counts, the losses (n,) of each model,
    so often, and the sums of all; results have no entropy."""
    q, mass = sample.q[held], sample.mass[held]
    own = np.zeros(len(q)) if sample.options.targets == "results" else entropy(q)
    losses = {name: mass * (cross_entropy(logit, q) - own) for name, logit in logits.items()}
    return mass, losses, ResampledSums(sample.opening[held], losses | {"mass": mass})


def winners(sample: ValuedSample, held: np.ndarray, logits: dict[str, np.ndarray]) -> ResampledSums:
    """Return sums by which the mean of a model is the share of the winners that it predicts, of the
    held-out positions whose value is not a draw."""
    q = sample.q[held]
    mass = sample.mass[held] * (q != 0.5)
    right = {name: mass * ((logit > 0) == (q > 0.5)) for name, logit in logits.items()}
    return ResampledSums(sample.opening[held], right | {"mass": mass})


def gain(before: str, after: str, unit: str, sums: dict) -> np.ndarray:
    """Return how much less one model has than the one before, in units of another sum."""
    return (sums[before] - sums[after]) / sums[unit]


def mean(name: str, sums: dict) -> np.ndarray:
    """Return the mean loss of a model."""
    return sums[name] / sums["mass"]


def phases(
    share: np.ndarray, cluster: np.ndarray, losses: dict[str, np.ndarray], mass: np.ndarray
) -> list[PhaseLoss]:
    """Return losses of two models and the gain of the second by quarters of the share (n,) of the
    first stage."""
    quarter = np.minimum((QUARTERS * share).astype(int), QUARTERS - 1)
    before, after = losses
    lines = []
    for number in range(QUARTERS):
        here = quarter == number
        if here.any():
            part = ResampledSums(
                cluster[here],
                {name: loss[here] for name, loss in losses.items()} | {"mass": mass[here]},
            )
            means: dict[str, Any] = {
                name: round(float(loss[here].sum() / mass[here].sum()), PHASE_DIGITS)
                for name, loss in losses.items()
            }
            gained = Gain(
                **vars(part.interval(partial(gain, before, after, "mass"))),
                model=after,
                on=before,
                share=part.interval(partial(gain, before, after, before)),
            )
            lines.append(
                PhaseLoss(
                    from_=number / QUARTERS,
                    to=(number + 1) / QUARTERS,
                    positions=int(here.sum()),
                    **means,
                    gains=[gained],
                )
            )
    return lines
