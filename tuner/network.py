"""`tuner network`: learn a network from the values of positions, and compare it with an evaluation
on games that neither was fitted to.

Losses are cross-entropies above the entropy of the values themselves, which no prediction can go
below; their intervals are by resampling games."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, xlogy

from evalterms.framework.encoding import Encoding
from games.streams import InputError
from tuner.core.estimates import Estimate
from tuner.datasets.writing import split_games
from tuner.evaluation.networks.evaluation import evaluation_of, second_to_move
from tuner.evaluation.networks.files import NetworkFile
from tuner.evaluation.networks.learn import Examples, LearnOptions, learn, logits
from tuner.evaluation.networks.model import inputs_of, random_network
from tuner.evaluation.pieces import piece_values
from tuner.io.terminal import Display
from tuner.learn.sample import ValuedSample
from tuner.results.trained import (
    NET,
    START,
    Gain,
    ModelLoss,
    ModelWinners,
    NetworkMeasurement,
    PhaseLoss,
)

MIN_POSITIONS = 200  # positions held out, and learned from
ASIDE = 8  # one opening in this number is set aside
QUARTERS = 4
PHASE_DIGITS = 6


def to_learn(sample: ValuedSample, held_out: float) -> np.ndarray:
    """Return which positions (n,) bool are learned from if this share of the games is held out;
    InputError for too few."""
    learned = np.isin(sample.game, split_games(sample.data, held_out, sample.options.seed)[0])
    if min(learned.sum(), (~learned).sum()) < MIN_POSITIONS:
        raise InputError(
            f"{learned.sum():,} positions to learn from and {(~learned).sum():,} held out: expected"
            f" at least {MIN_POSITIONS:,} of both; give more games, or another --held-out than"
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
    """Return how much less one model has than its predecessor, in units of another sum."""
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
                after,
                before,
                part.interval(partial(gain, before, after, "mass")),
                part.interval(partial(gain, before, after, before)),
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


@dataclass(frozen=True)
class Shape:
    """An encoding, widths of the hidden layers, and their activation."""

    encoding: Encoding
    hidden: tuple[int, ...] = (64,)
    activation: str = "relu"


def learned_network(
    sample: ValuedSample,
    start: str,
    shape: Shape,
    held_out: float,
    options: LearnOptions,
    arrays: Any,
    command: str,
    output: str,
    display: Display,
) -> tuple[NetworkFile, NetworkMeasurement]:
    """Learn a network from a sample that was read with the parameters `start`; return it with its
    measurement. The `command` and the `output` are only named."""
    game, parameters = sample.begun.game, sample.begun.parameters
    assert game is not None, "positions were read"
    encoding, begun = shape.encoding, time.process_time()
    display.begin("counting inputs")
    second = second_to_move(game, sample.positions) & encoding.for_mover
    q = np.where(second, 1 - sample.q, sample.q)
    examples = Examples(
        inputs_of(encoding, sample.positions), q, np.zeros(len(q)), sample.mass, sample.game
    )
    aside = to_learn(sample, held_out)
    held = ~aside
    aside[~held] = set_aside(sample.opening[~held], sample.options.seed)
    layers = [*((width, shape.activation) for width in shape.hidden), (1, "sigmoid")]
    first = random_network(encoding.size, layers, options.seed)
    first = first.with_flat(first.flat().astype(np.float32))
    display.begin("learning", options.epochs)
    learned = learn(
        first,
        examples.only(~held & ~aside),
        examples.only(aside),
        options,
        arrays,
        lambda line: display.counting(line["epoch"]),
    )
    best = min(learned.epochs, key=lambda line: line["aside"])["epoch"]
    usual = LearnOptions.rate
    if best == 0 and options.rate > usual:
        raise InputError(
            f"--learning-rate {options.rate:g}: no epoch predicts better than the random weights"
            f" before learning; try --learning-rate {max(options.rate / 10, usual):g}"
        )
    display.begin("measuring")
    network_logit = logits(learned.network, examples.inputs[held], arrays)
    start_logit = _start_logit(sample, held)
    origin = f"{int((~held).sum())} positions; {command}"
    file = NetworkFile(
        game.name, encoding.name, learned.network, game.points, origin, parameters.scale
    )
    predicted = {START: start_logit, NET: np.where(second[held], -network_logit, network_logit)}
    of_results = sample.options.targets == "results"
    mass, losses, total = held_losses(sample, held, predicted)
    right = winners(sample, held, predicted)
    return file, NetworkMeasurement(
        command=command,
        output=output,
        start=start,
        values=sample.values,
        targets=sample.options.targets,
        positions=len(held),
        games=len(sample.games),
        held_out_positions=int(held.sum()),
        held_out_games=len(np.unique(sample.game[held])),
        seed=sample.options.seed,
        loss="cross-entropy" if of_results else "excess cross-entropy",
        models=[ModelLoss(name, total.interval(partial(mean, name))) for name in losses],
        winners=[ModelWinners(name, right.interval(partial(mean, name))) for name in losses],
        gain=total.interval(partial(gain, START, NET, "mass")),
        epochs=[
            {
                key: value if key == "epoch" or value is None else round(value, 8)
                for key, value in line.items()
            }
            for line in learned.epochs
        ],
        best_epoch=best,
        first_stage=sample.first_stage,
        phases=(
            phases(sample.share[held], sample.opening[held], losses, mass)
            if sample.first_stage
            else None
        ),
        game=game.name,
        encoding=encoding.name,
        layers=[encoding.size, *shape.hidden, 1],
        activation=shape.activation,
        weights=first.size,
        learned_positions=int((~held & ~aside).sum()),
        aside_positions=int(aside.sum()),
        cpu_seconds=round(time.process_time() - begun, 1),
        pieces=piece_values(evaluation_of(file), sample.positions[held]) or None,
    )


def _start_logit(sample: ValuedSample, held: np.ndarray) -> np.ndarray:
    """Return the logits of the held-out positions by the evaluation to start from, with the scale
    that suits the rest."""
    engine, parameters = sample.begun.engine, sample.begun.parameters
    assert engine is not None, "positions were read"
    evaluation = engine.evaluate_many(sample.positions, parameters, sample.options.workers)
    scale = fitted_scale(evaluation[~held], sample.q[~held], sample.mass[~held])
    return 2 * scale * evaluation[held]


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

    def interval(self, of: Callable[[dict], np.ndarray]) -> Estimate:
        """Return `of` the sums, with the 95 % interval of `of` the resampled sums (replicates,)."""
        with np.errstate(all="ignore"):
            value, drawn = float(of(self._total)), np.zeros(0)
            if self._draws is not None:
                drawn = np.asarray(of(self._draws), np.float64)
        drawn = drawn[np.isfinite(drawn)]
        if len(drawn) < REPLICATES / 2:
            return Estimate(value).rounded(DIGITS)
        low, high = np.quantile(drawn, [(1 - LEVEL) / 2, (1 + LEVEL) / 2]).tolist()
        return Estimate(value, float(drawn.std(ddof=1)), low, high).rounded(DIGITS)
