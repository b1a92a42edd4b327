"""Time management: from a player's clock to the limits of a search."""

from __future__ import annotations

from dataclasses import dataclass

from games.search.searcher import Limits

SHORTEST = 0.001  # seconds; the minimum for a search, however little time is left
HORIZON = 30  # moves to divide the time by if no time control comes earlier
PATIENCE = 4  # hard limit: a multiple of the move's share
LARGEST_PART = 0.7  # hard limit: a fraction of the time left
BEGIN = 0.55  # soft limit: a fraction of the share, because the next depth takes about as long as all before it


@dataclass(frozen=True)
class Clock:
    """The clock of the player to move, in seconds."""

    remaining: float
    increment: float = 0.0  # after each move
    moves_to_go: int | None = None  # to the next time control; None: all moves of the game


def limits_of(clock: Clock, overhead: float) -> Limits:
    """Return the time limits of a move: `soft_seconds` for starting another depth, `seconds` as the hard limit.

    `overhead`: seconds that each move loses between the clock and the search.
    """
    moves = min(clock.moves_to_go or HORIZON, HORIZON)
    usable = clock.remaining + clock.increment * (moves - 1) - overhead * (moves + 1)
    share = usable / moves
    seconds = max(SHORTEST, min(PATIENCE * share, LARGEST_PART * clock.remaining, clock.remaining - overhead))
    return Limits(seconds=seconds, soft_seconds=min(seconds, max(SHORTEST, BEGIN * share)))


def limits_of_move(seconds: float, overhead: float) -> Limits:
    """Return the hard limit for a fixed time per move: the time less the overhead, but at least half of the time."""
    return Limits(seconds=max(SHORTEST, seconds - overhead, seconds / 2))
