"""Kinds of values of options, and how those of several parts are written on the command line."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

from msgspec import Meta

from games.streams import InputError
from tuner.core.records import Count, convert

MOST_HIDDEN, WIDEST = 7, 4096  # layers of a network, units of a layer
BOARD, TERMS, BOTH = "board", "terms", "both"  # inputs of a network
LARGEST_SCORE = 1e5  # centipawns
TimeControl = Annotated[
    tuple[Annotated[float, Meta(gt=0, lt=1e6)], Annotated[float, Meta(ge=0, lt=1e6)]],
    Meta(description="a time control in seconds, such as 10+0.1"),
]
PliesRange = Annotated[
    tuple[Count, Count],
    Meta(description="FIRST:LAST, two numbers of plies in order, such as 10:50"),
]
Widths = Annotated[
    tuple[Annotated[int, Meta(ge=1, le=WIDEST)], ...],
    Meta(
        max_length=MOST_HIDDEN,
        description=f"a list of 1 to {MOST_HIDDEN} whole numbers from 1 to {WIDEST} such as 64 or"
        " 256,32, or 0 for none",
    ),
]


def plies_range(text: str) -> tuple[int, int]:
    """Parse FIRST:LAST, two numbers of plies in order."""
    first, _, last = text.partition(":")
    found: tuple[int, int] = convert((int(first), int(last)), PliesRange, "")
    if found[0] > found[1]:
        raise ValueError("not in order")
    return found


def widths(text: str) -> tuple[int, ...]:
    """Parse the widths of the hidden layers of a network."""
    found: tuple[int, ...] = convert(
        [] if text == "0" else [*map(int, text.split(","))], Widths, ""
    )
    return found


def time_control(text: str) -> tuple[float, float]:
    """Parse BASE+INC, seconds of a game and for each move."""
    base, _, increment = text.partition("+")
    found: tuple[float, float] = convert((float(base), float(increment or 0)), TimeControl, "")
    return found


def named_values(texts: Iterable[str], option: str) -> dict[str, str]:
    """Return the values by name of texts NAME=VALUE that were given to an option; InputError for
    another form."""
    values = {}
    for text in texts:
        name, separator, value = text.partition("=")
        if not separator or not name:
            raise InputError(f"{option} {text}: expected NAME=VALUE")
        values[name] = value
    return values
