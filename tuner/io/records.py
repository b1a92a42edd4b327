"""Plain data of files as records: a dataclass says which keys a mapping has, and of what kind their
values are."""

from __future__ import annotations

import functools
import json
import math
import types
from collections.abc import Callable, Hashable
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import (
    Annotated,
    Any,
    NoReturn,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

from games.streams import InputError

T = TypeVar("T")
MAX_NUMBER = 1e15  # no number of a run is larger; charts fail beyond


@dataclass(frozen=True)
class Kind:
    """A kind of scalar: its name, and the test that a value passes."""

    name: str
    holds: Callable[[Any], bool]


def _is_number(value: object) -> bool:
    return (
        isinstance(value, (int, float))
        and not isinstance(value, bool)
        and not abs(value) > MAX_NUMBER
    )


def _is_finite(value: Any) -> bool:
    return _is_number(value) and not math.isnan(value)


NUMBER = Kind("a number", _is_finite)
TEXT = Kind("a text", lambda value: isinstance(value, str))
KINDS = {
    float: NUMBER,
    str: TEXT,
    bool: Kind("true or false", lambda value: isinstance(value, bool)),
    int: Kind(
        "a whole number of 0 or more",
        lambda value: _is_finite(value) and value >= 0 and value == int(value),
    ),
}
# unknown values of a fit are NaN in its history
Maybe = Annotated[float, Kind("a number or NaN", _is_number)]
Count = Annotated[
    float, Kind("a number of 0 or more", lambda value: _is_finite(value) and value >= 0)
]
Scalar = Annotated[
    Any, Kind("a number or a text", lambda value: _is_finite(value) or isinstance(value, str))
]


def optional() -> Any:
    """Return a field of a record that is None, and then not written, if there is nothing to say."""
    return field(default=None, metadata={"optional": True})


def to_json(value: Any) -> Any:
    """Return a record as plain data, as `record` reads them. Fields that are only
    given by name come first: they are about the numbers of the rest."""
    if is_dataclass(value):
        return {
            part.name.rstrip("_"): to_json(inner)
            for part in sorted(fields(value), key=lambda part: not part.kw_only)
            if (inner := getattr(value, part.name)) is not None or "optional" not in part.metadata
        }
    if isinstance(value, (list, tuple)):
        return [to_json(item) for item in value]
    if isinstance(value, dict):
        return {key: to_json(item) for key, item in value.items()}
    return value


def record(kind: type[T], value: object, place: str, where: str = "") -> T:
    """Return the record of plain data. InputError that starts with `place` and names the part
    `where`, if a key without default is missing or a value is of another kind; unknown keys are
    ignored. A field `from_` is the key "from"."""
    if not isinstance(value, dict):
        _refuse(place, where, value, "an object")
    found = {}
    for name, inner, required in _fields(cast(Hashable, kind)):
        key = name.rstrip("_")
        if required and key not in value:
            raise InputError(f"{place}: {where + ' ' if where else ''}lacks {key!r}")
        if key in value and (required or value[key] is not None):
            found[name] = _value(inner, value[key], place, f"{where}.{key}" if where else key)
    return kind(**found)


@functools.cache
def _fields(kind: Hashable) -> list[tuple[str, Any, bool]]:
    """Return name, type and whether it is required, of each field of a dataclass."""
    hints = get_type_hints(cast(type, kind), include_extras=True)
    return [
        (
            field.name,
            hints[field.name],
            field.default is MISSING and field.default_factory is MISSING,
        )
        for field in fields(cast(Any, kind))
    ]


def _value(kind: Any, value: Any, place: str, where: str) -> Any:
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        return None if value is None else _value(arguments[0], value, place, where)
    if origin is list:
        if not isinstance(value, list):
            _refuse(place, where, value, "a list")
        return [_value(arguments[0], item, place, f"{where}[{i}]") for i, item in enumerate(value)]
    if origin is tuple:
        if not isinstance(value, list) or len(value) != len(arguments):
            _refuse(place, where, value, f"a list of {len(arguments)} items")
        return tuple(
            _value(inner, item, place, f"{where}[{i}]")
            for i, (inner, item) in enumerate(zip(arguments, value, strict=True))
        )
    if origin is dict:
        if not isinstance(value, dict):
            _refuse(place, where, value, "an object")
        return {
            str(key): _value(arguments[1], item, place, f"{where}.{key}")
            for key, item in value.items()
        }
    if is_dataclass(kind):
        return record(cast("type[Any]", kind), value, place, where)
    wanted = arguments[1] if origin is Annotated else KINDS[kind]
    if not wanted.holds(value):
        _refuse(place, where, value, wanted.name)
    return value


def _refuse(place: str, where: str, value: object, expected: str) -> NoReturn:
    raise InputError(f"{place}: {where or 'it'} is {shown(value)}, expected {expected}")


def shown(value: object) -> str:
    """A value in a few words."""
    if isinstance(value, list):
        return f"a list of {len(value)}"
    return "an object" if isinstance(value, dict) else json.dumps(value, default=str)[:40]


def read_json(path: Path, kind: type[T], largest: int, writer: str) -> T | None:
    """Read a file as a record, None if there is none; InputError if `writer` did not write it."""
    try:
        if path.stat().st_size > largest:
            raise InputError(f"{path}: more than {largest >> 20} MB, expected what {writer} writes")
        plain = json.loads(path.read_text(encoding="utf-8"), parse_constant=_not_json)
    except FileNotFoundError:
        return None
    except InputError:
        raise
    except (OSError, ValueError) as problem:
        raise InputError(f"{path}: cannot be read: {problem}") from None
    except RecursionError:
        raise InputError(f"{path}: nested too deep, expected what {writer} writes") from None
    if not isinstance(plain, dict):
        raise InputError(f"{path}: not what {writer} writes, expected a JSON object")
    return record(kind, plain, str(path))


def _not_json(text: str) -> NoReturn:
    raise ValueError(f"{text} is not JSON")


def read_lines(path: Path, kind: type[T], torn: bool) -> list[T]:
    """Read the lines of a history; with `torn` the last may be incomplete, as a killed process
    leaves it."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise InputError(
            f"{path}: no such file; the run was not finished, or it was removed"
        ) from None
    except (OSError, ValueError) as problem:
        raise InputError(f"{path}: cannot be read: {problem}") from None
    lines = text.split("\n")
    records = []
    for number, line in enumerate(lines, 1):
        if number == len(lines) and not line:
            break
        try:
            plain = json.loads(line)
        except (ValueError, RecursionError):
            if torn and number == len(lines):
                break
            plain = None
        needed = [name for name, _, required in _fields(cast(Hashable, kind)) if required]
        if not isinstance(plain, dict) or any(name.rstrip("_") not in plain for name in needed):
            raise InputError(
                f"{path}:{number}: damaged, expected a JSON object with {', '.join(needed)}"
            )
        records.append(record(kind, plain, f"{path}:{number}"))
    return records
