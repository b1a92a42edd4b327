"""The numbers to optimise, and the files that name them: lines of OpenBench, or weather-factory's
JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from games.streams import InputError, one_line
from tuner.io.files import read_whole

NUMBERS = "numbers.txt"  # the file in the folder of a run
LARGEST_FILE, MOST = 1 << 20, 1000  # bytes, and numbers
FORM = "name, int or float, value, min, max, c_end, r_end"
KEYS = ("value", "min_value", "max_value", "step")
USUAL_RATE = 0.002  # r_end where a file has none, as OpenBench proposes
TRIES = 100  # to round two sides apart
SHOWN_DIGITS = 3  # digits of a step that a value that is no whole number keeps


class Number(NamedTuple):
    """A number to optimise, with the fields of a line of OpenBench: `value` is the given one,
    `step` the last perturbation (c_end), `rate` the last learning rate (r_end)."""

    name: str
    whole: bool
    value: float
    low: float
    high: float
    step: float
    rate: float = USUAL_RATE

    @property
    def digits(self) -> int:
        """Digits after the point of the values that are played."""
        return 0 if self.whole else max(0, SHOWN_DIGITS - 1 - math.floor(math.log10(self.step)))

    def text(self, value: float) -> str:
        """Return a value as it is given to a player, and written into files."""
        return f"{round(value, self.digits) + 0.0:.{self.digits}f}"  # not -0

    def rounded(self, value: float) -> float:
        """Return the nearest value that can be played."""
        nearest = float(self.text(value))
        return min(max(nearest, self.low), self.high)

    def line(self, value: float) -> str:
        """Return the line of OpenBench, with another value."""
        limits = ", ".join(
            f"{limit:.0f}" if self.whole else f"{limit:g}" for limit in (self.low, self.high)
        )
        kind = "int" if self.whole else "float"
        return f"{self.name}, {kind}, {self.text(value)}, {limits}, {self.step:g}, {self.rate:g}"


def read_numbers(path: Path) -> tuple[Number, ...]:
    """Read the numbers of a file; InputError names the line, or in JSON the number, that is
    wrong."""
    text = _text(path)
    of_json = text.lstrip().startswith("{")
    numbers: list[Number] = []
    seen: set[str] = set()
    for place, number in (_of_json if of_json else _of_lines)(path, text):
        if fault := next(_faults(number), None):
            raise InputError(f"{place}: {one_line(fault)}")
        if number.name in seen:
            raise InputError(f"{place}: {one_line(number.name)} is there twice; remove one")
        seen.add(number.name)
        numbers.append(number)
    if not 1 <= len(numbers) <= MOST:
        raise InputError(f"{path}: has {len(numbers):,} numbers, expected 1 to {MOST:,}: {FORM}")
    return tuple(numbers)


def _text(path: Path) -> str:
    try:
        return read_whole(path, LARGEST_FILE, "numbers to optimise").decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        raise InputError(f"{path}: byte {problem.start}: not UTF-8, expected {FORM}") from None
    except OSError as problem:
        raise InputError(f"{path}: cannot be read: {problem.strerror}") from None


def _of_lines(path: Path, text: str) -> Iterator[tuple[str, Number]]:
    for line, words in enumerate(text.splitlines(), 1):
        if not words.strip() or words.lstrip().startswith("#"):
            continue
        place, fields = f"{path}:{line}", [field.strip() for field in words.split(",")]
        if len(fields) != len(Number._fields):
            raise InputError(
                f"{place}: {len(fields)} fields between commas, expected"
                f" {len(Number._fields)}: {FORM}"
            )
        if fields[1] not in ("int", "float"):
            raise InputError(f"{place}: {one_line(fields[1])[:40]!r}, expected int or float")
        values = []
        for name, field in zip(Number._fields[2:], fields[2:], strict=True):
            try:
                values.append(float(field))
            except ValueError:
                raise InputError(
                    f"{place}: {name} is {one_line(field)[:40]!r}, expected a number"
                ) from None
        yield place, Number(fields[0], fields[1] == "int", *values)


def _of_json(path: Path, text: str) -> Iterator[tuple[str, Number]]:
    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            names = [name for name, _ in pairs]
            twice = next(name for name in names if names.count(name) > 1)
            raise InputError(f"{path}: {one_line(twice)} is there twice; remove one")
        return found

    try:
        plain = json.loads(text, object_pairs_hook=once)
    except json.JSONDecodeError as problem:
        raise InputError(f"{path}:{problem.lineno}: not JSON: {problem.msg}") from None
    except InputError:
        raise
    except ValueError:
        raise InputError(f"{path}: a number has too many digits; write a shorter one") from None
    except RecursionError:
        raise InputError(f"{path}: nested too deeply; expected an object of numbers") from None
    for name, fields in plain.items():
        place = f"{path}: {one_line(name)}"
        if not isinstance(fields, dict) or set(fields) != set(KEYS):
            raise InputError(f"{place}: expected an object with {', '.join(KEYS)}")
        for key in KEYS:
            if type(fields[key]) not in (int, float):
                raise InputError(f"{place}: {key} is {fields[key]!s:.40}, expected a number")
        whole = all(type(fields[key]) is int for key in KEYS[:3])
        try:
            yield place, Number(name, whole, *(float(fields[key]) for key in KEYS))
        except OverflowError:
            raise InputError(f"{place}: a number is too large") from None


def _faults(number: Number) -> Iterator[str]:
    """Yield what is wrong with a number."""
    name, whole, value, low, high, step, rate = number
    if not name:
        yield "the name is empty"
    if not all(math.isfinite(each) and abs(each) <= 1e9 for each in number[2:]):
        yield f"{name}: expected numbers of at most 1e9"
    if whole and not all(each.is_integer() for each in (value, low, high)):
        yield f"{name} is an int, but value, min or max is no whole number; write float"
    if not low < high:
        yield f"{name}: min is {low:g} and max is {high:g}, expected the smaller first"
    if not low <= value <= high:
        yield f"{name}: value is {value:g}, expected a number from {low:g} to {high:g}"
    if not 1e-6 * (high - low) <= step <= high - low:
        yield (
            f"{name}: step (c_end) is {step:g}, expected more than 0 and at most"
            f" {high - low:g}, the range"
        )
    if not 0 < rate <= 1:
        yield f"{name}: rate (r_end) is {rate:g}, expected more than 0 and at most 1"


Values: TypeAlias = tuple[float, ...]


def rounded_apart(
    numbers: Sequence[Number], a: np.ndarray, b: np.ndarray, draws: np.random.Generator
) -> tuple[Values, Values]:
    """Return the values that both sides of a pair play with: whole numbers are rounded at random,
    both sides' by the same draws, so that on average they are what was proposed. Sides that are
    equal then are rounded again, since their games would tell nothing."""

    def rounded(side: np.ndarray, shares: np.ndarray) -> Values:
        return tuple(
            number.rounded(math.floor(value + share) if number.whole else value)
            for number, value, share in zip(numbers, side, shares, strict=True)
        )

    for _ in range(TRIES):
        shares = draws.random(len(numbers))
        sides = rounded(a, shares), rounded(b, shares)
        if sides[0] != sides[1]:
            break
    return sides
