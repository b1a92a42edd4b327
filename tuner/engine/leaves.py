"""The leaf of a principal variation: its position, its score, and whether the game is over there."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from games.record import Game
from games.search.searcher import Found


class Leaf(NamedTuple):
    """The leaf of a principal variation: its position `words` (words,), `score` in centipawns, and `win`, the reward of a
    forced win or loss, else 0; score and win are from the first player's point of view."""

    words: np.ndarray
    score: float
    win: float


def leaf_of(game: Game, words: np.ndarray, found: Found) -> Leaf:
    """Return the leaf of a search of the position `words`."""
    sign = -1 if game.second_to_move(words) else 1
    win: float = 0 if found.win_in is None else sign if found.win_in > 0 else -sign
    if found.reward is not None:
        win = sign * found.reward
    for move in found.pv:
        words = game.play(words, move)
    return Leaf(words, sign * found.value, win)


def known_values(scores: np.ndarray, wins: np.ndarray, static: np.ndarray) -> np.ndarray:
    """Return NaN, or the value of a leaf (m,) whose `static` evaluation, in centipawns, is not its score: a win, a loss, or a
    draw by the rules."""
    return np.where(wins != 0, wins, np.where(static == scores, np.nan, 0.0))
