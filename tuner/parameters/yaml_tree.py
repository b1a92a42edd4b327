"""YAML of parameter files: as a tree with line numbers, of plain mappings, lists and scalars only,
so that errors can name a place; its comments, which are found in the file read and put into the
file written.

Anchors, aliases, tags, several documents, deep nesting and very large files are refused before
anything is built. A comment belongs to a line, and the line to a value, which is named by its keys
and indices from the top of the file."""

from __future__ import annotations

import functools
import math
import os
import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, is_dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, NoReturn, cast, get_args

import msgspec
import yaml

from games.record import Wording
from tuner.core.records import NOT_VALID, InputError, find_fault, types_of
from tuner.io.files import read_whole
from tuner.options.parser import nearest

MAX_BYTES = 1 << 28
KEPT = 1 << 18  # letters of a file whose tree is kept
MAX_NESTING = 12

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
        text = (
            read_whole(path, MAX_BYTES, "a parameter file").decode("utf-8").removeprefix("\ufeff")
        )
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
    lists = {match.start(): match for match in LONG_LIST.finditer(text)}
    # the parser sees long lists of numbers as empty ones of the same length and lines
    rest = LONG_LIST.sub(lambda match: f"[{NOT_BLANK.sub(' ', match[0][1:-1])}]", text)
    builder = _Builder(path, yaml.parse(rest, Loader=_Loader), lists)
    return Source(path, text, builder.document(), builder.scalars)


# numbers of a list that is read without the parser, which takes 20 microseconds for each
LONG_LIST = re.compile(r"\[\s*(?:[-+.]?[0-9][-+.0-9eE]*\s*,\s*){1000,}[-+.]?[0-9][-+.0-9eE]*\s*\]")
ITEM, NOT_BLANK = re.compile(r"[^\s,\[\]]+"), re.compile(r"[^\s]")


def items_of(match: re.Match[str], line: int) -> list[YamlNode]:
    """Return the numbers of a list of LONG_LIST, which begins on this line."""
    items, at, text = [], match.start(), match.string
    for item in ITEM.finditer(text, match.start(), match.end()):
        line += text.count("\n", at, item.start())
        at = item.start()
        items.append(YamlNode(item[0], line, at))
    return items


# commands read a file several times: for its game, its terms and its numbers
_parsed_once = functools.lru_cache(maxsize=4)(_parsed)


def _start(event: yaml.Event) -> tuple[int, int]:
    """The line on which an event begins, from 1, and its position in the text."""
    assert event.start_mark is not None, "the parser marks all events"
    return event.start_mark.line + 1, event.start_mark.index


class _Builder:
    """Makes a tree of the events of the parser, and notes where its scalars are."""

    def __init__(
        self, path: Path, events: Iterator[yaml.Event], lists: Mapping[int, re.Match[str]]
    ) -> None:
        self.path, self.events, self.lists = path, events, lists
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
        if depth > MAX_NESTING:
            raise InputError(
                f"{self.path}:{line}: nested more than {MAX_NESTING} deep, expected a parameter"
                " file"
            )
        if isinstance(event, yaml.ScalarEvent):
            assert event.end_mark is not None, "the parser marks all events"
            self.scalars.append((start, event.end_mark.index))
            return YamlNode(event.value, line, start)
        if isinstance(event, yaml.SequenceStartEvent):
            items = []
            while not isinstance(event := next(self.events), yaml.SequenceEndEvent):
                items.append(self._node(event, depth + 1))
            if start in self.lists:
                items = items_of(self.lists[start], line)
                self.scalars += [(item.start, item.start + len(item.value)) for item in items]
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


FLAGS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}


def flag_of(value: object) -> object:
    """Return a text that is one of the words of YAML for true and false as what it means, any other
    value as it is."""
    return FLAGS.get(value.lower(), value) if isinstance(value, str) else value


def plain_as(tree: YamlNode, kind: Any) -> Any:
    """Return a tree as plain data for a kind of record, whose fields say where words are true or
    false and where they are texts."""
    return _with_flags(plain(tree), kind)


def _with_flags(found: Any, kind: Any) -> Any:
    if kind is bool:
        return flag_of(found)
    if isinstance(found, dict) and is_dataclass(kind):
        types = types_of(cast(Any, kind))
        return {name: _with_flags(value, types.get(name)) for name, value in found.items()}
    return found


def convert_tree(tree: YamlNode, kind: Any, path: Path) -> Any:
    """Return a tree as a record. InputError names the line of a key that the record has no field
    for, and of a value that a field cannot have."""
    require_known(tree, kind, path)
    found = plain_as(tree, kind)
    try:
        return msgspec.convert(found, kind)
    except NOT_VALID:
        fault, node = find_fault(found, kind), tree
    for key in fault.keys:
        node = cast(Any, node.value)[key]
    raise InputError(f"{path}:{node.line}: {fault.sentence}")


def require_known(node: YamlNode, kind: Any, path: Path, what: str = "") -> None:
    """InputError, with the line, for a key that the record has no field for; `what` is the key of
    the record itself."""
    if not isinstance(node.value, dict):
        raise InputError(f"{path}:{node.line}: {what or 'the file'} is not a mapping")
    for key, value in node.value.items():
        if key not in (names := types_of(kind)):
            raise InputError(
                f"{path}:{value.line}: {what and what + ' has '}no key {key[:40]!r}"
                f"{nearest(key, list(names))}; expected {', '.join(names)}"
            )
        inner = [one for one in (names[key], *get_args(names[key])) if is_dataclass(one)]
        if inner:
            require_known(value, inner[0], path, key)


ValuePlace = tuple[str | int, ...]
HEADER: ValuePlace = ()  # above the first line
FOOTER: ValuePlace = ("",)  # below the last line
# characters of all comments in a file, so that the file written is never too large to read
MOST_COMMENTS = 1 << 18
# with the line ends of YAML
LINE = re.compile("([^\r\n\x85\u2028\u2029]*)(?:\r\n|[\r\n\x85\u2028\u2029]|$)")


@dataclass(frozen=True)
class Comment:
    """A comment from its # on, or a blank line if `text` is empty.

    `place` is the value whose line it belongs to. A comment above the line begins `indent` columns
    to the right of it; None is a comment at the end of the line."""

    place: ValuePlace
    text: str
    indent: int | None = 0


OF_SCALE = ("scale",)
OURS = re.compile(r"# v = tanh\(scale \* [a-z ]+\), [^#]*")


def of_scale(words: Wording) -> Comment:
    """Return the comment at the end of the scale's line in every file, unless the user has another
    one there."""
    return Comment(OF_SCALE, f"# v = tanh(scale * {words.unit}), {words.value}", None)


def comments_of(source: Source) -> tuple[Comment, ...]:
    """All comments of a file but that of `of_scale`, in their order, a run of blank lines as one;
    InputError if they are too long."""
    text = source.text
    lines = [match.span(1) for match in LINE.finditer(text)]
    remarks = [
        (line, begin, end)
        for line, begin, end in _remarks(source, lines)
        if not (text.startswith("scale:", line) and OURS.fullmatch(text[begin:end].rstrip()))
    ]
    if not remarks:
        return ()
    values = list(_values(source.root, ()))
    starts = [start for start, _ in values]
    begins = [begin for begin, _ in lines]

    @functools.cache
    def indent_of(value: int) -> int:
        return _indent(text[begins[bisect_right(begins, starts[value]) - 1] : starts[value]])

    def comment(line: int, begin: int, end: int) -> Comment:
        following = bisect_left(starts, begin)
        said, column = text[begin:end].rstrip(), begin - line
        if following == 0:
            return Comment(HEADER, said, column)
        if text[line:begin].strip():
            # belongs to the outermost value that begins on the line, or to the last value if the
            # line only closes brackets
            first = bisect_left(starts, line)
            return Comment(values[min(first, following - 1)][1], said, None)
        if following == len(values):
            return Comment(FOOTER, said, column)
        return Comment(values[following][1], said, column - indent_of(following) if said else 0)

    comments: list[Comment] = []
    for remark in remarks:
        one = comment(*remark)
        if one.text or one != (comments[-1] if comments else Comment(HEADER, "")):
            comments.append(one)
    size = sum(len(one.text) + max(0, one.indent or 0) for one in comments)
    if size > MOST_COMMENTS:
        raise InputError(
            f"{source.path}: {size:,} characters of comments, expected at most"
            f" {MOST_COMMENTS:,}; shorten them"
        )
    return _with_header(comments, values[0][1])


def with_comments(
    lines: Iterable[tuple[ValuePlace, str]], comments: Iterable[Comment]
) -> list[str]:
    """Lines, each with the place of its value, and the comments of these places. A text of several
    lines has them above it."""
    lines = list(lines)
    written = dict(lines)
    above: dict[ValuePlace, list[Comment]] = defaultdict(list)
    beside: dict[ValuePlace, str] = {}
    for comment in comments:
        place = comment.place
        if place in (HEADER, FOOTER) or place in written and comment.indent is not None:
            above[place].append(comment)
        elif place in written and place not in beside and "\n" not in written[place]:
            beside[place] = comment.text
        elif comment.text:
            while place and place not in written:
                place = place[:-1]
            above[place or FOOTER].append(replace(comment, indent=0))
    result = [_line(comment, 0) for comment in above[HEADER]]
    for place, text in lines:
        result += [_line(comment, _indent(text)) for comment in above.pop(place, ())]
        result.append(f"{text}  {beside.pop(place)}" if place in beside else text)
    return result + [_line(comment, 0) for comment in above[FOOTER]]


def _remarks(source: Source, lines: list[tuple[int, int]]) -> Iterator[tuple[int, int, int]]:
    """Comments and blank lines outside of scalars: the position of the line in the text, of the
    comment, and its end."""
    text = source.text
    # the | or > of a block scalar may have a comment on its line
    starts = [
        next(LINE.finditer(text, start)).end() if text[start : start + 1] in ("|", ">") else start
        for start, _ in source.scalars
    ]
    ends = [end for _, end in source.scalars]

    def outside(position: int) -> int:
        """The position, or the end of the scalar that it is in."""
        scalar = bisect_right(starts, position) - 1
        return max(position, ends[scalar]) if scalar >= 0 else position

    for line, end in lines:
        if text[line:end].strip():
            begin = text.find("#", line, end)
            while begin >= 0 and (after := outside(begin)) != begin:
                begin = text.find("#", after, end)
            if begin >= 0:
                yield line, begin, end
        elif line < len(text) and outside(line) == line:
            yield line, line, line


def _values(node: YamlNode, place: ValuePlace) -> Iterator[tuple[int, ValuePlace]]:
    """Where each key and each item of a list begins, in the order of the file, and its place."""
    entries: Iterable[tuple[str | int, YamlNode]]
    if isinstance(node.value, dict):
        entries = node.value.items()
    else:
        entries = enumerate(node.value) if isinstance(node.value, list) else ()
    for key, value in entries:
        inner = (*place, _file_of(value) if place == ("terms",) else key)
        yield value.start, inner
        yield from _values(value, inner)


def _file_of(entry: YamlNode) -> str:
    """The name of the file of terms, by which an entry is found again in another order."""
    assert isinstance(entry.value, dict), "the reader has checked it"
    file = entry.value["file"].value
    assert isinstance(file, str), "the reader has checked it"
    return os.path.basename(file)


def _with_header(found: list[Comment], first: ValuePlace) -> tuple[Comment, ...]:
    """The same comments: what is above the first value is the header of the file up to the last
    blank line there, what follows this line belongs to the value; no blank lines at the end."""
    while found and not found[-1].text and found[-1].place in (HEADER, FOOTER):
        found.pop()
    header = [k for k, comment in enumerate(found) if comment.place == HEADER]
    last = max((k for k in header if not found[k].text), default=len(header))
    return tuple(
        replace(comment, place=first) if comment.place == HEADER and k > last else comment
        for k, comment in enumerate(found)
    )


def _indent(text: str) -> int:
    """Columns before the first character that is no space."""
    return len(text) - len(text.lstrip(" "))


def _line(comment: Comment, indent: int) -> str:
    return " " * max(0, indent + (comment.indent or 0)) + comment.text if comment.text else ""
