"""Arguments of the public functions: values of the right types, and options of
records as keywords."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, ParamSpec, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np

from games.streams import InputError, one_line
from tuner.core.records import convert_fields, types_of
from tuner.io.terminal import Display
from tuner.options.option import options_in

P = ParamSpec("P")
R = TypeVar("R")


class KeptNotes(Display):
    """A display that shows nothing and keeps the notes."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def note(self, text: str) -> None:
        """Keep a note."""
        self.lines.append(text)


def typed(function: Callable[P, R]) -> Callable[P, R]:
    """The same function, with InputError for an argument that is not of the type in its
    annotation."""
    checked: Callable[P, R] = _checked(function, inspect.signature(function), get_type_hints)
    return checked


def takes(record: Callable[..., Any]) -> Callable[[Callable[..., Any]], Any]:
    """The same for a function with `**options`: the options of a record are keywords, with their
    types, defaults and choices. It gets those that are given."""
    assert isinstance(record, type)
    names = {each.name for each in options_in(record)}
    more = [
        inspect.Parameter(
            each.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=each.default,
            annotation=types_of(record)[each.name],
        )
        for each in options_in(record)
    ]

    def decorate(function: Callable[..., Any]) -> Any:
        signature = inspect.signature(function)
        own = [each for each in signature.parameters.values() if each.kind is not each.VAR_KEYWORD]

        @functools.wraps(function)
        def chosen(*args: Any, **kwargs: Any) -> Any:
            given = {name: kwargs.pop(name) for name in names & set(kwargs)}
            return function(*args, **kwargs, **convert_fields(given, record, function.__name__))

        return _checked(
            chosen,
            signature.replace(parameters=[*own, *more]),
            lambda each: get_type_hints(function),
        )

    return decorate


def _checked(
    function: Callable[..., Any],
    signature: inspect.Signature,
    hints_of: Callable[[Any], dict[str, Any]],
) -> Any:
    """Return a function of this signature that checks the types of its arguments."""

    @functools.wraps(function)
    def checked(*args: Any, **kwargs: Any) -> Any:
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError as problem:
            raise TypeError(f"{function.__name__}() {problem}") from None
        hints = hints_of(function)
        for name, value in bound.arguments.items():
            plain = bound.arguments[name] = value.item() if isinstance(value, np.generic) else value
            if name in hints and not _fits(plain, hints[name]):
                raise InputError(
                    f"{function.__name__}: {name} is {shown(value)}, expected {_said(hints[name])}"
                )
        return function(*bound.args, **bound.kwargs)

    checked.__signature__ = signature  # type: ignore[attr-defined]  # what `help` shows
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
    if origin is tuple and inner[-1] is not Ellipsis:
        return (
            isinstance(value, tuple | list)
            and len(value) == len(inner)
            and all(map(_fits, value, inner))
        )
    if origin is not None:  # several; what an iterator yields is not known yet
        several = isinstance(value, origin) and not isinstance(value, str | bytes)
        return several and (
            not isinstance(value, Sequence) or all(_fits(each, inner[0]) for each in value)
        )
    if hint in (int, float):
        return isinstance(value, (int, hint)) and not isinstance(value, bool)
    return isinstance(value, hint)


def _said(hint: Any) -> str:
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        *first, last = map(_said, inner)
        return f"{', '.join(first)} or {last}"
    if origin is tuple and inner[-1] is not Ellipsis:
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
