"""Rows in svmlight's format: one line a position, `share qid:game 0:phase column:count ... # position; key=value ...`.

Columns are numbered from 1 in the order of the layout; column 0 is the phase.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NoReturn

import numpy as np

from games.streams import InputError
from tuner.parameters.layout import Layout, Place
from tuner.rows.batch import RowBatch
from tuner.rows.found import Found
from tuner.rows.lines import blocks
from tuner.rows.names import MOST_COLUMNS, shown
from tuner.rows.svmlight_parser import (
    AT,
    BAD_GAME,
    BAD_KEY,
    BAD_LABEL,
    BAD_LINE_END,
    BAD_PAIR,
    BAD_PHASE,
    BAD_SHARE,
    BAD_VALUE,
    FAULT,
    FINE,
    HAS_GAME,
    HAS_OPENING,
    HAS_PHASE,
    KEYS,
    LARGEST_INDEX,
    LINE,
    NONZEROS,
    NOT_ASCENDING,
    ROWS,
    TOO_LARGE,
    USED,
    parse_svmlight,
)
from tuner.rows.values import LARGEST_PHASE, Expected, checked, own_games, refuse

MOST_ROWS = 1 << 15  # of a batch
# what was expected at a fault, and what to do about it
FAULTS = {
    BAD_LABEL: ("a label", "the first player's share of 0 to 1, or nan if it is unknown", "write it first in the line"),
    BAD_SHARE: ("a label", "the first player's share of 0 to 1", "write 1 for a win, 0.5 for a draw, 0 for a loss"),
    BAD_GAME: ("a game", "qid: and a whole number of 64 bits", "number the games"),
    BAD_PAIR: ("a pair", "column:count, with a whole number before the colon", "correct the line"),
    NOT_ASCENDING: ("a pair", "columns in ascending order, each once", "sort the pairs of each line, and add up equal ones"),
    BAD_VALUE: ("a pair", "column:count, with a number after the colon", "correct the line"),
    BAD_PHASE: ("a phase", f"0: and a whole number of 0 to {LARGEST_PHASE}", "write the steps of the first stage as column 0"),
    BAD_KEY: ("", f"after the semicolon of a comment {', '.join(f'{key}=number' for key in KEYS)}", "correct the comment"),
    BAD_LINE_END: ("a carriage return within a line", "lines that end with a line feed", "convert the line ends"),
}


class _Parser:
    """Parses blocks of a file into batches; keeps the number of the line."""

    def __init__(self, source: str, columns: int) -> None:
        self.source, self.columns = source, columns
        self.state = np.zeros(7, np.int64)
        self.rows = 0
        self.phase_seen = False

    def batches(self, block: bytes) -> Iterator[tuple[RowBatch, np.ndarray]]:
        """Yield the batches of a block, and the number of the line of each row."""
        text = np.frombuffer(block, np.uint8)
        begin, most = 0, min(MOST_ROWS, len(block) // 2 + 1)
        while begin < len(text):
            index, count = np.empty(len(block) // 4 + 1, np.int32), np.empty(len(block) // 4 + 1, np.float32)
            row, phase = np.zeros(most + 1, np.int64), np.empty(most, np.int64)
            outcome, given = np.empty(most), np.empty(most, np.uint8)
            game, opening = np.empty((2, most), np.uint64)
            comment, extra, line = np.empty((most, 2), np.int64), np.empty((most, 4), np.float32), np.empty(most, np.int64)
            parse_svmlight(text, begin, self.state, self.columns, index, count, row, phase, outcome, game, opening, given,
                           comment, extra, line)
            if self.state[FAULT] != FINE:
                self._fault(block)
            n, nonzeros, begin = int(self.state[ROWS]), int(self.state[NONZEROS]), int(self.state[USED])
            if n == 0:
                continue
            self.phase_seen = self.phase_seen or bool((given[:n] & HAS_PHASE).any())
            game = np.where(given[:n] & HAS_GAME, game[:n], own_games(self.rows, n))
            has_opening = (given[:n] & HAS_OPENING) > 0
            self.rows += n
            places = comment[:n]
            texts = ([block[i:end].decode("utf-8", "replace") for i, end in places.tolist()]
                     if (places[:, 1] > places[:, 0]).any() else None)
            rest, scale, evaluation, score = np.ascontiguousarray(extra[:n].T)
            yield RowBatch(index[:nonzeros].copy(), count[:nonzeros].copy(), row[:n + 1], phase[:n],
                           outcome[:n].astype(np.float32), rest, scale, evaluation, score, game, texts,
                           np.where(has_opening, opening[:n], game) if has_opening.any() else None), line[:n]

    def _fault(self, block: bytes) -> NoReturn:
        at, where = int(self.state[AT]), f"{self.source}: line {self.state[LINE]}"
        word = (block[at:at + 200].split(b"\n")[0].split() or [b""])[0].decode("utf-8", "replace")
        if self.state[FAULT] == TOO_LARGE:
            refuse(where, f"column {shown(word.partition(':')[0])}", f"columns of 1 to {self.columns}, as the parameter file has",
                   "use the parameter file that these rows were made for")
        kind, expected, advice = FAULTS[int(self.state[FAULT])]
        refuse(where, f"{shown(word)!r} as {kind}" if word and kind.startswith("a ") and "return" not in kind else kind or
               f"{shown(word)!r}", expected, advice)


def read(source: str, expected: Expected, note: Callable[[str], None]) -> Iterator[RowBatch]:
    """Yield the rows of a file in batches; InputError names the line of a fault."""
    parser = _Parser(source, expected.layout.size)
    for block in blocks(source):
        for batch, line in parser.batches(block):
            yield checked(batch, expected, lambda row, line=line: f"{source}: line {line[row]}")  # type: ignore[misc]
    if parser.rows and expected.stages > 1 and not parser.phase_seen:
        raise InputError(f"{source}: no line has column 0, the phase; expected 0:PHASE, steps of the first stage; write it, or "
                         "use a parameter file of one stage")


def scan(source: str) -> Found:
    """Return what a file contains: columns of one parameter, `columns.weight`, as many as the largest number of a column."""
    parser, columns, phases = _Parser(source, LARGEST_INDEX), 0, 0
    for block in blocks(source):
        for batch, _ in parser.batches(block):
            columns = max(columns, 1 + int(batch.index.max(initial=-1)))
            phases = max(phases, int(batch.phase.max()))
    if columns == 0 or columns > MOST_COLUMNS:
        raise InputError(f"{source}: {columns:,} columns, expected 1 to {MOST_COLUMNS:,}; number the columns from 1")
    return Found(Layout((Place("columns", "weight", (columns,), 0),)), phases if parser.phase_seen else None, parser.rows)
