"""Replace numbers in a text so that columns stay columns, and comments at the ends of lines stay where they were."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

COMMENT_GAP = re.compile(r"[,;)}\] ]*?( {2,})(?=//|/\*)")  # from a number to a comment at the end of its line


@dataclass(frozen=True)
class Edit:
    """New text for the number from `start` to `end`."""

    start: int
    end: int
    text: str


@dataclass(frozen=True)
class _Cell:
    """A number with the spaces before it; columns are those of its line."""

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
    """Return the text with its numbers replaced, and where each number, in their order in the text, is in it.

    Numbers with equal left or right edges on lines that follow each other have equal edges afterwards, and so do cells of equal
    width on one line. A column becomes wider where a number needs it, never narrower.
    """
    rows = [[_cell(text, edit) for edit in line] for _, line in
            groupby(sorted(edits, key=lambda edit: edit.start), key=lambda edit: text.rfind("\n", 0, edit.start))]
    pieces, places, at, moved = [], [], 0, 0
    for block in _blocks(text, rows):
        for row, lefts in zip(block, _leads(block), strict=True):
            shift = 0
            for cell, lead in zip(row, lefts, strict=True):
                pieces += [text[at:cell.edit.start - cell.lead], " " * lead, cell.edit.text]
                moved += lead - cell.lead
                places.append((cell.edit.start + moved, cell.edit.start + moved + cell.length))
                grown = cell.length - (cell.edit.end - cell.edit.start)
                moved, shift = moved + grown, shift + lead - cell.lead + grown
                at = cell.edit.end
            if shift and (match := COMMENT_GAP.match(text, at)):
                gap = max(2, len(match[1]) - shift)
                pieces += [text[at:match.start(1)], " " * gap]
                at, moved = match.end(), moved + gap - len(match[1])
    return "".join([*pieces, text[at:]]), places


def _cell(text: str, edit: Edit) -> _Cell:
    start = edit.start
    while start and text[start - 1] == " ":
        start -= 1
    return _Cell(edit, edit.start - start, edit.start - text.rfind("\n", 0, edit.start) - 1)


def _blocks(text: str, rows: Sequence[list[_Cell]]) -> list[list[list[_Cell]]]:
    """Lines that follow each other and have as many numbers."""
    blocks: list[list[list[_Cell]]] = []
    for i, row in enumerate(rows):
        if i and len(row) == len(rows[i - 1]) and text.count("\n", rows[i - 1][0].edit.start, row[0].edit.start) == 1:
            blocks[-1].append(row)
        else:
            blocks.append([row])
    return blocks


def _leads(block: Sequence[list[_Cell]]) -> list[list[int]]:
    """The spaces before each number of each line."""
    columns = list(zip(*block, strict=True))
    if len(block) == 1 or not any(_right_edge(column, len(columns)) or _left_edge(column) for column in columns):
        return [_leads_of_line(row) for row in block]
    found: list[list[int]] = [[] for _ in block]
    shifts = [0] * len(block)  # how far the end of the number before has moved
    for column in columns:
        if _right_edge(column, len(columns)):
            leads = _padded(column, shifts, [cell.right for cell in column], [cell.length for cell in column])
        elif _left_edge(column):
            leads = _padded(column, shifts, [cell.column for cell in column], [0] * len(column))
        else:
            leads = [cell.lead for cell in column]
        for i, (cell, lead) in enumerate(zip(column, leads, strict=True)):
            found[i].append(lead)
            shifts[i] += lead - cell.lead + cell.length - (cell.right - cell.column)
    return found


def _right_edge(column: Sequence[_Cell], columns: int) -> bool:
    """Whether the numbers of a column end below each other, and not by chance, as in `int a = 15;` above `int b = 20;`."""
    return len({cell.right for cell in column}) == 1 and (columns > 1 or len({cell.lead for cell in column}) > 1)


def _left_edge(column: Sequence[_Cell]) -> bool:
    """Whether they begin below each other, after spaces that differ."""
    return len({cell.column for cell in column}) == 1 and len({cell.lead for cell in column}) > 1


def _padded(column: Sequence[_Cell], shifts: Sequence[int], edges: Sequence[int], lengths: Sequence[int]) -> list[int]:
    """The spaces with which the equal edges of a column stay equal; `lengths`: of the new texts left of the edge."""
    least = min(1, *(cell.lead for cell in column))
    starts = [cell.left + shift for cell, shift in zip(column, shifts, strict=True)]
    edge = max(edges[0] + min(shifts), *(start + least + length for start, length in zip(starts, lengths, strict=True)))
    return [edge - start - length for start, length in zip(starts, lengths, strict=True)]


def _leads_of_line(row: Sequence[_Cell]) -> list[int]:
    """The same for a line alone: cells of equal width stay so, but for the first, which may begin elsewhere."""
    widths = {cell.lead + cell.right - cell.column for cell in row[1:]}
    if len(row) < 3 or len(widths) != 1 or all(cell.lead < 2 for cell in row):
        return [cell.lead for cell in row]
    old = [cell.lead + cell.right - cell.column for cell in row]
    growth = max(0, *(min(1, cell.lead) + cell.length - width for cell, width in zip(row, old, strict=True)))
    return [width + growth - cell.length for cell, width in zip(row, old, strict=True)]
