"""The whole numbers that the types of languages hold, and the type that stands with a number of a
source."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

from tuner.export.into.source import Number, SourceText


class Limits(NamedTuple):
    """The smallest and the largest number of a type."""

    type: str
    low: int
    high: int


# a type whose name has its bits: uint8_t, int_least16_t, i8, u32, int8
SIZED = re.compile(r"(?:(u)?int(?:_least|_fast)?|(u)|i)(8|16|32|64)(?:_t)?")
# others: whether they have no sign, and their bits
OTHERS = {
    **{"sbyte": (False, 8), "ushort": (True, 16), "uint": (True, 32), "ulong": (True, 64)},
    **{"size_t": (True, 64), "usize": (True, 64), "uintptr_t": (True, 64), "bool": (True, 1)},
}
# the same of words that mean different types, by language; C's if the language has no own
SIGNED = {"byte": {"Java": (False, 8), "": (True, 8)}}
SIGNED["char"] = {"Java": (True, 16), "C#": (True, 16), "": (False, 8)}
# types that hold every weight, and words in whose place there may be one
WIDE = {
    *("int", "long", "auto", "var", "let", "define", "enum", "i128", "i64", "isize", "int64"),
    *("float", "double", "decimal", "f32", "f64", "float32", "float64"),
}
CAST = re.compile(r"\(\s*((?:[\w:]+\s*)+)\)\s*$")  # in front of a number
ELEMENTS = re.compile(r"\[[\w.]*\]\s*(\w+)\s*\{")  # of a list of Go: []int8{
NEAR = 20_000  # characters in front of a number in which its list may begin


def limits_of(words: Sequence[str], language: str) -> Limits | None:
    """Return the limits of the type that words of a declaration name; None if none of them limits
    what a weight can be."""
    there = set(words)
    for word in words:
        unsigned, bits = OTHERS.get(word, (False, 0))
        if found := SIZED.fullmatch(word):
            unsigned, bits = bool(found[1] or found[2]), int(found[3])
        elif word in SIGNED:
            unsigned, bits = SIGNED[word].get(language, SIGNED[word][""])
            unsigned = unsigned or "unsigned" in there
        elif word == "short" or word == "unsigned" and not there & {"char", "short"}:
            unsigned = "unsigned" in there
            bits = 16 if word == "short" else 64 if "long" in there else 32
        if bits:
            shown = f"unsigned {word}" if "unsigned" in there and word != "unsigned" else word
            low, high = (0, 2**bits - 1) if unsigned else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
            return Limits(shown, low, high)
    return None


def words_beside(number: Number, source: SourceText, types: Sequence[str]) -> Iterator[list[str]]:
    """Yield the words of the types that stand with a number, the innermost first: its suffix, a
    cast, the elements of its list, and the `types` of its declaration, which say nothing of what a
    call is given: `Score tempo = S(-5, 3);`."""
    yield [number.suffix.lstrip("_")]
    before = source.code[max(0, number.start - NEAR) : number.start]
    if cast := CAST.search(before[-80:]):
        yield re.findall(r"\w+", cast[1])
    lists = list(ELEMENTS.finditer(before)) if source.language.name == "Go" else []
    if lists and before.count("{", lists[-1].start()) > before.count("}", lists[-1].start()):
        yield [lists[-1][1]]
    called = _called_with(before)
    if called is None or called in types:  # `uint8_t tempo(5);` is no call
        yield list(types)
    else:
        yield [called]


def _called_with(before: str) -> str | None:
    """Return the name in front of the innermost parenthesis that is open at the end of a text; None
    if there is none in its statement."""
    statement = before[before.rfind(";") + 1 :]
    at = statement.rfind("(")
    while at >= 0 and statement.count("(", at) <= statement.count(")", at):
        at = statement.rfind("(", 0, at)
    name = re.search(r"(\w+)!?\s*$", statement[: max(at, 0)])
    return name[1] if name else None


@cache
def target_of(name: str, sources: tuple[SourceText, ...]) -> list[str]:
    """Return the words of the type that a typedef of these sources gives a name; none if there is
    no such typedef."""
    if not re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII):
        return []
    forms = rf"typedef\s+([\w\s:]+?)\s+{name}\s*;|\b(?:using|type)\s+{name}\s*=?\s*([\w: \t]+)"
    found = next(filter(None, (re.search(forms, source.code) for source in sources)), None)
    return re.findall(r"\w+", found[1] or found[2]) if found else []


def limits_at(
    number: Number, source: SourceText, types: Sequence[str], sources: tuple[SourceText, ...]
) -> Limits | None:
    """Return the limits of the innermost type that stands with a number; None if nothing limits
    it."""
    language = source.language.name
    for words in words_beside(number, source, types):
        meant = [target for word in words for target in target_of(word, sources) or [word]]
        if found := limits_of(meant, language):
            return found
    return None


def is_unknown(
    number: Number, source: SourceText, types: Sequence[str], sources: tuple[SourceText, ...]
) -> bool:
    """Return whether a number is of a declared type of which nothing is known."""
    *_, words = words_beside(number, source, types)
    meant = {target for word in words for target in target_of(word, sources) or [word]}
    of_declaration = words == list(types) and len(words) > 0
    limits = limits_at(number, source, types, sources)
    return of_declaration and limits is None and WIDE.isdisjoint(meant)
