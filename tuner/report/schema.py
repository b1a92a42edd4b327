"""Check plain data from files against a schema: wrong data is an InputError that names its place."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn, TypeGuard

from games.streams import InputError

LARGEST = 1e15  # no number of a run is larger; charts fail beyond

Shape = Any  # a Kind, a mapping of keys to shapes, or a list of the one shape of its items


@dataclass(frozen=True)
class Kind:
    """A kind of scalar: its name, and the test that a value passes."""

    name: str
    holds: Callable[[object], bool]


@dataclass(frozen=True)
class Needed:
    """The shape of a required key; `null`: its value may be null."""

    shape: Shape
    null: bool = False


@dataclass(frozen=True)
class Each:
    """A mapping of arbitrary names to values of one shape."""

    shape: Shape


@dataclass(frozen=True)
class Exactly:
    """A list of `length` items of one shape."""

    shape: Shape
    length: int


def _number(value: object) -> TypeGuard[float]:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and not abs(value) > LARGEST


def _finite(value: object) -> TypeGuard[float]:
    return _number(value) and not math.isnan(value)


NUMBER = Kind("a number", _finite)
MAYBE = Kind("a number or NaN", _number)  # unknown values of a fit are NaN in its history
COUNT = Kind("a number of 0 or more", lambda value: _finite(value) and value >= 0)
WHOLE = Kind("a whole number of 0 or more", lambda value: _finite(value) and value >= 0 and value == int(value))
TEXT = Kind("a text", lambda value: isinstance(value, str))
YES = Kind("true or false", lambda value: isinstance(value, bool))
SCALAR = Kind("a number or a text", lambda value: _finite(value) or isinstance(value, str))


def points_up_to(most: int) -> Kind:
    """Return what the points of a game are for one player: negative if they are the other's."""
    name = "-1, 0 or 1" if most == 1 else f"a whole number from -{most} to {most}"
    return Kind(name, lambda value: _finite(value) and value == int(value) and -most <= value <= most)


def require(place: str, value: object, shape: Shape, where: str) -> None:
    """Raise an InputError that starts with `place` and names the part `where`, unless the value has the shape. Null passes
    unless a key is required; keys that the shape does not name may have any value."""
    if isinstance(shape, Needed):
        if value is None and not shape.null:
            _fail(place, where, value, shape.shape.name if isinstance(shape.shape, Kind) else "an object")
        shape = shape.shape
    if value is None:
        return
    if isinstance(shape, Kind):
        if not shape.holds(value):
            _fail(place, where, value, shape.name)
    elif isinstance(shape, (dict, Each)):
        if not isinstance(value, dict):
            _fail(place, where, value, "an object")
        for key, inner in (shape.items() if isinstance(shape, dict) else ((key, shape.shape) for key in value)):
            if isinstance(inner, Needed) and key not in value:
                raise InputError(f"{place}: {where + ' ' if where else ''}lacks {key!r}")
            require(place, value.get(key), inner, f"{where}.{key}" if where else key)
    else:
        inner = shape.shape if isinstance(shape, Exactly) else shape[0]
        if not isinstance(value, list):
            _fail(place, where, value, "a list")
        if isinstance(shape, Exactly) and len(value) != shape.length:
            _fail(place, where, value, f"{shape.length} items")
        for i, item in enumerate(value):
            if item is None and isinstance(inner, dict):
                _fail(place, f"{where}[{i}]", item, "an object")
            require(place, item, inner, f"{where}[{i}]")


def _fail(place: str, where: str, value: object, expected: str) -> NoReturn:
    raise InputError(f"{place}: {where or 'it'} is {shown(value)}, expected {expected}")


def shown(value: object) -> str:
    """A value in a few words."""
    if isinstance(value, list):
        return f"a list of {len(value)}"
    return "an object" if isinstance(value, dict) else json.dumps(value)[:40]
