"""A small network on top of the fit, of the counts that the trees see and of the board.

The logit of a position is that of the fit plus a network's. The network sees the counts, the fit's
logit and the share of the first stage; where the positions are known and their game has an
encoding, it sees the board as well, all from the side to move. Elsewhere it sees every position
from both sides. Either way its logit changes its sign if the players are exchanged. It starts from
zero, and games set aside choose the epoch, perhaps none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array, diags_array, hstack, vstack

from evalterms.framework.encoding import Encoding, encodings_of
from tuner.evaluation.networks.evaluation import second_to_move
from tuner.evaluation.networks.learn import Examples, LearnOptions, learn, logits
from tuner.evaluation.networks.model import Layer, Network, inputs_of, random_network
from tuner.headroom.sample import ValuedSample
from tuner.headroom.trees import Counts, frequent, set_aside

HIDDEN = 64
OPTIONS = LearnOptions(epochs=20, halvings=3)
LEAST_DEVIATION = 0.05  # of a count, which is divided by its deviation


class SideView(NamedTuple):
    """Positions as the network sees them: inputs (n, k) float32, and for which side (n,), 1 or -1
    for the second player."""

    inputs: csr_array
    side: np.ndarray


class NetworkLogits(NamedTuple):
    """What a network adds to the logits of positions (n,), NaN where it learned; and the encoding
    of the boards that it saw."""

    logit: np.ndarray
    board: str | None


def learn_on_top(
    sample: ValuedSample,
    logit: np.ndarray,
    learned: np.ndarray,
    watch: Callable[[int], None] = lambda done: None,
) -> NetworkLogits:
    """Learn what a network adds to the logits (n,) of the fit from the positions that `learned`
    (n,) bool marks."""
    encoding = board_of(sample)
    views = views_of(sample.counts(), logit, sample.share, learned)
    if encoding:
        views = [from_mover(sample, encoding, views)]
    aside = learned.copy()
    aside[learned] = set_aside(sample.opening[learned], sample.options.seed)
    network = _from_zero(views[0].inputs.shape[1], sample.options.seed)
    found = learn(
        network,
        _examples(sample, views, logit, learned & ~aside),
        _examples(sample, views, logit, aside),
        replace(OPTIONS, seed=sample.options.seed),
        watch=lambda line: watch(line["epoch"]),
    )
    more, held = np.full(len(logit), np.nan), ~learned
    more[held] = sum(
        view.side[held] * logits(found.network, view.inputs[held]) for view in views
    ) / len(views)
    return NetworkLogits(more, encoding.name if encoding else None)


def board_of(sample: ValuedSample) -> Encoding | None:
    """Return the encoding of the board that the network sees; None if it sees counts alone."""
    game = sample.begun.game
    if game is None or sample.read.positions is None:
        return None
    return next((each for each in encodings_of(game.name).values() if each.for_mover), None)


def from_mover(sample: ValuedSample, encoding: Encoding, views: list[SideView]) -> SideView:
    """Return positions as the side to move sees them in the views of the first and of the second
    player, and their boards."""
    game = sample.begun.game
    assert game is not None, "positions were read"
    second = second_to_move(game, sample.positions)
    first, other = (
        diags_array(keep.astype(np.float32)) @ view.inputs
        for keep, view in zip((~second, second), views, strict=True)
    )
    boards = inputs_of(encoding, sample.positions)
    return SideView(
        hstack([boards, first + other], "csr").astype(np.float32), np.where(second, -1.0, 1.0)
    )


def views_of(
    counts: Counts, logit: np.ndarray, share: np.ndarray, learned: np.ndarray
) -> list[SideView]:
    """Return positions as the first player and as the second sees them: the counts that apply most
    often, in units of their deviations, the logit and the share of the first stage."""
    columns = frequent(counts.of[learned])
    some = csr_array(counts.of[:, columns])
    deviation = np.sqrt(np.asarray(some[learned].power(2).mean(axis=0)).ravel())
    some = some @ diags_array(1 / np.maximum(deviation, LEAST_DEVIATION))
    other = some @ diags_array(np.where(counts.even[columns], 1.0, -1.0))
    ones = np.ones(len(logit))
    return [
        SideView(_beside(some, logit, share), ones),
        SideView(_beside(other, -logit, share), -ones),
    ]


def _beside(inputs: csr_array, logit: np.ndarray, share: np.ndarray) -> csr_array:
    return hstack([inputs, csr_array(np.stack([logit, share], axis=1))], "csr").astype(np.float32)


def _examples(
    sample: ValuedSample, views: list[SideView], logit: np.ndarray, keep: np.ndarray
) -> Examples:
    """Return some of the positions in all views, as the side of each view sees them."""
    games, q = int(sample.game.max(initial=0)) + 1, sample.q
    return Examples(
        vstack([view.inputs[keep] for view in views], "csr"),
        np.concatenate([np.where(view.side > 0, q, 1 - q)[keep] for view in views]),
        np.concatenate([(view.side * logit)[keep] for view in views]),
        np.tile(sample.mass[keep], len(views)),
        np.concatenate([sample.game[keep] + k * games for k in range(len(views))]),
    )


def _from_zero(inputs: int, seed: int) -> Network:
    """Return a network whose output is zero, so that learning starts from the fit."""
    hidden, last = random_network(inputs, [(HIDDEN, "relu"), (1, "sigmoid")], seed).layers
    return Network((hidden, Layer(np.zeros_like(last.weights), last.biases, last.activation)))
