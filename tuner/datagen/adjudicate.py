"""Adjudicate games by the scores of both players, drawn endings and tables.

A shallow search draws many endings that it has won. Results are worth learning from if such games end while the scores are clear.
Scores are in centipawns, first player's view.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from games.contest import PLIES, RULES

CERTAIN = 30_000.0  # the score of a forced win
RESIGN, DRAW, ENDING, TABLES = "resign", "draw", "ending", "tables"
BY_SCORES = (RESIGN, DRAW, ENDING)  # rules that may be wrong; tables are not
ENDS = (RULES, RESIGN, DRAW, ENDING, TABLES, PLIES)


class Verdict(NamedTuple):
    """The outcome of a game for the first player, and the rule that ends it, one of ENDS."""

    outcome: float
    rule: str


@dataclass(frozen=True)
class Adjudicator:
    """The rules in force; None: not this one.

    `resign` is (score, plies): the side that is ahead wins if the last `plies` scores are all `score` or more in its favour.
    `draw` is (score, plies, first): a draw, from ply `first` of the game on, if the last `plies` scores are within +/- `score`.
    `drawn_ending` and `tables` are those of `games.contest.Contest`.
    """

    resign: tuple[float, int] | None = None
    draw: tuple[float, int, int] | None = None
    drawn_ending: Callable[[np.ndarray], bool] | None = None
    tables: Callable[[np.ndarray], int | None] | None = None

    def verdict(self, words: np.ndarray, scores: Sequence[float], plies: int) -> Verdict | None:
        """Return the verdict on a game that has reached the position `words` after `plies` plies, with these scores so far."""
        if found := self.by_tables(words):
            return found
        if self.drawn_ending and scores and abs(scores[-1]) < CERTAIN and self.drawn_ending(words):
            return Verdict(0, ENDING)
        if self.resign and len(scores) >= self.resign[1]:
            last = scores[-self.resign[1]:]
            if min(last) >= self.resign[0] or max(last) <= -self.resign[0]:
                return Verdict(1 if last[0] > 0 else -1, RESIGN)
        if self.draw and plies >= self.draw[2] and len(scores) >= self.draw[1]:
            if max(map(abs, scores[-self.draw[1]:])) <= self.draw[0]:
                return Verdict(0, DRAW)
        return None

    def by_tables(self, words: np.ndarray) -> Verdict | None:
        """Return the verdict of the tables alone."""
        outcome = self.tables(words) if self.tables else None
        return None if outcome is None else Verdict(outcome, TABLES)
