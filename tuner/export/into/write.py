"""Write the planned numbers into sources so that columns stay columns, compare them, or read
them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path

import numpy as np

from games.streams import InputError
from tuner.export.into.plan import Target
from tuner.export.into.source import SourceText, bytes_of, spelled
from tuner.export.into.types import is_unknown, limits_at
from tuner.export.numbers import Rounded
from tuner.io.files import BUNDLED, replaced, require_other
from tuner.parameters.parameters import LARGEST_WEIGHT, Parameters, is_board
from tuner.parameters.reader import read_parameters
from tuner.parameters.writer import to_text

# a number in a syntax tree, with its sign
NUMBER_NODE = re.compile(
    r"\((?:prefix_)?unary_expression (?:\w+: )?(\(\w+_literal\))\)|\(\w+_literal\)"
)
# from a number to a comment at the end of its line
COMMENT_GAP = re.compile(r"[,;)}\] ]*?( {2,})(?=//|/\*)")


@dataclass(frozen=True)
class Edit:
    """New text for the number from `start` to `end`."""

    start: int
    end: int
    text: str


@dataclass(frozen=True)
class _Cell:
    """A number with the spaces before it; columns are counted in its line."""

    edit: Edit
    lead: int  # spaces before the number
    column: int  # of its first character

    @property
    def right(self) -> int:
        return self.column + self.edit.end - self.edit.start

    @property
    def left(self) -> int:
        """Where the spaces before it begin."""
        return self.column - self.lead

    @property
    def length(self) -> int:
        """Characters of the new text."""
        return len(self.edit.text)


def replaced_text(text: str, edits: Sequence[Edit]) -> tuple[str, list[tuple[int, int]]]:
    """Return the text with its numbers replaced, and where each number, in their order in the text,
    is in it.

    Numbers with equal left or right edges on consecutive lines have equal edges
    afterwards, and so do cells of equal width on one line. A column becomes wider where a number
    needs it, never narrower."""
    rows = [
        [_cell(text, edit) for edit in line]
        for _, line in groupby(
            sorted(edits, key=lambda edit: edit.start),
            key=lambda edit: text.rfind("\n", 0, edit.start),
        )
    ]
    pieces, places, at, moved = [], [], 0, 0
    for block in _blocks(text, rows):
        for row, lefts in zip(block, _leads(block), strict=True):
            shift = 0
            for cell, lead in zip(row, lefts, strict=True):
                pieces += [text[at : cell.edit.start - cell.lead], " " * lead, cell.edit.text]
                moved += lead - cell.lead
                places.append((cell.edit.start + moved, cell.edit.start + moved + cell.length))
                grown = cell.length - (cell.edit.end - cell.edit.start)
                moved, shift = moved + grown, shift + lead - cell.lead + grown
                at = cell.edit.end
            if shift and (match := COMMENT_GAP.match(text, at)):
                gap = max(2, len(match[1]) - shift)
                pieces += [text[at : match.start(1)], " " * gap]
                at, moved = match.end(), moved + gap - len(match[1])
    return "".join([*pieces, text[at:]]), places


def _cell(text: str, edit: Edit) -> _Cell:
    start = edit.start
    while start and text[start - 1] == " ":
        start -= 1
    return _Cell(edit, edit.start - start, edit.start - text.rfind("\n", 0, edit.start) - 1)


def _blocks(text: str, rows: Sequence[list[_Cell]]) -> list[list[list[_Cell]]]:
    """Consecutive lines with the same number of numbers."""
    blocks: list[list[list[_Cell]]] = []
    for i, row in enumerate(rows):
        if (
            i
            and len(row) == len(rows[i - 1])
            and text.count("\n", rows[i - 1][0].edit.start, row[0].edit.start) == 1
        ):
            blocks[-1].append(row)
        else:
            blocks.append([row])
    return blocks


def _leads(block: Sequence[list[_Cell]]) -> list[list[int]]:
    """The spaces before each number of each line."""
    columns = list(zip(*block, strict=True))
    if len(block) == 1 or not any(
        _right_edge(column, len(columns)) or _left_edge(column) for column in columns
    ):
        return [_leads_of_line(row) for row in block]
    found: list[list[int]] = [[] for _ in block]
    shifts = [0] * len(block)  # how far the end of the number before has moved
    for column in columns:
        if _right_edge(column, len(columns)):
            leads = _padded(
                column, shifts, [cell.right for cell in column], [cell.length for cell in column]
            )
        elif _left_edge(column):
            leads = _padded(column, shifts, [cell.column for cell in column], [0] * len(column))
        else:
            leads = [cell.lead for cell in column]
        for i, (cell, lead) in enumerate(zip(column, leads, strict=True)):
            found[i].append(lead)
            shifts[i] += lead - cell.lead + cell.length - (cell.right - cell.column)
    return found


def _right_edge(column: Sequence[_Cell], columns: int) -> bool:
    """Whether the numbers of a column have the same right edge, and not by chance, as in `int a =
    15;` above `int b = 20;`."""
    return len({cell.right for cell in column}) == 1 and (
        columns > 1 or len({cell.lead for cell in column}) > 1
    )


def _left_edge(column: Sequence[_Cell]) -> bool:
    """Whether they have the same left edge, after spaces that differ."""
    return len({cell.column for cell in column}) == 1 and len({cell.lead for cell in column}) > 1


def _padded(
    column: Sequence[_Cell], shifts: Sequence[int], edges: Sequence[int], lengths: Sequence[int]
) -> list[int]:
    """The spaces with which the equal edges of a column stay equal; `lengths`: of the new texts
    left of the edge."""
    least = min(1, *(cell.lead for cell in column))
    starts = [cell.left + shift for cell, shift in zip(column, shifts, strict=True)]
    edge = max(
        edges[0] + min(shifts),
        *(start + least + length for start, length in zip(starts, lengths, strict=True)),
    )
    return [edge - start - length for start, length in zip(starts, lengths, strict=True)]


def _leads_of_line(row: Sequence[_Cell]) -> list[int]:
    """The same for a line alone: cells of equal width stay so, except the first, which may begin
    elsewhere."""
    widths = {cell.lead + cell.right - cell.column for cell in row[1:]}
    if len(row) < 3 or len(widths) != 1 or all(cell.lead < 2 for cell in row):
        return [cell.lead for cell in row]
    old = [cell.lead + cell.right - cell.column for cell in row]
    growth = max(
        0, *(min(1, cell.lead) + cell.length - width for cell, width in zip(row, old, strict=True))
    )
    return [width + growth - cell.length for cell, width in zip(row, old, strict=True)]


MOST_DIFFERENCES = 1000  # lines of a listing


def line_ranges(lines: Sequence[int], most: int = 8) -> str:
    """Lines as text, consecutive ones as a range: `line 3`, `lines 12-19, 23 and 40
    more`."""
    ranges: list[list[int]] = []
    for line in lines:
        if ranges and line <= ranges[-1][1] + 1:
            ranges[-1][1] = line
        else:
            ranges.append([line, line])
    shown = ", ".join(
        str(first) if first == last else f"{first}-{last}" for first, last in ranges[:most]
    )
    rest = sum(last - first + 1 for first, last in ranges[most:])
    return f"line{'s' * (len(lines) > 1)} {shown}" + (f" and {rest} more" if rest else "")


def written_lines(one: Written, changed: Sequence[Target], r: Rounded) -> list[str]:
    """Return the changes of a source as text: how many numbers, on which lines, and the largest
    change."""
    where = f"{one.numbers:,} number{'s' * (one.numbers > 1)} on {line_ranges(one.lines)}"
    own = [target for target in changed if target.source.path == one.source.path]
    if not own:
        return [f"{one.source.path} has these numbers already: {where}"]
    largest = max(own, key=lambda target: abs(target.value - target.number.value))
    return [
        f"wrote {one.source.path}: {where}; {len(own):,} changed, most of all {largest.label} from"
        f" {old_text(largest)} to {r.text(largest.value)} (line"
        f" {one.source.line(largest.number.start)})"
    ]


def difference_lines(different: Sequence[Target], r: Rounded, name: str) -> list[str]:
    """A line for each number that differs."""
    lines = [
        f"{target.source.at(target.number.start)}: {target.label} is {old_text(target)}, {name} has"
        f" {r.text(target.value)}"
        for target in different[:MOST_DIFFERENCES]
    ]
    rest = len(different) - len(lines)
    return lines + ([f"and {rest:,} more"] if rest else [])


def old_text(target: Target) -> str:
    """The number as the source has it, without suffix and separators."""
    return f"{target.number.value:.{max(0, target.number.decimals)}f}"


def plain_differences(different: Sequence[Target]) -> list[dict]:
    """The same as plain data."""
    return [
        {
            "name": target.label,
            "file": target.source.path,
            "line": target.source.line(target.number.start),
            "source": target.number.value,
            "parameters": target.value,
        }
        for target in different
    ]


FLOAT_TYPES = {"float", "double", "f32", "f64", "float32", "float64", "decimal"}


@dataclass(frozen=True)
class Written:
    """A source with its new text. `lines` are those with numbers of parameters."""

    source: SourceText
    text: str
    numbers: int
    lines: tuple[int, ...]


def require_sources(paths: Sequence[Path], reads: Iterable[str | None], check: bool) -> None:
    """InputError for a source that cannot be replaced: an input of the command, named twice,
    read-only, or no file."""
    for i, path in enumerate(paths):
        require_other(path, (*reads, *map(str, paths[:i])))
        place = Path(os.path.realpath(path))
        if os.path.exists(place) and not os.path.isfile(place):
            raise InputError(
                f"{path}: is a {'folder' if place.is_dir() else 'device or a pipe'}, expected a"
                " source file"
            )
        if not check and os.path.isfile(place):
            if place.is_relative_to(BUNDLED):
                raise InputError(
                    f"{path}: is in the folder of the bundled parameter files; choose another place"
                )
            if not os.access(place, os.W_OK) or not os.stat(place).st_mode & 0o222:
                raise InputError(f"{path}: is read-only; make it writable first")
            if os.stat(place).st_nlink > 1:
                raise InputError(
                    f"{path}: has more names (hard links), which would keep the old content; copy"
                    " it first"
                )


def differences(targets: Sequence[Target], r: Rounded) -> list[Target]:
    """Return the targets whose number in the source differs from the parameter file, after
    rounding; one for stages that have the same number in both."""
    written = {
        (target.source.path, target.number.start, target.value): target
        for target in reversed(targets)
        if abs(target.number.value - target.value) > 0.5 * 10.0**-r.decimals * 1e-6
    }
    return list(reversed(written.values()))


def require_places(targets: Sequence[Target], r: Rounded) -> None:
    """InputError if a number that is not 0 has no place in the sources, which have more of its
    parameter: a stage that a map leaves out, or the end of a short list."""
    there = np.zeros(r.weights.shape, np.bool_)
    where = {target.column: target.part.where for target in targets}
    for target in targets:
        there[target.stage, target.column] = True
    for place in r.parameters.layout.places:
        own = there[:, place.columns]
        lost = ~own & (r.weights[:, place.columns] != 0)
        if own.any() and lost.any():
            stage, k = np.argwhere(lost)[0].tolist()
            label = place.labels()[k]
            beside = next(
                where[c] for c in range(place.first, place.first + place.size) if c in where
            )
            raise InputError(
                f"{label}.{r.stages[stage]} is {r.text(r.weights[stage, place.first + k])}, but"
                f" {beside} has no number for it; write one there, or learn with"
                f" `fixed: [{label}]` and 0 in the parameter file"
            )


def new_texts(targets: Sequence[Target], r: Rounded) -> list[Written]:
    """Return the new text of each source. InputError if a number cannot be written where the old
    one is."""
    texts = []
    sources = {target.source.path: target.source for target in targets}
    for path, source in sources.items():
        own = _alone([target for target in targets if target.source.path == path], r)
        floats = {
            target.part.where
            for target in own
            if target.number.is_float or FLOAT_TYPES & set(target.part.types)
        }
        edits = [
            Edit(
                target.number.start,
                target.number.end,
                _text(target, r, target.part.where in floats, tuple(sources.values())),
            )
            for target in own
        ]
        text, places = replaced_text(source.text, edits)
        _require_same(source, text, [(edit.start, edit.end) for edit in edits], places)
        lines = sorted({source.line(target.number.start) for target in own})
        texts.append(Written(source, text, len(own), tuple(lines)))
    return texts


def _alone(targets: Sequence[Target], r: Rounded) -> list[Target]:
    """Return a target for each number of a source, in their order; InputError if stages differ that
    have one number there."""
    alone: dict[int, Target] = {}
    for target in sorted(targets, key=lambda target: target.number.start):
        other = alone.setdefault(target.number.start, target)
        if other.value != target.value:
            raise InputError(
                f"{target.source.at(target.number.start)}: {other.label} is"
                f" {r.text(other.value)} and {target.label} {r.text(target.value)}, but"
                f" {target.part.where} has one number for both; learn them as one, with `tied:"
                f" [{target.label.partition('[')[0].rpartition('.')[0]}]` in the parameter file"
            )
    return list(alone.values())


def _text(target: Target, r: Rounded, as_float: bool, sources: tuple[SourceText, ...]) -> str:
    """The new text of a number; the old one if the value is the same. `sources` may have the
    typedef of its type."""
    number, at = target.number, target.source.at(target.number.start)
    old = target.source.text[number.start : number.end]
    if number.value == target.value:
        return old
    if r.decimals and not number.is_float and not as_float and target.value != int(target.value):
        raise InputError(
            f"{at}: {target.label} is the whole number {old} there, expected a float for --decimals"
            f" {r.decimals}"
        )
    limits = None
    if not as_float:
        limits = limits_at(number, target.source, target.part.types, sources)
    if limits and not limits.low <= target.value <= limits.high:
        end = limits.low if target.value < limits.low else limits.high
        raise InputError(
            f"{at}: {target.label} is {r.text(target.value)}, but the type {limits.type} of"
            f" {target.part.where} ends at {end}"
        )
    if number.is_unsigned and target.value < 0:
        raise InputError(
            f"{at}: {target.label} is {r.text(target.value)}, but {old} there is unsigned"
        )
    return spelled(number, target.value, r.decimals, as_float)


def width_remarks(targets: Sequence[Target], r: Rounded) -> list[str]:
    """Return a line for each list of a type that is not known whose numbers were of 8 bits, and are
    no longer."""
    sources = tuple({target.source.path: target.source for target in targets}.values())
    lists: dict[tuple[str, str], list[Target]] = {}
    for target in targets:
        lists.setdefault((target.source.path, target.part.where), []).append(target)
    remarks = []
    for own in lists.values():
        first = own[0]
        if not is_unknown(first.number, first.source, first.part.types, sources):
            continue
        for low, high in ((0, 255), (-128, 127)):
            out = [target for target in own if not low <= target.value <= high]
            if len(own) > 1 and out and all(low <= t.number.value <= high for t in own):
                t = out[0]
                remarks.append(
                    f"{t.source.at(t.number.start)}: {t.label} is {r.text(t.value)}, and all"
                    f" numbers of {t.part.where} were from {low} to {high}: make sure that its type"
                    " holds more"
                )
                break
    return remarks


def _require_same(
    source: SourceText, text: str, old: Sequence[tuple[int, int]], new: Sequence[tuple[int, int]]
) -> None:
    """AssertionError if anything but spaces and these numbers has changed, in the text or in its
    syntax tree."""
    again = SourceText(source.path, text, source.language)
    trees = [NUMBER_NODE.sub("number", str(tree.root)) for tree in (source, again)]
    same = _around(source.text, old) == _around(text, new)
    if same and trees[0] != trees[1] and any(text[start] == "-" for start, _ in new):
        raise InputError(
            f"{source.path}: a number that becomes negative would be read as a difference, as in"
            " `(Type) -7`; write the number in parentheses, or without its cast"
        )
    if not same or trees[0] != trees[1]:
        raise AssertionError(f"{source.path}: more than numbers would have changed")


def _around(text: str, spans: Sequence[tuple[int, int]]) -> list[str]:
    """The text before, between and after the spans, without spaces."""
    edges = [0, *(position for span in spans for position in span), len(text)]
    return [
        text[start:end].replace(" ", "") for start, end in zip(edges[::2], edges[1::2], strict=True)
    ]


def write_sources(written: Sequence[Written]) -> list[Written]:
    """Write the sources whose text has changed, with the permissions that they had; return
    these."""
    changed = [one for one in written if one.text != one.source.text]
    for one in changed:
        path = Path(one.source.path)
        mode = os.stat(path).st_mode & 0o7777
        with replaced(path) as temporary:
            temporary.write_bytes(bytes_of(one.text))
            os.chmod(temporary, mode)
    return changed


def with_numbers(p: Parameters, targets: Sequence[Target]) -> Parameters:
    """Return the parameters with the numbers of the sources, and without what was learned about the
    old ones. Stages that the sources keep in one number are tied; stages that they lack, and
    numbers that a list leaves out, which are 0, are fixed."""
    weights, there = p.weights.copy(), np.zeros(p.weights.shape, np.bool_)
    numbers: dict[int, set[int]] = {}  # where they are, by column
    for target in targets:
        there[target.stage, target.column] = True
        numbers.setdefault(target.column, set()).add(target.number.start)
    fixed, tied = list(p.fixed), list(p.tied)
    for place in p.layout.places:
        own = there[:, place.columns]
        if not own.any():
            continue
        stages = [
            f"{place.path}.{stage}"
            for stage, has in zip(p.stages, own, strict=True)
            if not has.any()
        ]
        labels = [label for label, has in zip(place.labels(), own.T, strict=True) if not has.any()]
        fixed += [name for name in (*stages, *labels) if name not in fixed]
        weights[:, place.columns][:, ~own.any(axis=0)] = 0
        columns = range(place.first, place.first + place.size)
        shared = own.sum() > sum(len(numbers.get(column, ())) for column in columns)
        if place.path in tied:
            tied.remove(place.path)
        tied += [place.path] * bool(shared)
    for target in targets:
        if abs(target.number.value) > LARGEST_WEIGHT:
            raise InputError(
                f"{target.source.at(target.number.start)}: {target.label} is"
                f" {target.number.value:g}, expected centipawns between {-LARGEST_WEIGHT:g} and"
                f" {LARGEST_WEIGHT:g}"
            )
        weights[target.stage, target.column] = target.number.value
    read = p.with_weights(
        weights,
        standard_errors=None,
        learned={},
        fixed=tuple(fixed),
        tied=tuple(tied),
    )
    for name in p.symmetric:
        if not _mirrors(read, name):
            raise InputError(
                f"symmetric: the right half of {name} does not mirror the left one in the sources;"
                " delete it from `symmetric` in the parameter file"
            )
    return read


def with_symmetry(p: Parameters) -> Parameters:
    """Return the parameters with those tables as symmetric that are, and are not flat."""
    names = [
        place.path
        for place in p.layout.places
        if is_board(place.shape)
        and np.ptp(p.weights[:, place.columns]) > 0
        and _mirrors(p, place.path)
    ]
    return replace(p, symmetric=tuple(names))


def _mirrors(p: Parameters, name: str) -> bool:
    """Return whether the right half of the tables of this name mirrors the left one."""
    leaders = replace(p, symmetric=(name,), tied=()).leaders()
    return bool((p.weights.ravel()[leaders] == p.weights).all())


def has_other_numbers_alone(path: Path, p: Parameters) -> bool:
    """Return whether a file differs from the parameters in numbers alone, as those that are written
    from a source do."""
    try:
        there = read_parameters(path, None if p.of_rows else p.layout, p.game)
    except InputError:
        return False
    wanted = p.with_weights(p.weights, standard_errors=None, learned={})
    return to_text(replace(there, weights=p.weights), path.parent) == to_text(wanted, path.parent)
