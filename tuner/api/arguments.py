"""Arguments of the public functions: values of the right types, and options of
records as keywords."""

import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, ParamSpec, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np

from games.streams import one_line
from tuner.core.records import InputError, Settings, convert_fields
from tuner.io.terminal import Display
from tuner.options.option import options_in
from tuner.report.page import render_inline
from tuner.results.result import RunResult

RunResult.in_notebook.append(render_inline)
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
    checked: Callable[P, R] = _checked(function, Settings)
    return checked


def takes(record: Callable[..., Any]) -> Callable[[Callable[..., Any]], Any]:
    """The same for a function with `**options`: the options of a record are keywords, with their
    types, defaults and choices. It gets those that are given."""
    return functools.partial(_checked, record=record)


def _checked(function: Callable[..., Any], record: Any) -> Any:
    options, types = {each.name: each for each in options_in(record)}, get_type_hints(record)
    signature = inspect.signature(function)
    own = [each for each in signature.parameters.values() if each.kind is not each.VAR_KEYWORD]
    more = [
        inspect.Parameter(
            name, inspect.Parameter.KEYWORD_ONLY, default=each.default, annotation=types[name]
        )
        for name, each in options.items()
    ]
    signature = signature.replace(parameters=[*own, *more])

    @functools.wraps(function)
    def checked(*args: Any, **kwargs: Any) -> Any:
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError as problem:
            raise TypeError(f"{function.__name__}() {problem}") from None
        hints, found = get_type_hints(function), bound.arguments
        for name, value in found.items():
            found[name] = value.item() if isinstance(value, np.generic) else value
            if name in hints and not _fits(found[name], hints[name]):
                raise InputError(
                    f"{function.__name__}: {name} is {shown(value)}, expected {_said(hints[name])}"
                )
        given = {
            name: options[name].read_word(value) for name, value in found.items() if name in options
        }
        found.update(convert_fields(given, record, function.__name__))
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
    if origin is not None:
        return f"several of {_said(inner[0])}"
    return "None" if hint is NoneType else str(hint.__name__)


def paths_of(games: str | Path | Iterable[str | Path]) -> list[str]:
    """One path or several as a list."""
    return [str(games)] if isinstance(games, str | Path) else [str(path) for path in games]
