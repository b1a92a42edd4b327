"""Parse the UCI command `go`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

NUMBER = re.compile(r"[+-]?[0-9]{1,18}", re.ASCII)
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
    found: dict[str, Any] = {}
    faults = []
    i = 0
    while i < len(words):
        word = words[i]
        i += 1
        if word in FLAGS:
            found[word] = True
        elif word in NUMBERS:
            value = words[i] if i < len(words) and words[i] not in KNOWN else ""
            i += bool(value)
            try:
                found[word] = number(word, value, NUMBERS[word])
            except ValueError as problem:
                faults.append(f"{problem}; ignored")
        elif word == MOVES:
            first = i
            while i < len(words) and words[i] not in KNOWN:
                i += 1
            if first == i:
                faults.append(f"{MOVES} names no move; ignored")
            found[word] = tuple(words[first:i])
        else:
            faults.append(f"go: unknown argument {word[:40]!a}; expected {', '.join([*NUMBERS, *FLAGS])} or {MOVES}")
    return Go(**found), faults


def number(name: str, text: str, least: int | None, most: int | None = None) -> int:
    """Parse a whole number within bounds; ValueError names what was found instead."""
    if not NUMBER.fullmatch(text):
        raise ValueError(f"{name} {text[:40]!a} is not a whole number" if text else f"{name} has no number")
    value = int(text)
    if (least is not None and value < least) or (most is not None and value > most):
        bounds = f"{least} or more" if most is None else f"from {least} to {most}"
        raise ValueError(f"{name} {value} is not {bounds}")
    return value
