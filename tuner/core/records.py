"""What a value may be, said once by its type: options, settings, and lines of files are records.

A type has the words of its error: `Count` is "a whole number of 0 or more". The command line, files
and functions convert with the same types, so that they refuse a value with the same sentence."""

import contextlib
import functools
import importlib
import json
import math
import operator
import sys
import types
from collections.abc import Collection, Hashable, Iterator, Mapping
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import (
    Annotated,
    Any,
    Literal,
    NamedTuple,
    TypeAlias,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

import msgspec
from msgspec import Meta

from games.streams import InputError as InputError
from games.streams import one_line
from tuner.core.estimates import MAX_NUMBER, Estimate

T = TypeVar("T")
S = TypeVar("S", bound="Settings")
# of texts with bytes that are no UTF-8, where msgspec says that they are of another type
NOT_VALID = (msgspec.ValidationError, UnicodeEncodeError)
NOTHING = (None, ())  # what an option that was not given has
MAX_COUNT = 10**15  # beyond it counters of compiled code could overflow


def whole(least: int, most: int = MAX_COUNT) -> Any:
    """Return the type of whole numbers from `least` to `most`."""
    return Annotated[int, Meta(ge=least, le=most, description=f"a whole number of {least} or more")]


def between(low: float, high: float, example: str) -> Any:
    """Return the type of numbers strictly between two limits."""
    said = f"a number between {low:g} and {high:g}, such as {example}"
    return Annotated[float, Meta(gt=low, lt=high, description=said)]


Count = Annotated[int, Meta(ge=0, le=MAX_COUNT, description="a whole number of 0 or more")]
PositiveCount = Annotated[int, Meta(ge=1, le=MAX_COUNT, description="a whole number of 1 or more")]
Positive = Annotated[float, Meta(gt=0, lt=sys.float_info.max, description="a positive number")]
NotNegative = Annotated[
    float, Meta(ge=0, lt=sys.float_info.max, description="a number of 0 or more")
]
Unit = Annotated[float, Meta(ge=0, le=1.0, description="a number from 0 to 1, such as 0.7")]
Share = Annotated[float, Meta(ge=0, lt=1, description="a number from 0 to below 1, such as 0.1")]
Centipawns = Annotated[
    float, Meta(ge=0, le=1e4, description="a number of centipawns from 0 to 10,000, such as 10")
]
# numbers of files stay whole where they are written so
Number = Annotated[
    Annotated[int, Meta(ge=-(10**15), le=10**15)]
    | Annotated[float, Meta(ge=-MAX_NUMBER, le=MAX_NUMBER)],
    Meta(description="a number"),
]
Amount = Annotated[
    Annotated[int, Meta(ge=0, le=10**15)] | Annotated[float, Meta(ge=0, le=MAX_NUMBER)],
    Meta(description="a number of 0 or more"),
]
Scalar: TypeAlias = Number | str
WORDS = {
    int: "a whole number",
    float: "a number",
    str: "a text",
    bool: "true or false",
    types.NoneType: "null",
}


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


def convert(value: object, kind: Any, place: str, where: str = "") -> Any:
    """Return plain data as a value of a type: a record for a mapping, a tuple for a list.
    InputError that starts with `place` and names the part of `where`; unknown keys are ignored."""
    try:
        return msgspec.convert(value, kind)
    except NOT_VALID:
        about = f"{place}: " if place else ""
        raise InputError(about + find_fault(value, kind, where).sentence) from None


class Fault(NamedTuple):
    """What is wrong with plain data: the keys and indices that lead there, and a sentence."""

    keys: tuple[str | int, ...]
    sentence: str


class Twice(Exception):
    """A key that an object of JSON has twice."""


def with_each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the object of JSON with these pairs; Twice for a key that it has twice."""
    values = dict(pairs)
    if len(values) < len(pairs):
        names = [name for name, _ in pairs]
        raise Twice(next(name for name in names if names.count(name) > 1))
    return values


def find_fault(value: Any, kind: Any, where: str = "") -> Fault:
    """Return what is wrong with plain data that is not of a type, such as "games is 0, expected a
    whole number of 1 or more"."""
    for key, part, inner in _parts(value, kind):
        if part is MISSING:
            return Fault((), f"{where}{' ' if where else ''}lacks {key!r}")
        try:
            msgspec.convert(part, inner)
        except NOT_VALID:
            name = f"[{key}]" if isinstance(key, int) else one_line(key)[:40]
            at = f"{where}.{name}" if where and isinstance(key, str) else where + name
            fault = find_fault(part, inner, at)
            return Fault((key, *fault.keys), fault.sentence)
    return Fault((), f"{where or 'it'} is {shown(value)}, expected {expected(kind, value)}")


@dataclass(frozen=True, kw_only=True)
class Settings:
    """A record of options, and of what follows from them. A field whose default None is not of its
    type is known once the run begins."""

    @classmethod
    def recorded(cls) -> dict[str, Any]:
        """Return the names of what a run depends on, with their defaults: not where it is, nor what
        a resumed run may be given anew."""
        return {each.name: each.default for each in fields(cls) if not each.metadata.get("anew")}

    @property
    def plain(self) -> dict[str, Any]:
        """What a run depends on as plain data, without what has no value."""
        values = {
            name: value
            for name, usual in self.recorded().items()
            if (value := getattr(self, name)) not in NOTHING or value != usual
        }
        return cast(
            "dict[str, Any]",
            to_json({n: str(v) if isinstance(v, Path) else v for n, v in values.items()}),
        )

    def faults(self) -> Iterator[str]:
        """Yield a sentence for each two values that do not go together."""
        yield from ()


def make(kind: type[S], values: Mapping[str, Any], place: str = "") -> S:
    """Return the settings that have these values. InputError that starts with `place` for a value
    that a field cannot have, and for faults."""
    settings = kind(**convert_fields(values, kind, place))
    for sentence in settings.faults():
        raise InputError(f"{place}: {sentence}" if place else sentence)
    return settings


def convert_fields(values: Mapping[str, Any], kind: type, place: str = "") -> dict[str, Any]:
    """Return values by name as those of the fields of a record; InputError as for `convert`. None
    stays where it is the default."""
    hints, usual = types_of(kind), {each.name: each.default for each in fields(kind)}
    converted = {}
    for name, value in values.items():
        converted[name] = value
        if value is None and usual[name] is None:
            continue
        plain = convert(str(value) if isinstance(value, Path) else value, hints[name], place, name)
        choices = choices_of(hints[name])
        if choices is not None and plain is not None and plain not in choices:
            said = f"{name} is {shown(plain)}, expected one of {', '.join(choices)}"
            raise InputError(f"{place}: {said}" if place else said)
        if not isinstance(value, Path):
            converted[name] = plain
    return converted


def choices_of(kind: Any) -> Collection[str] | None:
    """Return the texts that a type consists of, None if others are in it, too."""
    inner = get_args(kind)
    if get_origin(kind) is Literal:
        return inner
    known = [each for each in inner if isinstance(each, KeysOf)]
    return known[0] if known else choices_of(inner[0]) if types.NoneType in inner else None


def _parts(value: Any, kind: Any) -> Iterator[tuple[str | int, Any, Any]]:
    """Yield the name, value and type of each part of a value whose form is that of a type."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Annotated and get_origin(inner[0]) is not None:
        kind, origin, inner = inner[0], get_origin(inner[0]), get_args(inner[0])
    if origin in (Union, types.UnionType):  # None, or one with parts
        for one in inner:
            yield from _parts(value, one)
    elif is_dataclass(kind) and isinstance(value, dict):
        for each in fields(kind):
            if each.name in value:
                yield each.name, value[each.name], types_of(cast(Hashable, kind))[each.name]
            elif each.default is MISSING and each.default_factory is MISSING:
                yield each.name, MISSING, None
    elif origin is dict and isinstance(value, dict):
        for key, part in value.items():
            yield str(key), part, inner[1]
    elif origin in (list, tuple) and isinstance(value, list | tuple):
        several = inner[0:1] * len(value) if origin is list or inner[-1] is ... else inner
        if len(several) == len(value):
            for i, (part, of) in enumerate(zip(value, several, strict=True)):
                yield i, part, of


@functools.cache
def types_of(kind: Hashable) -> dict[str, Any]:
    """Return the types of the fields of a record by their names; paths are texts."""
    return {
        name: _without_paths(hint)
        for name, hint in get_type_hints(kind, include_extras=True).items()
    }


def _without_paths(hint: Any) -> Any:
    inner = [str if one is Path else one for one in get_args(hint)]
    return functools.reduce(operator.or_, inner) if Path in get_args(hint) else hint


def expected(kind: Any, value: object = None) -> str:
    """Return what a type expects in place of a value, in words."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Annotated:
        said = [each for each in inner[1:] if isinstance(each, Meta)]
        for limit in said:
            if isinstance(value, int) and isinstance(limit.le, int) and value > limit.le:
                return f"at most {limit.le:,}"
        return next(filter(None, (each.description for each in said)), None) or expected(inner[0])
    if origin is Literal:
        return f"one of {', '.join(map(str, inner))}"
    if origin in (Union, types.UnionType):
        several = [expected(one, value) for one in inner if one is not types.NoneType]
        return " or ".join(dict.fromkeys(several))
    if origin is tuple and inner[-1] is not ...:
        return f"a list of {len(inner)} items"
    if origin in (list, tuple):
        return "a list"
    return WORDS.get(kind, "an object")


def shown(value: object) -> str:
    """Return a value in a few words."""
    if isinstance(value, list | tuple):
        return f"a list of {len(value)}"
    if isinstance(value, dict):
        return "an object"
    return one_line(json.dumps(value, default=repr))[:40]


def parse(text: str, kind: Any, name: str) -> Any:
    """Return the value of a type that a word of the command line has; InputError for the value of
    this name that the type does not have."""
    value: Any = text
    if has_numbers(kind):
        for number in (float, int):
            with contextlib.suppress(ValueError):
                value = number(text)
    return convert(value, kind, "", name)


def has_numbers(kind: Any) -> bool:
    """Return whether a type, or a part of it, is one of numbers."""
    return kind in (int, float) or any(map(has_numbers, get_args(kind)))


def optional() -> Any:
    """Return a field of a record that is None, and then not written, if there is nothing to say."""
    return field(default=None, metadata={"optional": True})


def to_json(value: Any) -> Any:
    """Return a record as plain data. Fields that are only given by name come first: they are about
    the numbers of the rest. A field `from_` is the key "from"."""
    if isinstance(value, Estimate):
        return value.plain
    if is_dataclass(value):
        return {
            part.name.rstrip("_"): to_json(inner)
            for part in sorted(fields(value), key=lambda part: not part.kw_only)
            if (inner := getattr(value, part.name)) is not None or "optional" not in part.metadata
        }
    if isinstance(value, list | tuple):
        return [to_json(item) for item in value]
    if isinstance(value, dict):
        return {key: to_json(item) for key, item in value.items()}
    return value


def round_finite(value: float, digits: int = 7) -> float | None:
    """Return a number for JSON, rounded; None if it is not finite."""
    return round(float(value), digits) if math.isfinite(value) else None


def plain_json(raw: bytes | str) -> dict[str, Any]:
    """Decode a JSON object, in which numbers that are not finite are None; ValueError says what is
    wrong with it."""
    try:
        plain = json.loads(raw, parse_constant=lambda text: None)
    except (ValueError, RecursionError):
        raise ValueError("not JSON") from None
    if not isinstance(plain, dict):
        raise ValueError("not a JSON object")
    return plain
