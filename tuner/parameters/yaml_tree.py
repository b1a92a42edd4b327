"""YAML as a tree that knows its lines: only plain mappings, lists and scalars, so that errors can name a place.

Anchors, aliases, tags, several documents, deep nesting and very large files are refused before anything is built.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml

from games.streams import InputError
from tuner.io.files import read_whole

LARGEST = 4 << 20
DEEPEST = 12

_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True)
class Node:
    """A value of the file: a dict of nodes, a list of nodes or a str; and the line that it starts on."""

    value: dict[str, Node] | list[Node] | str
    line: int


def read_tree(path: Path) -> Node:
    """The tree of a YAML file; InputError names file and line."""
    try:
        text = read_whole(path, LARGEST, "a parameter file").decode("utf-8")
    except FileNotFoundError:
        raise InputError(f"{path}: no such file" + (", a link that leads nowhere" if path.is_symlink() else "")) from None
    except UnicodeDecodeError as problem:
        raise InputError(f"{path}: byte {problem.start} is not UTF-8 text; expected a YAML file") from None
    try:
        events = yaml.parse(text, Loader=_Loader)
        return _document(path, events)
    except yaml.reader.ReaderError as problem:
        line = text.count("\n", 0, problem.position) + 1
        raise InputError(f"{path}:{line}: not YAML: control character {chr(problem.character)!r}") from None
    except yaml.YAMLError as problem:
        mark = getattr(problem, "problem_mark", None)
        line = f":{mark.line + 1}" if mark else ""
        raise InputError(f"{path}{line}: not YAML: {getattr(problem, 'problem', None) or problem}") from None


def _document(path: Path, events: Iterator[yaml.Event]) -> Node:
    root = None
    for event in events:
        if isinstance(event, yaml.DocumentStartEvent):
            if root is not None:
                raise InputError(f"{path}:{event.start_mark.line + 1}: a second document starts here, expected one")
            root = _node(path, next(events), events, 0)
    if root is None:
        raise InputError(f"{path}: empty, expected a parameter file")
    return root


def _node(path: Path, event: yaml.Event, events: Iterator[yaml.Event], depth: int) -> Node:
    line = event.start_mark.line + 1
    if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
        raise InputError(f"{path}:{line}: anchors and aliases are not supported; write the values out")
    if getattr(event, "tag", None) and not isinstance(event, yaml.ScalarEvent) or (
            isinstance(event, yaml.ScalarEvent) and event.tag):
        raise InputError(f"{path}:{line}: tag {event.tag!r} is not supported; write a plain value")
    if depth > DEEPEST:
        raise InputError(f"{path}:{line}: nested more than {DEEPEST} deep, expected a parameter file")
    if isinstance(event, yaml.ScalarEvent):
        return Node(event.value, line)
    if isinstance(event, yaml.SequenceStartEvent):
        items = []
        while not isinstance(event := next(events), yaml.SequenceEndEvent):
            items.append(_node(path, event, events, depth + 1))
        return Node(items, line)
    entries: dict[str, Node] = {}
    while not isinstance(event := next(events), yaml.MappingEndEvent):
        key = _node(path, event, events, depth + 1)
        if not isinstance(key.value, str):
            raise InputError(f"{path}:{key.line}: a key is a list or mapping, expected a name")
        if key.value in entries:
            raise InputError(f"{path}:{key.line}: {key.value!r} stands twice; first on line {entries[key.value].line}")
        value = _node(path, next(events), events, depth + 1)
        entries[key.value] = Node(value.value, key.line)
    return Node(entries, line)
