"""Rows in CSV: a header that names the columns, then a line for each position."""

from __future__ import annotations

import contextlib
import csv
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from games.streams import InputError
from tuner.datasets.rows.table import TEXTS, Header, found_in, rows_of
from tuner.datasets.rows.values import (
    LARGEST_PHASE,
    ExpectedRows,
    FoundRows,
    RowBatch,
    blocks,
    refuse,
    shown,
)

BLOCK = 1 << 22  # bytes
UNKNOWN = ("", "nan", "NaN")  # numbers that are not there
MOST_NAMES = 1 << 16


class _Table(NamedTuple):
    """Lines of a file: the values of a column by its place, their number, and the number of each
    line."""

    column: Callable[[int], Any]
    rows: int
    line: Sequence[int]


class _CsvFile:
    """A CSV file: its header, and tables of the lines after it."""

    def __init__(self, source: str) -> None:
        self.source, self._line = source, 0
        self._blocks = blocks(source, BLOCK)
        self.names: list[str] = []
        self._rest = b""
        for block in self._blocks:
            while block and not self.names:
                first, _, block = block.partition(b"\n")
                self._line += 1
                if not _is_blank(first):
                    self.names = [name.strip() for name in self._cells(first, self._line)]
            if self.names:
                self._rest = block
                break
        if not self.names:
            raise InputError(
                f"{source}: no header; expected a first line that names the columns, such as"
                " game,result,phase,...; add it"
            )
        if len(self.names) > MOST_NAMES:
            raise InputError(
                f"{source}: {len(self.names):,} columns; expected at most {MOST_NAMES:,}; use"
                " another format"
            )

    def where(self, line: int) -> str:
        return f"{self.source}: line {line}"

    def _cells(self, line: bytes, number: int) -> list[str]:
        try:
            (cells,) = csv.reader([line.decode("utf-8").rstrip("\r")], strict=True)
        except (csv.Error, UnicodeDecodeError, ValueError) as problem:
            refuse(
                self.where(number),
                f"not CSV ({shown(str(problem))})",
                "values with commas between them, in UTF-8",
                "correct it",
            )
        return cells

    def tables(self) -> Iterator[_Table]:
        """Yield the lines after the header."""
        for block in self._all():
            lines = [
                (number, line)
                for number, line in enumerate(block.split(b"\n")[:-1], self._line + 1)
                if not _is_blank(line)
            ]
            self._line += block.count(b"\n")
            size = rows_of(len(self.names))
            for begin in range(0, len(lines), size):
                some = lines[begin : begin + size]
                numbers = [number for number, _ in some]
                text = [line for _, line in some]
                yield self._table(text, numbers)

    def _all(self) -> Iterator[bytes]:
        if self._rest:
            yield self._rest
        yield from self._blocks

    def _table(self, lines: list[bytes], numbers: list[int]) -> _Table:
        rows = []
        for number, line in zip(numbers, lines, strict=True):
            rows.append(self._cells(line, number))
            if len(rows[-1]) != len(self.names):
                refuse(
                    self.where(number),
                    f"{len(rows[-1])} values",
                    f"{len(self.names)}, as the header has",
                    "correct the line",
                )
        columns = list(zip(*rows, strict=True))

        def column(place: int) -> Any:
            if self.names[place] in TEXTS:
                return list(columns[place])
            words, values = columns[place], np.empty(len(rows))
            letters = "".join(words)
            if letters.isascii() and "_" not in letters:
                with contextlib.suppress(ValueError):  # some are missing, or no numbers
                    return np.fromiter(map(float, words), np.float64, len(words))
            for i, word in enumerate(words):
                try:
                    values[i] = (
                        np.nan
                        if word.strip() in UNKNOWN
                        else float(word if word.isascii() and "_" not in word else "?")
                    )
                except ValueError:
                    refuse(
                        self.where(numbers[i]),
                        f"{self.names[place]} is {shown(word)!r}",
                        "a number",
                        "correct it",
                    )
            return values

        return _Table(column, len(rows), numbers)


def _is_blank(line: bytes) -> bool:
    return not line.strip() or line.startswith(b"#")


def read(source: str, expected: ExpectedRows) -> Iterator[RowBatch]:
    """Yield the rows of a file in batches; InputError names the line of a fault."""
    file, done = _CsvFile(source), 0
    header = Header(file.names, expected, source)
    for table in file.tables():

        def where(row: int, line: Sequence[int] = table.line) -> str:
            return file.where(line[row])

        yield header.batch(table.column, table.rows, done, where)
        done += table.rows


def scan(source: str) -> FoundRows:
    """Return the layout that the header makes up, the largest phase and the number of rows."""
    file, phases, rows = _CsvFile(source), 0, 0
    place = file.names.index("phase") if "phase" in file.names else None
    for table in file.tables():
        rows += table.rows
        if place is not None:
            phases = max(
                phases, int(np.nanmax(table.column(place), initial=0).clip(0, LARGEST_PHASE))
            )
    return found_in(file.names, None if place is None else phases, rows, source)
