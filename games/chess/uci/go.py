"""Parse the UCI command `go`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from games.protocol.lines import arguments_of_go

NUMBERS = {"depth": 1, "nodes": 1, "mate": 1, "movetime": 0, "wtime": None, "btime": None, "winc": 0, "binc": 0,
           "movestogo": 0}  # with the smallest valid value; a clock that has run out is negative
FLAGS = ("infinite", "ponder")
MOVES = "searchmoves"
KNOWN = {*NUMBERS, *FLAGS, MOVES}


@dataclass(frozen=True)
class Go:
    """The arguments of a `go`; times in milliseconds; None: not given."""

    depth: int | None = None
    nodes: int | None = None
    mate: int | None = None  # in moves
    movetime: int | None = None
    wtime: int | None = None
    btime: int | None = None
    winc: int = 0
    binc: int = 0
    movestogo: int | None = None
    infinite: bool = False
    ponder: bool = False
    searchmoves: tuple[str, ...] = ()

    def clock(self, white: bool) -> tuple[int | None, int]:
        """Return the time left to a side and its increment per move."""
        return (self.wtime, self.winc) if white else (self.btime, self.binc)

    def ends(self, white: bool) -> bool:
        """Whether any limit ends the search of this side without `stop`."""
        return any(limit is not None for limit in (self.depth, self.nodes, self.mate, self.movetime, self.clock(white)[0]))


def parse_go(words: Sequence[str]) -> tuple[Go, list[str]]:
    """Parse the words after `go`; returns the valid arguments and a message for each invalid one."""
    found, faults = arguments_of_go(words, NUMBERS, FLAGS, MOVES)
    return Go(**found), faults
