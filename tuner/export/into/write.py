"""Write the planned numbers into sources, or compare them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from games.streams import InputError
from tuner.export.into.align import Edit, replaced_text
from tuner.export.into.literals import spelled
from tuner.export.into.plan import Target
from tuner.export.into.tokens import SPACE, Source
from tuner.export.numbers import Rounded
from tuner.io.files import BUNDLED, replaced, require_other

FLOAT_TYPES = {"float", "double", "f32", "f64", "float32", "float64", "decimal"}
# the range of the types whose names say it; in Java a byte has a sign
RANGES = {name: (-2**(bits - 1), 2**(bits - 1) - 1) for bits, names in (
    (8, ("int8_t", "i8", "sbyte", "int8")), (16, ("int16_t", "i16", "short", "int16"))) for name in names} | {
    name: (0, 2**bits - 1) for bits, names in (
        (8, ("uint8_t", "u8", "uint8")), (16, ("uint16_t", "u16", "ushort", "uint16")),
        (32, ("uint32_t", "u32", "uint", "uint32", "unsigned"))) for name in names}


@dataclass(frozen=True)
class Written:
    """A source with its new text. `lines` are those with numbers of parameters."""

    source: Source
    text: str
    numbers: int
    lines: tuple[int, ...]


def require_sources(paths: Sequence[Path], reads: Iterable[str | None], check: bool) -> None:
    """InputError for a source that cannot be replaced: an input of the command, named twice, read-only, or no file."""
    for i, path in enumerate(paths):
        require_other(path, (*reads, *map(str, paths[:i])))
        place = Path(os.path.realpath(path))
        if os.path.exists(place) and not os.path.isfile(place):
            raise InputError(f"{path}: is a {'folder' if place.is_dir() else 'device or a pipe'}, expected a source file")
        if not check and os.path.isfile(place):
            if place.is_relative_to(BUNDLED):
                raise InputError(f"{path}: is in the folder of the bundled parameter files; choose another place")
            if not os.access(place, os.W_OK) or not os.stat(place).st_mode & 0o222:
                raise InputError(f"{path}: is read-only; make it writable first")


def differences(targets: Sequence[Target], r: Rounded) -> list[Target]:
    """Return the targets whose number in the source is not that of the parameter file, after rounding."""
    return [target for target in targets if abs(target.number.value - target.value) > 0.5 * 10.0**-r.decimals * 1e-6]


def new_texts(targets: Sequence[Target], r: Rounded) -> list[Written]:
    """Return the new text of each source. InputError if a number cannot be written where the old one is."""
    found = []
    sources = {target.source.path: target.source for target in targets}
    for path, source in sources.items():
        own = [target for target in targets if target.source.path == path]
        own.sort(key=lambda target: target.number.start)
        floats = {target.part.where for target in own if target.number.is_float or FLOAT_TYPES & set(target.part.types)}
        edits = [Edit(target.number.start, target.number.end, _text(target, r, target.part.where in floats)) for target in own]
        text, places = replaced_text(source.text, edits)
        _require_same(source, text, [(edit.start, edit.end) for edit in edits], places)
        lines = sorted({source.line(target.number.start) for target in own})
        found.append(Written(source, text, len(own), tuple(lines)))
    return found


def _text(target: Target, r: Rounded, as_float: bool) -> str:
    """The new text of a number; the old one if the value is the same."""
    number, at = target.number, target.source.at(target.number.start)
    old = target.source.text[number.start:number.end]
    if number.value == target.value:
        return old
    if r.decimals and not number.is_float and not as_float and target.value != int(target.value):
        raise InputError(f"{at}: {target.label} is the whole number {old} there, expected a float for --decimals {r.decimals}")
    for word in target.part.types:
        low, high = RANGES.get(word, (target.value, target.value))
        if not low <= target.value <= high:
            raise InputError(f"{at}: {target.label} is {r.text(target.value)}, but the type {word} of {target.part.where} "
                             f"ends at {low if target.value < low else high}")
    if number.is_unsigned and target.value < 0:
        raise InputError(f"{at}: {target.label} is {r.text(target.value)}, but {old} there is unsigned")
    return spelled(number, target.value, r.decimals, as_float)


def _require_same(source: Source, text: str, old: Sequence[tuple[int, int]], new: Sequence[tuple[int, int]]) -> None:
    """AssertionError if anything but spaces and these numbers has changed: the new text is split into tokens again."""
    again = Source(source.path, text, source.language)
    if _around(source, old) != _around(again, new):
        raise AssertionError(f"{source.path}: more than numbers would have changed")


def _around(source: Source, spans: Sequence[tuple[int, int]]) -> list[str]:
    """The texts of all tokens but spaces; numbers at these places, with their signs, are empty."""
    at = {start: end for start, end in spans}
    found, inside = [], 0
    for token in source.tokens:
        if token.start in at:
            inside = at[token.start]
            found.append("")
        elif token.start >= inside and token.kind != SPACE:
            found.append(source.of(token))
    return found


def write_sources(written: Sequence[Written]) -> list[Written]:
    """Write the sources whose text has changed, with the permissions that they had; return these."""
    changed = [one for one in written if one.text != one.source.text]
    for one in changed:
        path = Path(one.source.path)
        mode = os.stat(path).st_mode & 0o7777
        with replaced(path) as temporary:
            temporary.write_bytes(one.text.encode("latin-1"))
            os.chmod(temporary, mode)
    return changed
