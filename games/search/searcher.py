"""The interface of a search: a line of positions and limits in, the move found out. Alpha-beta
is one, expectimax another."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from games.search.context import MAX_DEPTH

UNLIMITED = 1 << 62
# in v = tanh(scale * centipawns): searchers get it in centipawns as their margin
SMALL_ADVANTAGE = 0.2


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
    pv: tuple[
        int, ...
        # principal variation, including the moves of quiescence; in a game with dice the best move
        # alone
    ]
    depth: int
    nodes: int
    seconds: float
    reward: float | None = (
        # of a game that the best move ends, in a game with dice; see `games.record.Game.result`
        None
    )
    drawn: bool = False  # the rules decide that the game is drawn at the end of the PV

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
        """Remember earlier positions in at most a number of megabytes, if the search remembers
        any."""

    def clear(self) -> None:
        """Forget earlier searches."""

    def choose_by(self, seed: int) -> None:
        """Seed the random choice among root moves of equal value at depth 1; 0: the first of
        them."""

    def set_constants(self, values: Mapping[str, int]) -> None:
        """Search with these values of the constants of its game, and the default values of the
        rest, from now on. ValueError for a search that has none."""

    def harvest(self, room: int, iteration: int | None = None) -> None:
        """Record the first `room` nodes of each search, see `games.search.alphabeta`. ValueError
        for a search that cannot."""

    @property
    def kept(self) -> np.ndarray:
        """(n, words + MORE) nodes recorded by the last search, see games.search.alphabeta. Valid
        until the next search."""

    @property
    def hashfull(self) -> float:
        """Fraction of that memory in use, from a sample."""

    def stop(self) -> None:
        """Ask the search in another thread to return soon."""

    def search(
        self,
        line: Sequence[np.ndarray] | np.ndarray,
        limits: Limits,
        report: Callable[[Found], None] | None = None,
    ) -> Found:
        """Search the last position of a line; `report` is called after each depth."""


SHORTEST = 0.001  # seconds; the minimum for a search, however little time is left
HORIZON = 30  # moves to divide the time by if no time control comes earlier
PATIENCE = 4  # hard limit: a multiple of the move's share
LARGEST_PART = 0.7  # hard limit: a fraction of the time left
# soft limit: a fraction of the share, because the next depth takes about as long as all before it
BEGIN = 0.55


@dataclass(frozen=True)
class Clock:
    """The clock of the player to move, in seconds."""

    remaining: float
    increment: float = 0.0  # after each move
    moves_to_go: int | None = None  # to the next time control; None: all moves of the game


def limits_of(clock: Clock, overhead: float) -> Limits:
    """Return the time limits of a move: `soft_seconds` for starting another depth, `seconds` as the
    hard limit.

    `overhead`: seconds that each move loses between the clock and the search.
    """
    moves = min(clock.moves_to_go or HORIZON, HORIZON)
    usable = clock.remaining + clock.increment * (moves - 1) - overhead * (moves + 1)
    share = usable / moves
    seconds = max(
        SHORTEST, min(PATIENCE * share, LARGEST_PART * clock.remaining, clock.remaining - overhead)
    )
    return Limits(seconds=seconds, soft_seconds=min(seconds, max(SHORTEST, BEGIN * share)))


def limits_with_byoyomi(clock: Clock, byoyomi: float, overhead: float) -> Limits:
    """Return the time limits of a move with a clock and, once it has run out, `byoyomi` seconds.

    What every move may take besides the clock is added to the soft limit; the hard limit stays that
    of the clock and of it."""
    if byoyomi and clock.remaining <= 0:
        return limits_of_move(byoyomi, overhead)
    limits = limits_of(clock, overhead)
    if not byoyomi or limits.seconds is None or limits.soft_seconds is None:
        return limits
    return replace(
        limits, seconds=limits.seconds + byoyomi / 2, soft_seconds=limits.soft_seconds + byoyomi / 2
    )


def limits_of_move(seconds: float, overhead: float) -> Limits:
    """Return the hard limit for a fixed time per move: the time less the overhead, but at least
    half of the time."""
    return Limits(seconds=max(SHORTEST, seconds - overhead, seconds / 2))
