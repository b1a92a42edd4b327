"""How long to think: from what a clock shows to where a search ends."""

from __future__ import annotations

from dataclasses import dataclass

from games.search.searcher import Limits

SHORTEST = 0.001  # seconds; a search is not worth less, however little time there is
HORIZON = 30  # moves that the time is shared among where no time control is nearer
PATIENCE = 4  # times its share that one move may take
LARGEST_PART = 0.7  # of the time left that one move may take
BEGIN = 0.55  # of the share: after it the next depth, about as long as all before it, would not be completed in time


@dataclass(frozen=True)
class Clock:
    """A player's clock when the player is to move, in seconds."""

    remaining: float
    increment: float = 0.0  # after each move
    moves_to_go: int | None = None  # to the next time control; None: all moves of the game


def limits_of(clock: Clock, overhead: float) -> Limits:
    """When to stop thinking: `enough` is the usual end, `seconds` the last moment.

    `overhead`: seconds that each move loses between the clock and the search.
    """
    moves = min(clock.moves_to_go or HORIZON, HORIZON)
    usable = clock.remaining + clock.increment * (moves - 1) - overhead * (moves + 1)
    share = usable / moves
    seconds = max(SHORTEST, min(PATIENCE * share, LARGEST_PART * clock.remaining, clock.remaining - overhead))
    return Limits(seconds=seconds, enough=min(seconds, max(SHORTEST, BEGIN * share)))


def limits_of_move(seconds: float, overhead: float) -> Limits:
    """Think for so long about this move; of a time shorter than the overhead, half."""
    return Limits(seconds=max(SHORTEST, seconds - overhead, seconds / 2))
