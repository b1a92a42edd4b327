"""What `go` asks for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

NUMBER = re.compile(r"[+-]?[0-9]{1,18}", re.ASCII)
NUMBERS = {"depth": 1, "nodes": 1, "mate": 1, "movetime": 0, "wtime": None, "btime": None, "winc": 0, "binc": 0,
           "movestogo": 0}  # and the least that makes sense; a clock that has run out shows less than nothing
FLAGS = ("infinite", "ponder")


@dataclass(frozen=True)
class Go:
    """The words of a `go`; times in milliseconds, None where nothing is said."""

    depth: int | None = None
    nodes: int | None = None
    mate: int | None = None  # in so many moves
    movetime: int | None = None
    wtime: int | None = None
    btime: int | None = None
    winc: int = 0
    binc: int = 0
    movestogo: int | None = None
    infinite: bool = False
    ponder: bool = False
    searchmoves: tuple[str, ...] = ()


def parse_go(words: Sequence[str]) -> Go:
    """The words after `go`; ValueError says what is wrong with them."""
    found: dict[str, object] = {}
    i = 0
    while i < len(words):
        word = words[i]
        i += 1
        if word in FLAGS:
            found[word] = True
        elif word in NUMBERS:
            value = words[i] if i < len(words) else ""
            found[word] = number(word, value, NUMBERS[word])
            i += 1
        elif word == "searchmoves":
            first = i
            while i < len(words) and words[i] not in NUMBERS and words[i] not in FLAGS:
                i += 1
            if first == i:
                raise ValueError("searchmoves names no move")
            found[word] = tuple(words[first:i])
        else:
            raise ValueError(f"go does not know {word!a}; expected {', '.join([*NUMBERS, *FLAGS])} or searchmoves")
    return Go(**found)


def number(name: str, text: str, least: int | None, most: int | None = None) -> int:
    """A whole number in these bounds; ValueError says what was found in its place."""
    if not NUMBER.fullmatch(text):
        raise ValueError(f"{name} {text[:40]!a} is not a whole number" if text else f"{name} lacks its number")
    value = int(text)
    if (least is not None and value < least) or (most is not None and value > most):
        bounds = f"{least} or more" if most is None else f"from {least} to {most}"
        raise ValueError(f"{name} {value} is not {bounds}")
    return value
