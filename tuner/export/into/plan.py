"""Which numbers of sources hold which numbers of a parameter file: by a map, by markers, by names."""

from __future__ import annotations

import fnmatch
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from games.streams import InputError
from tuner.export.into.definitions import definitions_of
from tuner.export.into.languages import language_of
from tuner.export.into.literals import Number
from tuner.export.into.matching import Matcher, MatchError
from tuner.export.into.named import Part, Parts, read_map, read_markers
from tuner.export.into.shapes import ShapeError, numbers_of
from tuner.export.into.tokens import Source
from tuner.export.numbers import Rounded
from tuner.io.files import read_whole
from tuner.parameters.layout import Place
from tuner.parameters.reader import listed

LARGEST = 16 << 20  # bytes of a source
MOST_NAMED = 12  # parameters without a definition, in an error


@dataclass(frozen=True)
class Target:
    """A number of a source, and the number of a parameter that it holds: its name, stage, column and new value."""

    label: str
    stage: int
    column: int
    value: float
    number: Number
    part: Part

    @property
    def source(self) -> Source:
        return self.part.source


def read_source_file(path: Path) -> Source:
    """Read the source of an engine; InputError if it is none."""
    language = language_of(path)
    try:
        content = read_whole(path, LARGEST, "source text")
    except FileNotFoundError:
        raise InputError(f"{path}: no such file; --into takes the source that holds the numbers") from None
    if b"\0" in content:
        raise InputError(f"{path}: holds zero bytes, expected source text with a byte for each character of code")
    return Source(str(path), content.decode("latin-1"), language)


def chosen(places: Sequence[Place], only: Sequence[str]) -> list[Place]:
    """Return the parameters that these names or globs match; all if there are none. InputError if one matches nothing."""
    for pattern in only:
        if not any(_matches(place, pattern) for place in places):
            raise InputError(f"--only {pattern}: names no parameter; expected a term, or a name or glob such as {places[0].path}")
    return [place for place in places if not only or any(_matches(place, pattern) for pattern in only)]


def _matches(place: Place, pattern: str) -> bool:
    return pattern == place.term or fnmatch.fnmatchcase(place.path, pattern)


def plan(r: Rounded, paths: Sequence[Path], map_path: Path | None = None, only: Sequence[str] = ()) -> list[Target]:
    """Find the number of the sources for every number of the parameters; InputError for the first that is not found, or is not
    there alone."""
    places, stages = r.parameters.layout.places, r.stages
    sources = [read_source_file(path) for path in paths]
    definitions = [d for source in sources for d in definitions_of(source)]
    named = {} if map_path is None else read_map(map_path, places, stages, definitions)
    marked: dict[str, Parts] = {}
    for source in sources:
        for name, there in read_markers(source, places, stages, definitions).items():
            if name in marked:
                raise InputError(f"{next(iter(there.values())).where}: a second marker for {name}; the first is at "
                                 f"{next(iter(marked[name].values())).where}")
            marked[name] = there
    matcher = Matcher(definitions, sources, stages)
    files = ", ".join(map(str, paths))
    found: list[Target] = []
    missing: list[tuple[str, str]] = []
    for place in chosen(places, only):
        parts = named.get(place.path, marked.get(place.path))
        try:
            found += _targets(r, place, _by_name(matcher, place, stages, not missing) if parts is None else parts)
        except MatchError as unmatched:
            missing.append((place.path, str(unmatched)))
    if missing:
        first, problem = missing[0]
        more = f" ({len(missing) - 1} more: {listed([name for name, _ in missing[1:]], MOST_NAMED)})" if len(missing) > 1 else ""
        raise InputError(f"{files}: {first}: {problem}{more}; write `{first}: NAME` in {map_path or 'a file for --map'}, or null "
                         "for NAME if it is not kept there")
    if not found:
        raise InputError(f"{map_path}: leaves no parameter to be written to {files}")
    _require_apart(found)
    return found


def _by_name(matcher: Matcher, place: Place, stages: Sequence[str], similar: bool) -> Parts:
    """The definitions with the name of a parameter; MatchError if there are none, or too many."""
    parts = [Part(d.node, d.source, d.where, d.types) for d in matcher.find(place, similar)]
    return {None: parts[0]} if len(parts) == 1 else dict(zip(stages, parts, strict=True))


def _targets(r: Rounded, place: Place, parts: Parts) -> list[Target]:
    """The numbers of the parts of a parameter, in the order of its numbers."""
    values, labels, stages = r.numbers(place), place.labels(), r.stages
    order = np.arange(place.size).reshape(place.shape)
    columns = (order[..., ::-1, :] if r.flipped and len(place.shape) > 1 else order).ravel().tolist()
    found: list[Target] = []
    for stage, part in parts.items():
        at = range(len(stages)) if stage is None else [stages.index(stage)]
        try:
            numbers = numbers_of(part.node, [stages[s] for s in at], place.shape)
        except ShapeError as problem:
            line = part.source.line(problem.start)
            raise InputError(f"{part.source.path}:{line}: {place.path}{'' if stage is None else '.' + stage}: {part.where} "
                             f"{problem}") from None
        for s, row in zip(at, numbers, strict=True):
            end = f".{stages[s]}" if len(stages) > 1 else ""
            found += [Target(labels[k] + end, s, place.first + k, value, number, part)
                      for k, value, number in zip(columns, values[s], row, strict=True)]
    return found


def _require_apart(targets: Sequence[Target]) -> None:
    """InputError if two parameters have the same number."""
    seen: dict[tuple[str, int], Target] = {}
    for target in targets:
        other = seen.setdefault((target.source.path, target.number.start), target)
        if other is not target:
            raise InputError(f"{target.source.at(target.number.start)}: both {other.label} and {target.label} would be written "
                             f"to this number of {target.part.where}; name their definitions with --map")
