"""Parse the USI command `go`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from games.protocol.lines import arguments_of_go

if TYPE_CHECKING:  # it takes part of a second, in which a program waits for the first answer
    from games.search.searcher import Limits

# with the smallest valid value; a clock that has run out is negative
NUMBERS = {"depth": 1, "nodes": 1, "movetime": 0, "btime": None, "wtime": None, "byoyomi": 0, "binc": 0, "winc": 0}
FLAGS = ("infinite", "ponder")
MATE, MOVES = "mate", "searchmoves"


@dataclass(frozen=True)
class Go:
    """The arguments of a `go`; times in milliseconds; None: not given. `mate`: it asks for a mate by checks alone."""

    depth: int | None = None
    nodes: int | None = None
    movetime: int | None = None
    btime: int | None = None
    wtime: int | None = None
    byoyomi: int = 0  # for each move once the clock has run out
    binc: int = 0
    winc: int = 0
    infinite: bool = False
    ponder: bool = False
    mate: bool = False
    searchmoves: tuple[str, ...] = ()

    def ends(self, white: bool) -> bool:
        """Whether any limit ends the search of this side without `stop`."""
        clock = self.wtime if white else self.btime
        return any(limit is not None for limit in (self.depth, self.nodes, self.movetime, clock)) or self.byoyomi > 0

    def limits(self, white: bool, overhead: float) -> Limits:
        """Return the limits of the search for one side; `overhead`: seconds lost between the clock and the search."""
        from games.search.clock import Clock, limits_of, limits_of_move
        from games.search.searcher import Limits

        remaining, increment = (self.wtime, self.winc) if white else (self.btime, self.binc)
        limits = Limits()
        if self.infinite:
            pass
        elif self.movetime is not None:
            limits = limits_of_move(self.movetime / 1000, overhead)
        elif remaining is not None and (remaining > 0 or not self.byoyomi):
            limits = _with_byoyomi(limits_of(Clock(remaining / 1000, increment / 1000), overhead), self.byoyomi / 1000)
        elif self.byoyomi:
            limits = limits_of_move(self.byoyomi / 1000, overhead)
        return Limits(depth=min(self.depth or limits.depth, limits.depth), nodes=min(self.nodes or limits.nodes, limits.nodes),
                      seconds=limits.seconds, soft_seconds=limits.soft_seconds)


def _with_byoyomi(limits: Limits, byoyomi: float) -> Limits:
    """Add to the soft limit what every move may take besides the clock; the hard limit stays that of the clock and of it."""
    if not byoyomi or limits.seconds is None or limits.soft_seconds is None:
        return limits
    return replace(limits, seconds=limits.seconds + byoyomi / 2, soft_seconds=limits.soft_seconds + byoyomi / 2)


def parse_go(words: Sequence[str]) -> tuple[Go, list[str]]:
    """Parse the words after `go`; returns the valid arguments and a message for each invalid one."""
    if MATE in words:
        return Go(mate=True), []
    found, faults = arguments_of_go(words, NUMBERS, FLAGS, MOVES)
    return Go(**found), faults
