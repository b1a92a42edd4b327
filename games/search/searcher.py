"""What callers need of a search: a line of positions and limits in, the move found out. Alpha-beta is one, expectimax another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from games.search.context import MAX_DEPTH

UNLIMITED = 1 << 62
SMALL_ADVANTAGE = 0.2  # in v = tanh(scale * centipawns): the margin of searchers is so many centipawns


@dataclass(frozen=True)
class Limits:
    """Limits of a search: depth, nodes, time; whichever is reached first."""

    depth: int = MAX_DEPTH
    nodes: int = UNLIMITED
    seconds: float | None = None  # hard time limit
    soft_seconds: float | None = None  # soft time limit: start no further depth after it


@dataclass(frozen=True)
class Found:
    """The result of a search, for the side to move."""

    value: float  # centipawns
    win_in: int | None  # plies to a forced win, or minus the plies to a forced loss
    pv: tuple[int, ...]  # principal variation, including the moves of quiescence; in a game with dice the best move alone
    depth: int
    nodes: int
    seconds: float
    reward: float | None = None  # of a game that the best move ends, in a game with dice; see `games.record.Game.result`

    @property
    def move(self) -> int | None:
        """The best move; None if there is no legal move."""
        return self.pv[0] if self.pv else None


class Searcher(Protocol):
    """A search with its memory. Use one per thread; searching releases the GIL."""

    weights: object  # keeps alive what is bound by its address

    def bind(self, function: int, weights: int) -> None:
        """Evaluate with the function and the weights at these addresses from now on."""

    def resize(self, megabytes: int) -> None:
        """Remember earlier positions in at most so many megabytes, if the search remembers any."""

    def clear(self) -> None:
        """Forget earlier searches."""

    def choose_by(self, seed: int) -> None:
        """Seed the random choice among root moves of equal value at depth 1; 0: the first of them."""

    def harvest(self, room: int, iteration: int | None = None) -> None:
        """Record the first `room` nodes of each search, see `games.search.harvest`. ValueError for a search that cannot."""

    @property
    def kept(self) -> np.ndarray:
        """(n, words + MORE) nodes recorded by the last search, see games.search.harvest. Valid until the next search."""

    @property
    def hashfull(self) -> float:
        """Fraction of that memory in use, from a sample."""

    def stop(self) -> None:
        """Ask the search in another thread to return soon."""

    def search(self, line: Sequence[np.ndarray] | np.ndarray, limits: Limits,
               report: Callable[[Found], None] | None = None) -> Found:
        """Search the last position of a line; `report` is called after each depth."""
