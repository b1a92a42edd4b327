"""Which definitions a map or a marker names for a parameter.

A map is a YAML file: `mobility.knight: KnightMobility`, `{mg: NAME, eg: 'OTHER[1]'}` by stages, `null` for a parameter that the
source does not keep. A name may be followed by `@2`, the second definition of this name, and by parts: `Values[KNIGHT][0]`,
`Eval.tempo`, `Bonus[*][1]`. A marker is a comment beside numbers: `// evaltune: mobility.knight`, or `mobility.knight.mg` if the
numbers are of one stage.
"""

from __future__ import annotations

import fnmatch
import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path

from games.streams import InputError
from tuner.export.into.definitions import Definition
from tuner.export.into.matching import listed
from tuner.export.into.shapes import ShapeError, parts_of
from tuner.export.into.tokens import COMMENT, SPACE, Source
from tuner.export.into.values import Items, Node, Values, numbers_in
from tuner.parameters.layout import Place
from tuner.parameters.yaml_tree import Node as YamlNode
from tuner.parameters.yaml_tree import read_tree

NOWHERE = ("null", "~", "")
REFERENCE = re.compile(r"(\w+)(?:@([1-9]\d*))?((?:\[[^\[\]]+\]|\.\w+)*)")
MARKER = re.compile(r"evaltune:\s*([\w.]+)")


@dataclass(frozen=True)
class Part:
    """A value of a source that holds a parameter, or one of its stages; `where` for errors, `types` as in its definition."""

    node: Node
    source: Source
    where: str
    types: tuple[str, ...] = ()


Parts = dict[str | None, Part]  # by stage, or under None for all stages


def read_map(path: Path, places: Sequence[Place], stages: Sequence[str], definitions: Sequence[Definition]) -> dict[str, Parts]:
    """Read a map: for each parameter that it names the parts, an empty dict for those that the source does not keep."""
    root = read_tree(path)
    if not isinstance(root.value, dict):
        raise InputError(f"{path}:{root.line}: expected a mapping such as `mobility.knight: KnightMobility`")
    found: dict[str, Parts] = {}
    for name, node in root.value.items():
        matching = [place.path for place in places if fnmatch.fnmatchcase(place.path, name)]
        if not matching:
            raise InputError(f"{path}:{node.line}: {name!r} names no parameter; `tuner params` lists the terms")
        if isinstance(node.value, str) and node.value in NOWHERE:
            found.update((other, {}) for other in matching if other not in found)
            continue
        if matching != [name]:
            raise InputError(f"{path}:{node.line}: {name!r} matches {len(matching)} parameters; a glob may only be null")
        entries: dict[str | None, YamlNode] = {None: node}
        if isinstance(node.value, dict):
            if set(node.value) != set(stages):
                raise InputError(f"{path}:{node.line}: {name} has {', '.join(node.value)}, expected the stages "
                                 f"{', '.join(stages)}")
            entries = {stage: node.value[stage] for stage in stages}
        found[name] = {stage: _referenced(path, entry, definitions) for stage, entry in entries.items()}
    return found


def _referenced(path: Path, entry: YamlNode, definitions: Sequence[Definition]) -> Part:
    """The part of a definition that a map names."""
    text = entry.value
    match = REFERENCE.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        raise InputError(f"{path}:{entry.line}: {text if isinstance(text, str) else 'a list'} is not the name of a definition, "
                         "expected for example Bonus, Bonus[2], Eval.tempo or Bonus@2")
    named = [d for d in definitions if d.name == match[1]]
    if not named:
        raise InputError(f"{path}:{entry.line}: {match[1]} is defined nowhere in the source")
    if match[2] is None and len(named) > 1:
        raise InputError(f"{path}:{entry.line}: {match[1]} has {len(named)} definitions: {listed(named)}; write {match[1]}@1 for "
                         "the first")
    if int(match[2] or 1) > len(named):
        raise InputError(f"{path}:{entry.line}: {text}: {match[1]} has {len(named)} definitions: {listed(named)}")
    definition = named[int(match[2] or 1) - 1]
    try:
        node = parts_of(definition.node, match[3])
    except ShapeError as problem:
        raise InputError(f"{path}:{entry.line}: {definition.where} {problem}") from None
    return Part(node, definition.source, f"{text} ({definition.source.at(definition.start)})", definition.types)


def read_markers(source: Source, places: Sequence[Place], stages: Sequence[str],
                 definitions: Sequence[Definition]) -> dict[str, Parts]:
    """Find the values beside comments with markers. A comment at the end of a line is beside the definition, or else the values,
    on this line; any other beside what follows it."""
    known = {place.path for place in places}
    found: dict[str, Parts] = {}
    values = Values(source)
    for i, token in enumerate(source.tokens):
        match = MARKER.search(source.of(token)) if token.kind == COMMENT else None
        if match is None:
            continue
        name, where, stage = match[1].rstrip("."), source.at(token.start), None
        if name not in known and name.rpartition(".")[0] in known and name.rpartition(".")[2] in stages:
            name, _, stage = name.rpartition(".")
        if name not in known:
            raise InputError(f"{where}: the marker names {name}, which is no parameter; expected for example "
                             f"`evaltune: {places[0].path}`")
        parts = found.setdefault(name, {})
        if stage in parts or parts and (None in parts) != (stage is None):
            raise InputError(f"{where}: a second marker for {match[1]}; the first is at "
                             f"{parts.popitem()[1].where}")
        parts[stage] = Part(_beside(values, i, definitions), source, where)
    for name, parts in found.items():
        lacking = [stage for stage in stages if stage not in parts]
        if None not in parts and lacking:
            raise InputError(f"{next(iter(parts.values())).where}: {name} has no marker for its stage {lacking[0]}; expected "
                             f"`evaltune: {name}.{lacking[0]}` beside its numbers")
    return found


def _beside(values: Values, i: int, definitions: Sequence[Definition]) -> Node:
    """The value that the comment at token i is beside."""
    source = values.source
    comment = source.tokens[i]
    line, start = source.line(comment.start), source.line_start(comment.start)
    rest = source.tokens[i + 1] if i + 1 < len(source.tokens) else None
    first = bisect_left(source.code, comment.start, key=attrgetter("start"))  # token of code after the comment
    before = range(bisect_left(source.code, start, key=attrgetter("start")), first)
    ends_line = rest is None or rest.kind == SPACE and "\n" in source.of(rest) or rest.kind == "end"
    if before and ends_line:
        here = [d for d in definitions if d.source is source and source.line(d.start) == line]
        if here:
            return max(here, key=lambda d: d.start).node
        return _on_line(values, before)
    if first == len(source.code):
        raise InputError(f"{source.at(comment.start)}: nothing follows this marker")
    value, _ = values.node(first)
    if any(numbers_in(value)):
        return value
    following = next((d for d in definitions if d.source is source and d.start > comment.end), None)
    if following is None or source.line(following.start) > source.line(source.code[first].start) + 1:
        raise InputError(f"{source.at(comment.start)}: no numbers follow this marker")
    return following.node


def _on_line(values: Values, tokens: Sequence[int]) -> Node:
    """The values on a line that begins within a list: one, or several with commas between."""
    k, found = tokens[0], []
    while k <= tokens[-1]:
        value, k = values.value(k, in_list=True)
        found.append(value)
        k += 1
    return found[0] if len(found) == 1 else Items(tuple(found), (None,) * len(found), False, values.code[tokens[0]].start)
