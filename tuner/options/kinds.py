"""Kinds of values of options: each reads the text of the command line, and checks a value of Python
or of a file."""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from games.streams import InputError

LARGEST_COUNT = 10**15  # beyond it compiled code's counters could overflow
MOST_HIDDEN, WIDEST = 7, 4096  # layers of a network, units of a layer
INPUTS = BOARD, TERMS, BOTH = "board", "terms", "both"  # of a network
LARGEST_SCORE = 1e5  # centipawns


@dataclass(frozen=True)
class NumberKind:
    """A number from `low` to `high`, without these themselves if it is `inner` (between them) or
    `below` (below `high`); `expected` says that in an error."""

    low: float
    high: float
    expected: str
    inner: bool = False
    below: bool = False
    whole: bool = False

    def __call__(self, text: str) -> float:
        """Parse a word of the command line."""
        try:
            value = int(text) if self.whole else float(text)
        except ValueError:
            value = float("nan")
        if not self.has(value):
            raise argparse.ArgumentTypeError(
                f"{text!r} is more than {self.high:,}"
                if self.whole and value > self.high
                else f"{text!r} is not {self.expected}"
            )
        return value

    def has(self, value: float) -> bool:
        """Return whether a number is one of these."""
        return (self.low < value if self.inner else self.low <= value) and (
            value < self.high if self.inner or self.below else value <= self.high
        )

    def require(self, name: str, value: object) -> None:
        """ValueError for a value of this name that is none of these numbers."""
        if not isinstance(value, int | float) or not self.has(value):
            raise ValueError(f"{name} is {str(value)[:40]}, expected {self.expected}")


def whole(least: int = 0, most: int = LARGEST_COUNT) -> NumberKind:
    """Whole numbers of `least` or more."""
    return NumberKind(least, most, f"a whole number of {least} or more", whole=True)


def between(low: float, high: float, example: str) -> NumberKind:
    """Numbers strictly between two limits."""
    return NumberKind(
        low, high, f"a number between {low:g} and {high:g}, such as {example}", inner=True
    )


COUNT, POSITIVE_COUNT = whole(), whole(1)
POSITIVE = NumberKind(0, float("inf"), "a positive number", inner=True)
UNIT = NumberKind(0, 1, "a number from 0 to 1, such as 0.7")
SHARE = NumberKind(0, 1, "a number from 0 to below 1, such as 0.1", below=True)
CENTIPAWNS = NumberKind(0, 1e4, "a number of centipawns from 0 to 10,000, such as 10")


class KeysOf(Collection[str]):
    """Choices that are the keys of a table in another module, which is imported when they are asked
    for."""

    def __init__(self, module: str, table: str, *more: str) -> None:
        self._module, self._table, self._more = module, table, more

    def __iter__(self) -> Iterator[str]:
        yield from getattr(importlib.import_module(self._module), self._table)
        yield from self._more

    def __contains__(self, name: object) -> bool:
        return any(name == other for other in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)


def plies_range(text: str) -> tuple[int, int]:
    """Parse FIRST:LAST, two numbers of plies in order."""
    first, separator, last = text.partition(":")
    if not (
        separator
        and first.isdecimal()
        and last.isdecimal()
        and int(first) <= int(last) <= LARGEST_COUNT
    ):
        raise argparse.ArgumentTypeError(
            f"{text!r} is not FIRST:LAST, two numbers of plies in order, such as 10:50"
        )
    return int(first), int(last)


def widths(text: str) -> tuple[int, ...]:
    """Parse the widths of the hidden layers of a network."""
    if text == "0":
        return ()
    parts = text.split(",")
    if len(parts) > MOST_HIDDEN or not all(
        part.isdecimal() and 1 <= int(part) <= WIDEST for part in parts
    ):
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a list of 1 to {MOST_HIDDEN} whole numbers from 1 to {WIDEST} such as"
            " 64 or 256,32, or 0 for none"
        )
    return tuple(map(int, parts))


def time_control(text: str) -> tuple[float, float]:
    """Parse BASE+INC, seconds of a game and for each move."""
    base, _, increment = text.partition("+")
    try:
        seconds = float(base), float(increment or 0)
    except ValueError:
        seconds = (0.0, 0.0)
    if not (0 < seconds[0] < 1e6 and 0 <= seconds[1] < 1e6):
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a time control in seconds, such as 10+0.1"
        )
    return seconds


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
