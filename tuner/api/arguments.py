"""Arguments of the public functions: one of a wrong type is an error of one line."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, ParamSpec, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np

from games.streams import InputError
from tuner.io.text import one_line

P = ParamSpec("P")
R = TypeVar("R")


def typed(function: Callable[P, R]) -> Callable[P, R]:
    """The same function, with InputError for an argument that is not of the type in its annotation."""
    signature = inspect.signature(function)

    @functools.wraps(function)
    def checked(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError:  # Python itself says better which name is wrong
            return function(*args, **kwargs)
        hints = get_type_hints(function)
        for name, value in bound.arguments.items():
            plain = bound.arguments[name] = value.item() if isinstance(value, np.generic) else value
            if name in hints and not _fits(plain, hints[name]):
                raise InputError(f"{function.__name__}: {name} is {shown(value)}, expected "
                                 f"{_said(hints[name])}")
        return function(*bound.args, **bound.kwargs)

    return checked


def shown(value: object) -> str:
    """A value in an error, on one line and not long."""
    return one_line(repr(value))[:60]


def _fits(value: object, hint: Any) -> bool:
    origin, inner = get_origin(hint), get_args(hint)
    if hint is Any:
        return True
    if origin in (Union, UnionType):
        return any(_fits(value, each) for each in inner)
    if origin is tuple:
        return isinstance(value, tuple | list) and len(value) == len(inner) and all(map(_fits, value, inner))
    if origin is not None:  # several; what an iterator yields is not known yet
        several = isinstance(value, origin) and not isinstance(value, str | bytes)
        return several and (not isinstance(value, Sequence) or all(_fits(each, inner[0]) for each in value))
    if hint in (int, float):
        return isinstance(value, (int, hint)) and not isinstance(value, bool)
    return isinstance(value, hint)


def _said(hint: Any) -> str:
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        *first, last = map(_said, inner)
        return f"{', '.join(first)} or {last}"
    if origin is tuple:
        return f"({', '.join(map(_said, inner))})"
    if origin is not None:
        return f"several of {_said(inner[0])}"
    return "None" if hint is NoneType else str(hint.__name__)


def require_choice(function: str, name: str, value: str | None, choices: Iterable[str]) -> None:
    """InputError for a text that is none of the choices."""
    if value is not None and value not in (known := list(choices)):
        raise InputError(f"{function}: {name} is {value!r}, expected one of {', '.join(known)}")


def paths_of(games: str | Path | Iterable[str | Path]) -> list[str]:
    """One path or several as a list."""
    return [str(games)] if isinstance(games, str | Path) else [str(path) for path in games]
