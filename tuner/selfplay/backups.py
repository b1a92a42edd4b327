"""What a game teaches: of which positions the value should rise, and how much.

A backup names positions of an episode and, given their values v = tanh(scale * centipawns), an error c for each: the
weights move along the sum of c dv/dw. All values are from the first player's point of view.

    td          the positions played; errors by TD(lambda) of their own static values
    td-leaf     in their place the leaves of the searches' principal variations
    rootstrap   the positions played, towards the lambda-return of the values that the searches gave; with lambda = 0 that
                is the value of its own search, as published (Veness, Silver, Uther and Blair 2009)
    treestrap   all positions inside the search trees, towards the bounds that the search proved of them (same source)

Searches end at leaves whose value is known, because the game is decided or drawn there: such a leaf has no gradient.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from games.search.context import DECIDED, UNIT
from tuner.objectives.temporal import decays, differences, errors, unpredicted_blunders
from tuner.selfplay.play import Episode

TREE_ROOM = 20_000  # positions of one search's tree
WON = DECIDED / UNIT  # centipawns: beyond this a score is that of a forced win


class Lesson(NamedTuple):
    """An episode with what a backup has to know of it beside the positions: `known` (m,) is NaN, or the value of a leaf
    that has no evaluation, and the other settings."""

    episode: Episode
    known: np.ndarray
    scale: float
    lambda_: float  # lambda, per ply
    gated: bool = False  # rootstrap, treestrap: learn from quiet positions alone
    blunders: bool = True  # learn from an opponent's unpredicted mistakes


class Backup(NamedTuple):
    """`positions(episode)` (n, words) to learn from; `errors(lesson, values)` (n,) of their values (n,)."""

    positions: Callable[[Episode], np.ndarray]
    errors: Callable[[Lesson, np.ndarray], np.ndarray]
    harvest: tuple[int, int | None] | None = None  # how many positions inside the trees it wants, and of which iteration


def returns(lesson: Lesson, values: np.ndarray) -> np.ndarray:
    """TD(lambda) errors c (m,) of values (m,) at the positions searched."""
    episode = lesson.episode
    d = differences(values, episode.outcome)
    decay = decays(lesson.lambda_, episode.ply)
    if episode.seat is not None and not lesson.blunders:
        own = 1 - 2 * episode.seat
        d = own * unpredicted_blunders(own * d, episode.predicted)
    # behind a move that is not the search's come values of another game
    d, decay = np.where(episode.explored, 0.0, d), np.where(episode.explored, 0.0, decay)
    return errors(d, decay)


def _td(lesson: Lesson, values: np.ndarray) -> np.ndarray:
    return returns(lesson, values)


def _td_leaf(lesson: Lesson, values: np.ndarray) -> np.ndarray:
    unknown = np.isnan(lesson.known)
    return np.where(unknown, returns(lesson, np.where(unknown, values, lesson.known)), 0.0)


def _rootstrap(lesson: Lesson, values: np.ndarray) -> np.ndarray:
    episode = lesson.episode
    searched = np.where(np.isnan(lesson.known), np.tanh(lesson.scale * episode.scores), lesson.known)
    targets = searched + lesson.lambda_ * returns(lesson, searched)
    quiet = episode.tree.quiet if lesson.gated else True
    return np.where(quiet, targets - values, 0.0)


def _treestrap(lesson: Lesson, values: np.ndarray) -> np.ndarray:
    tree = lesson.episode.tree
    low, high = (_value(bound, lesson.scale) for bound in (tree.low, tree.high))
    quiet = tree.quiet if lesson.gated else True
    return np.where(quiet, np.clip(values, low, high) - values, 0.0)


def _value(centipawns: np.ndarray, scale: float) -> np.ndarray:
    """Of scores that may be those of a forced win."""
    return np.where(np.abs(centipawns) > WON, np.sign(centipawns), np.tanh(scale * centipawns))


BACKUPS = {
    "td": Backup(lambda episode: episode.positions, _td),
    "td-leaf": Backup(lambda episode: episode.leaves, _td_leaf),
    "rootstrap": Backup(lambda episode: episode.positions, _rootstrap, (1, 1)),
    "treestrap": Backup(lambda episode: episode.tree.positions, _treestrap, (TREE_ROOM, None)),
}
