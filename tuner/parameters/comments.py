"""Keep comments and blank lines of a parameter file: find them in the file read, put them into the
file written.

A comment belongs to a line, and the line to a value, which is named by its keys and indices from
the top of the file. All files are written in one format: a comment whose line is not in it moves
above the line of the parameter, term or section around it, or to the end of the file."""

from __future__ import annotations

import functools
import os
import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from games.record import Wording
from games.streams import InputError
from tuner.parameters.yaml_tree import Source, YamlNode

Place = tuple[str | int, ...]
HEADER: Place = ()  # above the first line
FOOTER: Place = ("",)  # below the last line
# characters of all comments in a file, so that the file written is never too large to read
LARGEST = 1 << 18
# with the line ends of YAML
LINE = re.compile("([^\r\n\x85\u2028\u2029]*)(?:\r\n|[\r\n\x85\u2028\u2029]|$)")


@dataclass(frozen=True)
class Comment:
    """A comment from its # on, or a blank line if `text` is empty.

    `place` is the value whose line it belongs to. A comment above the line begins `indent` columns
    to the right of it; None is a comment at the end of the line."""

    place: Place
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

    found: list[Comment] = []
    for remark in remarks:
        one = comment(*remark)
        if one.text or one != (found[-1] if found else Comment(HEADER, "")):
            found.append(one)
    size = sum(len(one.text) + max(0, one.indent or 0) for one in found)
    if size > LARGEST:
        raise InputError(
            f"{source.path}: {size:,} characters of comments, expected at most {LARGEST:,}; shorten"
            " them"
        )
    return _with_header(found, values[0][1])


def with_comments(lines: Iterable[tuple[Place, str]], comments: Iterable[Comment]) -> list[str]:
    """Lines, each with the place of its value, and the comments of these places. A text of several
    lines has them above it."""
    lines = list(lines)
    written = dict(lines)
    above: dict[Place, list[Comment]] = defaultdict(list)
    beside: dict[Place, str] = {}
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


def _values(node: YamlNode, place: Place) -> Iterator[tuple[int, Place]]:
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


def _with_header(found: list[Comment], first: Place) -> tuple[Comment, ...]:
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
