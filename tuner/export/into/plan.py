"""Which numbers of sources hold which numbers of a parameter file: by a map, by markers, by
name."""

import difflib
import fnmatch
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from games.streams import InputError
from tuner.core.text import listed
from tuner.export.into.definitions import (
    ENUM,
    FUNCTION,
    STEP,
    Definition,
    Node,
    Other,
    ShapeError,
    definitions_of,
    numbers_of,
    parts_of,
    stage_words,
    value_at,
    values_on_line,
)
from tuner.export.into.source import Number, SourceText, language_of, readable, text_of
from tuner.export.numbers import Rounded
from tuner.io.files import read_whole
from tuner.parameters.parameters import Place
from tuner.parameters.yaml_tree import YamlNode as YamlNode
from tuner.parameters.yaml_tree import read_tree

SIMILAR = 0.6  # ratio of difflib from which a name is shown as similar
MAX_NAMES = 4  # names in an error
INDEX = re.compile(r"(?:\[|::)\s*(\w+)\s*\]|\bcase\s+(\w+)")


class MatchError(Exception):
    """No definition, or several; the text says which."""


def key(name: str) -> str:
    """A name without case and signs, by which styles of names are equal."""
    return re.sub(r"[\W_]", "", name.lower())


class Matcher:
    """Finds definitions by the names of parameters."""

    def __init__(
        self,
        definitions: Sequence[Definition],
        sources: Sequence[SourceText],
        stages: Sequence[str],
    ) -> None:
        # a name with an expression for its value is no place for numbers, wherever else the name is
        self.definitions = [d for d in definitions if not isinstance(d.node, Other)]
        self.stages = stages
        self.first: dict[str, Definition] = {}  # of each name
        self.others: dict[
            str, tuple[Definition, str]
        ] = {}  # by key, the first whose value is no number, and its kind
        for definition in definitions:
            self.first.setdefault(definition.name, definition)
            if isinstance(definition.node, Other):
                self.others.setdefault(key(definition.name), (definition, definition.node.reason))
        self.by_key: dict[str, list[Definition]] = {}
        for definition in self.definitions:
            self.by_key.setdefault(key(definition.name), []).append(definition)
        self.indices = {word for source in sources for word in _indices(source)}

    def find(self, place: Place, similar: bool = True) -> tuple[Definition, ...]:
        """Return the definition of a parameter, or one for each stage: by term and name, or else by
        the name alone. MatchError if there are none or several; `similar`: it lists similar
        names."""
        for alone in (False, True):
            definitions = self._found(place, alone)
            if definitions is not None:
                return definitions
        names = _names(place, False)
        others = [self.others[name] for name in names if name in self.others]
        if others:
            definition, reason = min(
                others, key=lambda other: (other[0].source.path, other[0].start)
            )
            raise MatchError(f"{definition.where} holds {reason}, expected numbers")
        raise MatchError(f"no definition has its name{self._similar(place) if similar else ''}")

    def _found(self, place: Place, alone: bool) -> tuple[Definition, ...] | None:
        whole = self._named(place, _names(place, alone), {key(place.name)}, alone)
        stages = [
            self._named(
                place, _stage_names(place, stage, alone), _stage_names(place, stage, True), alone
            )
            for stage in self.stages
        ]
        if not whole and not any(stages):
            return None
        if len(whole) == 1 and not any(stages):
            return (whole[0],)
        if not whole and all(len(found) == 1 for found in stages):
            return tuple(found[0] for found in stages)
        several = [*whole, *(d for found in stages for d in found)]
        missing = [stage for stage, found in zip(self.stages, stages, strict=True) if not found]
        if not whole and missing and all(len(found) <= 1 for found in stages):
            raise MatchError(
                f"only the stage of {several[0].where} has a definition, {', '.join(missing)}"
                " lacks one"
            )
        raise MatchError(f"{len(several)} definitions have its name: {definitions_listed(several)}")

    def _named(
        self, place: Place, names: set[str], inner: set[str], alone: bool
    ) -> list[Definition]:
        """The definitions with one of these names, or within a scope of the term's name with one of
        the `inner` names."""
        definitions = [
            d
            for name in names
            for d in self.by_key.get(name, ())
            if not alone or self._may_be_alone(d)
        ]
        if not alone:
            seen = {id(d) for d in definitions}
            definitions += [
                d
                for name in inner
                for d in self.by_key.get(name, ())
                if d.scopes and key(d.scopes[-1]) in _terms(place) and id(d) not in seen
            ]
        outside = [d for d in definitions if d.kind != FUNCTION]
        return sorted(outside or definitions, key=lambda d: (d.source.path, d.start))

    def _may_be_alone(self, definition: Definition) -> bool:
        """Names of pieces and squares are indices: `PAWN = 0` of an enumeration has no piece's
        value."""
        return definition.kind != ENUM and definition.name not in self.indices

    def _similar(self, place: Place) -> str:
        """Definitions with similar names, for an error."""
        ratios: dict[str, float] = {}
        for wanted in _names(place, False) | _names(place, True):
            matcher = difflib.SequenceMatcher(None, b=wanted)
            for name in self.first:
                matcher.set_seq1(key(name))
                if matcher.real_quick_ratio() >= SIMILAR and matcher.quick_ratio() >= SIMILAR:
                    ratios[name] = max(ratios.get(name, 0), matcher.ratio())
        best = sorted(
            (name for name in ratios if ratios[name] >= SIMILAR),
            key=lambda name: (-ratios[name], name),
        )[:MAX_NAMES]
        return (
            f"; similar: {definitions_listed([self.first[name] for name in best])}" if best else ""
        )


def definitions_listed(definitions: Sequence[Definition]) -> str:
    """The first names, each with file and line, and the number of the rest."""
    return listed([definition.where for definition in definitions], MAX_NAMES)


def _terms(place: Place) -> set[str]:
    """Keys of a term's name: in the plural, and without its s."""
    term = key(place.term)
    return {term, term.removesuffix("s")} - {""}


def _names(place: Place, alone: bool) -> set[str]:
    """Keys of a parameter's names: term and name in both orders, or the name alone if it does not
    hold the term."""
    name = key(place.name)
    if alone or not name:
        return {name} - {""}
    joined = {form for term in _terms(place) for form in (term + name, name + term)}
    return joined | ({name} if any(term in name for term in _terms(place)) else set())


def _stage_names(place: Place, stage: str, alone: bool) -> set[str]:
    """Keys of names with a stage at either end, or between term and name."""
    name, stages = key(place.name), stage_words(stage)
    names = {
        form
        for word in stages
        for base in _names(place, alone)
        for form in (word + base, base + word)
    }
    if not alone:
        names |= {
            form
            for word in stages
            for term in _terms(place)
            for form in (term + word + name, name + word + term)
        }
    return names


def _indices(source: SourceText) -> Iterator[str]:
    """Names that are used as indices, or in `case`: alone in square brackets."""
    for match in INDEX.finditer(source.code):
        yield match[1] or match[2]


NOWHERE = ("null", "~", "")
REFERENCE = re.compile(r"(\w+)(?:@([1-9]\d*))?((?:\[[^\[\]]+\]|\.\w+)*)")
MARKER = re.compile(r"evaltune:\s*([\w.]+)")


@dataclass(frozen=True)
class Part:
    """A value of a source that holds a parameter, or one of its stages; `where` for errors, `types`
    as in its definition, `sizes`: those that its lists are declared with; `is_whole`: it is a whole
    definition."""

    node: Node
    source: SourceText
    where: str
    types: tuple[str, ...] = ()
    sizes: tuple[int | None, ...] = ()
    is_whole: bool = False

    def numbers(self, stages: Sequence[str], shape: tuple[int, ...]) -> list[list[Number | None]]:
        """Return its numbers as `numbers_of` does; ShapeError with its place if it has others."""
        try:
            return numbers_of(self.node, stages, shape, self.sizes)
        except ShapeError as problem:
            raise ShapeError(f"{self.where} {problem}", problem.start) from None


Parts = dict[str | None, Part]  # by stage, or under None for all stages
Named = Mapping[str, Sequence[Definition]]  # definitions by their names


def by_name(definitions: Iterable[Definition]) -> Named:
    """Return definitions by their names."""
    named: dict[str, list[Definition]] = {}
    for definition in definitions:
        named.setdefault(definition.name, []).append(definition)
    return named


def read_map(
    path: Path, places: Sequence[Place], stages: Sequence[str], definitions: Named
) -> dict[str, Parts]:
    """Read a map: for each parameter that it names the parts, an empty dict for those that the
    source does not keep."""
    root = read_tree(path)
    if not isinstance(root.value, dict):
        raise InputError(
            f"{path}:{root.line}: expected a mapping such as `mobility.knight: KnightMobility`"
        )
    mapped: dict[str, Parts] = {}
    paths = {place.path: None for place in places}
    for name, node in root.value.items():
        matching = [name] if name in paths else [p for p in paths if fnmatch.fnmatchcase(p, name)]
        if not matching:
            raise InputError(
                f"{path}:{node.line}: {name!r} names no parameter; `tuner params` lists the terms"
            )
        if isinstance(node.value, str) and node.value in NOWHERE:
            mapped.update((other, {}) for other in matching if other not in mapped)
            continue
        if matching != [name]:
            raise InputError(
                f"{path}:{node.line}: {name!r} matches {len(matching)} parameters; a glob may only"
                " be null"
            )
        entries: dict[str | None, YamlNode] = {None: node}
        if isinstance(node.value, dict):
            if set(node.value) != set(stages):
                raise InputError(
                    f"{path}:{node.line}: {name} has {', '.join(node.value)}, expected the stages "
                    f"{', '.join(stages)}"
                )
            entries = {stage: node.value[stage] for stage in stages}
        mapped[name] = {
            stage: _referenced(path, entry, definitions)
            for stage, entry in entries.items()
            if entry.value not in NOWHERE
        }
    return mapped


def _referenced(path: Path, entry: YamlNode, definitions: Named) -> Part:
    """The part of a definition that an entry of a map names."""
    try:
        return part_named(entry.value if isinstance(entry.value, str) else "", definitions)
    except MatchError as problem:
        raise InputError(f"{path}:{entry.line}: {problem}") from None


def part_named(text: str, definitions: Named) -> Part:
    """Return the part of a definition that a text such as `Bonus@2[3]` names; MatchError if it
    names none, or several."""
    match = REFERENCE.fullmatch(text)
    if match is None:
        raise MatchError(
            f"{text or 'a list'} is not the name of a definition, expected for example Bonus,"
            " Bonus[2], Eval.tempo or Bonus@2"
        )
    # e.VALUE[PAWN] = 100; is a definition of VALUE[PAWN]
    named, steps = definitions.get(match[1] + match[3], ()), ""
    if not named:
        named, steps = definitions.get(match[1], ()), match[3]
    if not named:
        raise MatchError(f"{match[1]} is defined nowhere in the source")
    if match[2] is None and len(named) > 1:
        raise MatchError(
            f"{match[1]} has {len(named)} definitions: {definitions_listed(named)}; write"
            f" {match[1]}@1 for the first"
        )
    if int(match[2] or 1) > len(named):
        raise MatchError(
            f"{text}: {match[1]} has {len(named)} definitions: {definitions_listed(named)}"
        )
    definition = named[int(match[2] or 1) - 1]
    try:
        node = parts_of(definition.node, steps)
    except ShapeError as problem:
        raise MatchError(f"{definition.where} {problem}") from None
    where = f"{text} ({definition.source.at(definition.start)})"
    return _part(definition, node, where, steps)


def _part(definition: Definition, node: Node, where: str, steps: str = "") -> Part:
    """A part of a definition, reached by these steps."""
    sizes = list(definition.sizes)
    for k, step in reversed(list(enumerate(STEP.findall(steps)))):
        if step[0] != "*":
            del sizes[k : k + 1]
    return Part(node, definition.source, where, definition.types, tuple(sizes), not steps)


def read_markers(
    source: SourceText,
    places: Sequence[Place],
    stages: Sequence[str],
    definitions: Sequence[Definition],
) -> dict[str, Parts]:
    """Find the values that comments with markers name. A comment at the end of a line names the
    definition, or else the values, of this line; a comment before them names what follows."""
    known = {place.path for place in places}
    marked: dict[str, Parts] = {}
    for whole, start, node in markers_in(source, definitions):
        name, where, stage = whole, source.at(start), None
        if (
            name not in known
            and name.rpartition(".")[0] in known
            and name.rpartition(".")[2] in stages
        ):
            name, _, stage = name.rpartition(".")
        if name not in known:
            raise InputError(
                f"{where}: the marker names {name}, which is no parameter; expected for example "
                f"`evaltune: {places[0].path}`"
            )
        parts = marked.setdefault(name, {})
        if stage in parts or parts and (None in parts) != (stage is None):
            raise InputError(
                f"{where}: a second marker for {whole}; the first is at {parts.popitem()[1].where}"
            )
        parts[stage] = Part(node, source, where)
    for name, parts in marked.items():
        lacking = [stage for stage in stages if stage not in parts]
        if None not in parts and lacking:
            raise InputError(
                f"{next(iter(parts.values())).where}: {name} has no marker for its stage"
                f" {lacking[0]}; expected `evaltune: {name}.{lacking[0]}` next to its numbers"
            )
    return marked


def markers_in(
    source: SourceText, definitions: Sequence[Definition]
) -> Iterator[tuple[str, int, Node]]:
    """Yield the names of the markers of a source, where they begin, and the values that they
    name."""
    for comment in source.comments:
        if match := MARKER.search(source.text[slice(*comment)]):
            name = readable(match[1]).rstrip(".")
            yield name, comment[0], _beside(source, comment, definitions)


def _beside(
    source: SourceText, comment: tuple[int, int], definitions: Sequence[Definition]
) -> Node:
    """The value that a comment names."""
    start, end = comment
    line, line_start = source.line(start), source.line_start(start)
    line_end = (source.text.find("\n", end) + 1 or len(source.text) + 1) - 1
    own = [d for d in definitions if d.source is source]
    if source.code[line_start:start].strip() and not source.code[end:line_end].strip():
        here = [d for d in own if source.line(d.start) == line]
        if here:
            return here[-1].node
        before = source.code[line_start:start]
        return values_on_line(source, start - len(before.lstrip()))
    following = re.compile(r"\S").search(source.code, end)
    if following is None:
        raise InputError(f"{source.at(start)}: nothing follows this marker")
    value = value_at(source, following.start())
    if value is not None:
        return value
    after = next((d for d in own if d.start > end), None)
    if after is None or source.line(after.start) > source.line(following.start()) + 1:
        raise InputError(f"{source.at(start)}: no numbers follow this marker")
    return after.node


MAX_SOURCE_BYTES = 16 << 20  # bytes of a source
MOST_NAMED = 12  # parameters without a definition, in an error


@dataclass(frozen=True)
class Target:
    """A number of a source, and the number of a parameter that it holds: its name, stage, column
    and new value."""

    label: str
    stage: int
    column: int
    value: float
    number: Number
    part: Part

    @property
    def source(self) -> SourceText:
        return self.part.source


def read_source_file(path: Path) -> SourceText:
    """Read the source of an engine; InputError if it is none."""
    language = language_of(path)
    try:
        content = read_whole(path, MAX_SOURCE_BYTES, "source text")
    except FileNotFoundError:
        raise InputError(
            f"{path}: no such file; --into takes the source that holds the numbers"
        ) from None
    if b"\0" in content:
        raise InputError(
            f"{path}: holds zero bytes, expected source text with a byte for each character of code"
        )
    return SourceText(str(path), text_of(content), language)


def chosen(places: Sequence[Place], only: Sequence[str]) -> list[Place]:
    """Return the parameters that these names or globs match; all if there are none. InputError if
    one matches nothing."""
    for pattern in only:
        if not any(_matches(place, pattern) for place in places):
            raise InputError(
                f"--only {pattern}: names no parameter; expected a term, or a name or glob such as"
                f" {places[0].path}"
            )
    return [
        place for place in places if not only or any(_matches(place, pattern) for pattern in only)
    ]


def _matches(place: Place, pattern: str) -> bool:
    return pattern == place.term or fnmatch.fnmatchcase(place.path, pattern)


def plan(
    r: Rounded, paths: Sequence[Path], map_path: Path | None = None, only: Sequence[str] = ()
) -> list[Target]:
    """Find the number of the sources for every number of the parameters; InputError for the first
    that is not found, or is not there alone."""
    places, stages = r.parameters.layout.places, r.stages
    sources = [read_source_file(path) for path in paths]
    definitions = definitions_of(sources)
    named = {} if map_path is None else read_map(map_path, places, stages, by_name(definitions))
    marked: dict[str, Parts] = {}
    wanted = chosen(places, only)
    # a map that names all says what the markers do not have to
    for source in sources if any(place.path not in named for place in wanted) else ():
        for name, there in read_markers(source, places, stages, definitions).items():
            if name in marked:
                raise InputError(
                    f"{next(iter(there.values())).where}: a second marker for {name}; the first is"
                    f" at {next(iter(marked[name].values())).where}"
                )
            marked[name] = there
    matcher = Matcher(definitions, sources, stages)
    files = ", ".join(map(str, paths))
    targets: list[Target] = []
    missing: list[tuple[str, str]] = []
    for place in wanted:
        parts = named.get(place.path, marked.get(place.path))
        try:
            targets += _targets(
                r, place, _by_name(matcher, place, stages, not missing) if parts is None else parts
            )
        except MatchError as unmatched:
            missing.append((place.path, str(unmatched)))
    if missing:
        first, problem = missing[0]
        more = (
            f" ({len(missing) - 1} more: {listed([name for name, _ in missing[1:]], MOST_NAMED)})"
            if len(missing) > 1
            else ""
        )
        raise InputError(
            f"{files}: {first}: {problem}{more}; write `{first}: NAME` in"
            f" {map_path or 'a file for --map'}, or null for NAME if it is not kept there"
        )
    if not targets:
        raise InputError(f"{map_path}: leaves no parameter to be written to {files}")
    _require_apart(targets)
    return targets


def _by_name(matcher: Matcher, place: Place, stages: Sequence[str], similar: bool) -> Parts:
    """The definitions with the name of a parameter; MatchError if there are none, or too many."""
    parts = [_part(d, d.node, d.where) for d in matcher.find(place, similar)]
    return {None: parts[0]} if len(parts) == 1 else dict(zip(stages, parts, strict=True))


def _targets(r: Rounded, place: Place, parts: Parts) -> list[Target]:
    """The numbers of the parts of a parameter, in the order of its numbers."""
    values, labels, stages = r.numbers(place), place.labels(), r.stages
    order = np.arange(place.size).reshape(place.shape)
    columns = (
        (order[..., ::-1, :] if r.flipped and len(place.shape) > 1 else order).ravel().tolist()
    )
    targets: list[Target] = []
    for stage, part in parts.items():
        at = range(len(stages)) if stage is None else [stages.index(stage)]
        try:
            numbers = part.numbers([stages[s] for s in at], place.shape)
        except ShapeError as problem:
            where = part.source.at(problem.start)
            name = place.path if stage is None else f"{place.path}.{stage}"
            raise InputError(f"{where}: {name}: {problem}") from None
        for s, row in zip(at, numbers, strict=True):
            end = f".{stages[s]}" if len(stages) > 1 else ""
            targets += [
                Target(labels[k] + end, s, place.first + k, value, number, part)
                for k, value, number in zip(columns, values[s], row, strict=True)
                if number is not None
            ]
    return targets


def _require_apart(targets: Sequence[Target]) -> None:
    """InputError if two parameters have the same number, or one for stages that differ."""
    seen: dict[tuple[str, int], Target] = {}
    for target in targets:
        other = seen.setdefault((target.source.path, target.number.start), target)
        if other is not target and other.column != target.column:
            raise InputError(
                f"{target.source.at(target.number.start)}: both {other.label} and {target.label}"
                f" would be written to this number of {target.part.where}; name their definitions"
                " with --map"
            )
