"""Read YAML as a tree with line numbers: plain mappings, lists and scalars only, so that errors can
name a place.

Anchors, aliases, tags, several documents, deep nesting and very large files are refused before
anything is built."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import yaml

from games.streams import InputError
from tuner.io.files import read_whole

LARGEST = 4 << 20
KEPT = 1 << 18  # letters of a file whose tree is kept
DEEPEST = 12

_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class YamlNode(NamedTuple):
    """A value of the file: a dict of nodes, a list of nodes or a str; the line on which it starts
    and its position in the text. For a value of a mapping these are of its key."""

    value: dict[str, YamlNode] | list[YamlNode] | str
    line: int
    start: int


@dataclass(frozen=True)
class Source:
    """A YAML file: its tree, its text, and where each scalar begins and ends in the text, in
    order."""

    path: Path
    text: str
    root: YamlNode
    scalars: list[tuple[int, int]]


def read_tree(path: Path) -> YamlNode:
    """Read the tree of a YAML file; InputError names file and line."""
    return read_source(path).root


def read_source(path: Path) -> Source:
    """Read a YAML file; InputError names file and line."""
    try:
        text = read_whole(path, LARGEST, "a parameter file").decode("utf-8").removeprefix("\ufeff")
    except FileNotFoundError:
        raise InputError(
            f"{path}: no such file" + (", a link that leads nowhere" if path.is_symlink() else "")
        ) from None
    except UnicodeDecodeError as problem:
        raise InputError(
            f"{path}: byte {problem.start} is not UTF-8 text; expected a YAML file"
        ) from None
    try:
        return (_parsed_once if len(text) <= KEPT else _parsed)(path, text)
    except yaml.reader.ReaderError as problem:
        line = text.count("\n", 0, problem.position) + 1
        raise InputError(
            f"{path}:{line}: not YAML: control character {chr(problem.character)!r}"
        ) from None
    except yaml.YAMLError as problem:
        mark = getattr(problem, "problem_mark", None)
        place = f"{path}:{mark.line + 1}" if mark else str(path)
        raise InputError(
            f"{place}: not YAML: {getattr(problem, 'problem', None) or problem}"
        ) from None


def _parsed(path: Path, text: str) -> Source:
    builder = _Builder(path, yaml.parse(text, Loader=_Loader))
    return Source(path, text, builder.document(), builder.scalars)


# commands read a file several times: for its game, its terms and its numbers
_parsed_once = functools.lru_cache(maxsize=4)(_parsed)


def _start(event: yaml.Event) -> tuple[int, int]:
    """The line on which an event begins, from 1, and its position in the text."""
    assert event.start_mark is not None, "the parser marks all events"
    return event.start_mark.line + 1, event.start_mark.index


class _Builder:
    """Makes a tree of the events of the parser, and notes where its scalars are."""

    def __init__(self, path: Path, events: Iterator[yaml.Event]) -> None:
        self.path, self.events = path, events
        self.scalars: list[tuple[int, int]] = []

    def document(self) -> YamlNode:
        root = None
        for event in self.events:
            if isinstance(event, yaml.DocumentStartEvent):
                if root is not None:
                    raise InputError(
                        f"{self.path}:{_start(event)[0]}: a second document starts here,"
                        " expected one"
                    )
                root = self._node(next(self.events), 0)
        if root is None:
            raise InputError(f"{self.path}: empty, expected a parameter file")
        return root

    def _node(self, event: yaml.Event, depth: int) -> YamlNode:
        line, start = _start(event)
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise InputError(
                f"{self.path}:{line}: anchors and aliases are not supported; write the values out"
            )
        if tag := getattr(event, "tag", None):
            raise InputError(
                f"{self.path}:{line}: tag {tag!r} is not supported; write a plain value"
            )
        if depth > DEEPEST:
            raise InputError(
                f"{self.path}:{line}: nested more than {DEEPEST} deep, expected a parameter file"
            )
        if isinstance(event, yaml.ScalarEvent):
            assert event.end_mark is not None, "the parser marks all events"
            self.scalars.append((start, event.end_mark.index))
            return YamlNode(event.value, line, start)
        if isinstance(event, yaml.SequenceStartEvent):
            items = []
            while not isinstance(event := next(self.events), yaml.SequenceEndEvent):
                items.append(self._node(event, depth + 1))
            return YamlNode(items, line, start)
        entries: dict[str, YamlNode] = {}
        while not isinstance(event := next(self.events), yaml.MappingEndEvent):
            key = self._node(event, depth + 1)
            if not isinstance(key.value, str):
                raise InputError(
                    f"{self.path}:{key.line}: a key is a list or mapping, expected a name"
                )
            if key.value in entries:
                raise InputError(
                    f"{self.path}:{key.line}: {key.value!r} is there twice; first on line"
                    f" {entries[key.value].line}"
                )
            entries[key.value] = YamlNode(
                self._node(next(self.events), depth + 1).value, key.line, key.start
            )
        return YamlNode(entries, line, start)


LARGEST_WHOLE = 2**63  # of plain data


class Checks:
    """Checks of the nodes of one file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def fail(self, node: YamlNode, text: str) -> NoReturn:
        raise InputError(f"{self.path}:{node.line}: {text}")

    def mapping(self, node: YamlNode, what: str) -> dict[str, YamlNode]:
        if not isinstance(node.value, dict):
            self.fail(node, f"{what} is {shown(node)}, expected a mapping")
        return node.value

    def number(self, node: YamlNode, what: str) -> float:
        if isinstance(node.value, str):
            try:
                value = float(node.value)
            except ValueError:
                value = math.nan
            if math.isfinite(value):
                return value
        self.fail(node, f"{what} is {shown(node)}, expected a number")


def shown(node: YamlNode) -> str:
    """The value of a node for an error message."""
    if isinstance(node.value, str):
        return repr(node.value) if node.value else "empty"
    return "a list" if isinstance(node.value, list) else "a mapping"


def plain(node: YamlNode) -> Any:
    """The tree as plain data; scalars that read as numbers are numbers."""
    if isinstance(node.value, dict):
        return {name: plain(value) for name, value in node.value.items()}
    if isinstance(node.value, list):
        return [plain(value) for value in node.value]
    if node.value == "null":
        return None
    for kind in (int, float):
        try:
            value = kind(node.value)
        except ValueError:
            continue
        if abs(value) < (LARGEST_WHOLE if kind is int else math.inf):
            return value
    return node.value
