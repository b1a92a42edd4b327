"""Backups: the positions of a game that are learned from, and the error of each value.

A backup names positions of an episode and, given their values v = tanh(scale * centipawns), an error c for each: the
weights move along the sum of c dv/dw. All values are from the first player's point of view.

    td          the positions played; TD(lambda) errors of their static values
    td-leaf     the same for the leaves of the searches' principal variations
    rootstrap   the positions played, towards the lambda-return of their search values; with lambda = 0 the target is the
                value of the position's own search, as published (Veness, Silver, Uther and Blair 2009)
    treestrap   all positions inside the search trees, towards the bounds that the search proved for them (same source)

The value of a leaf is known if the game is decided or drawn there: such a leaf has no gradient.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from games.search.context import DECIDED, UNIT
from tuner.objectives.temporal import decays, differences, errors, unpredicted_blunders
from tuner.selfplay.play import Episode

TREE_ROOM = 20_000  # positions kept of one search's tree
WON = DECIDED / UNIT  # centipawns: scores beyond this are forced wins


class BackupInput(NamedTuple):
    """An episode with the other inputs of a backup: `known` (m,) is NaN, or the value of a leaf where the game is over, and
    the settings."""

    episode: Episode
    known: np.ndarray
    scale: float
    lambda_: float  # lambda, per ply
    gated: bool = False  # rootstrap, treestrap: learn only from quiet positions
    blunders: bool = True  # learn from an opponent's unpredicted mistakes


class Backup(NamedTuple):
    """A method of learning: `positions(episode)` (n, words) to learn from; `errors(given, values)` (n,) of their values (n,)."""

    positions: Callable[[Episode], np.ndarray]
    errors: Callable[[BackupInput, np.ndarray], np.ndarray]
    harvest: tuple[int, int | None] | None = None  # how many positions of each tree to keep, and of which iteration


def returns(given: BackupInput, values: np.ndarray) -> np.ndarray:
    """Return the TD(lambda) errors c (m,) of values (m,) at the positions searched."""
    episode = given.episode
    d = differences(values, episode.outcome)
    decay = decays(given.lambda_, episode.ply)
    if episode.side is not None and not given.blunders:
        own = 1 - 2 * episode.side
        d = own * unpredicted_blunders(own * d, episode.predicted)
    # after a random move, values belong to another game
    d, decay = np.where(episode.explored, 0.0, d), np.where(episode.explored, 0.0, decay)
    return errors(d, decay)


def _td(given: BackupInput, values: np.ndarray) -> np.ndarray:
    return returns(given, values)


def _td_leaf(given: BackupInput, values: np.ndarray) -> np.ndarray:
    unknown = np.isnan(given.known)
    return np.where(unknown, returns(given, np.where(unknown, values, given.known)), 0.0)


def _rootstrap(given: BackupInput, values: np.ndarray) -> np.ndarray:
    episode = given.episode
    searched = np.where(np.isnan(given.known), np.tanh(given.scale * episode.scores), given.known)
    targets = searched + given.lambda_ * returns(given, searched)
    quiet = episode.tree.quiet if given.gated else True
    return np.where(quiet, targets - values, 0.0)


def _treestrap(given: BackupInput, values: np.ndarray) -> np.ndarray:
    tree = given.episode.tree
    low, high = (_value(bound, given.scale) for bound in (tree.low, tree.high))
    quiet = tree.quiet if given.gated else True
    return np.where(quiet, np.clip(values, low, high) - values, 0.0)


def _value(centipawns: np.ndarray, scale: float) -> np.ndarray:
    """Return the values of scores, which may be forced wins."""
    return np.where(np.abs(centipawns) > WON, np.sign(centipawns), np.tanh(scale * centipawns))


BACKUPS = {
    "td": Backup(lambda episode: episode.positions, _td),
    "td-leaf": Backup(lambda episode: episode.leaves, _td_leaf),
    "rootstrap": Backup(lambda episode: episode.positions, _rootstrap, (1, 1)),
    "treestrap": Backup(lambda episode: episode.tree.positions, _treestrap, (TREE_ROOM, None)),
}
