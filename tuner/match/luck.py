"""The luck of a game with dice: what each roll gave beyond the mean of all rolls, by a fixed evaluation.

With V the value of the best move of a roll, for the first player, the luck of a ply is V of the roll that came minus the mean of
V over all rolls. Its mean over the dice is zero, whoever plays and whatever V is.
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np

from games.record import Game
from games.streams import InputError
from tuner.match.entrants import PlayerSpec, searcher_of


@runtime_checkable
class Rolling(Protocol):
    """What luck needs of a search, see `games.search.expectimax_searcher`."""

    def best_values(self, positions: np.ndarray) -> np.ndarray:
        """Return v (k,) of the best moves of positions (k, words) with dice, first player's view."""


class Luck:
    """One thread's measure of luck."""

    def __init__(self, game: Game, judge: Rolling) -> None:
        self._game, self._judge = game, judge

    def of(self, before: np.ndarray, after: np.ndarray) -> float:
        """Return the points that a roll gave the first player: from the position before the roll to the one with its dice."""
        assert self._game.rolls is not None, "only games with dice have luck"
        positions, chances = self._game.rolls(before)
        values = self._judge.best_values(positions)
        came = int(np.flatnonzero((positions == after).all(axis=1))[0])
        return float(values[came] - chances @ values) * self._game.points


def luck_by(game: Game, judge: PlayerSpec) -> Luck:
    """Return the measure by the evaluation of a player that searches. InputError if the search of the game has no values of
    rolls."""
    searcher = searcher_of(judge, False, 1)
    if not isinstance(searcher, Rolling):
        raise InputError(f"{game.name} has no search over dice to measure luck with")
    return Luck(game, searcher)
