"""Rows of JSON lines of the plain form that engines print, by the compiled parser."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tuner.rows.batch import RowBatch
from tuner.rows.json_parser import FIELDS, LINE, NAMED_GAME, NONZEROS, NUMBERED_GAME, ROWS, USED, parse_json, table_of
from tuner.rows.names import Names
from tuner.rows.values import Expected, checked, game_of, own_games, phases_from

MOST_ROWS = 1 << 15  # of a batch


class PlainParser:
    """Parses blocks of whole lines into batches, until a line has another form; keeps the numbers of lines and rows."""

    def __init__(self, source: str, expected: Expected, names: Names) -> None:
        self.source, self.expected = source, expected
        self.table, self.names = table_of(names.columns)
        self.key_table, self.keys = table_of({name: place for place, name in enumerate(FIELDS)})
        self.state = np.zeros(5, np.int64)
        self.rows = 0  # that were read before, here or elsewhere
        self.used = 0  # bytes of the block

    @property
    def line(self) -> int:
        """The number of lines that were read."""
        return int(self.state[LINE])

    @line.setter
    def line(self, value: int) -> None:
        self.state[LINE] = value

    def batches(self, block: bytes) -> Iterator[RowBatch]:
        """Yield the rows of a block up to its end or a line of another form; `used` is then the byte where that begins."""
        text, fine = np.frombuffer(block, np.uint8), True
        self.used, most = 0, min(MOST_ROWS, len(block) // 8 + 1)
        while fine and self.used < len(text):
            index, count = np.empty(len(block) // 5 + 1, np.int32), np.empty(len(block) // 5 + 1, np.float32)
            row, values, line = np.zeros(most + 1, np.int64), np.empty((most, 6)), np.empty(most, np.int64)
            game, given, places = np.empty(most, np.uint64), np.empty(most, np.uint8), np.empty((most, 4), np.int64)
            fine = parse_json(text, self.used, self.names, self.table, self.keys, self.key_table, self.state,
                              index, count, row, values, game, given, places, line)
            n, nonzeros, self.used = int(self.state[ROWS]), int(self.state[NONZEROS]), int(self.state[USED])
            if n:
                yield self._batch(block, index[:nonzeros].copy(), count[:nonzeros].copy(), row[:n + 1], values[:n], game[:n],
                                  given[:n], places[:n], line[:n])
                self.rows += n

    def _batch(self, block: bytes, index: np.ndarray, count: np.ndarray, row: np.ndarray, values: np.ndarray, game: np.ndarray,
               given: np.ndarray, places: np.ndarray, line: np.ndarray) -> RowBatch:
        n = len(line)

        def where(i: int) -> str:
            return f"{self.source}: line {line[i]}"

        phases = phases_from(values[:, 1], where) if self.expected.stages > 1 else np.zeros(n, np.int64)
        games = np.where(given == NUMBERED_GAME, game, own_games(self.rows, n))
        if (given == NAMED_GAME).any():
            known: dict[bytes, int | None] = {}
            for i in np.flatnonzero(given == NAMED_GAME).tolist():
                name = block[places[i, 2]:places[i, 3]]
                if name and name not in known:
                    known[name] = game_of(name.decode("ascii"))
                if name:
                    games[i] = known[name]
        text = None
        if (places[:, 1] > places[:, 0]).any():
            text = [block[begin:end].decode("ascii").strip() for begin, end in places[:, :2].tolist()]
        with np.errstate(over="ignore"):
            outcome, _, rest, scale, evaluation, score = np.ascontiguousarray(values.T.astype(np.float32))
        rows = RowBatch(index, count, row, phases, outcome, rest, scale, evaluation, score, games, text)
        return checked(rows, self.expected, where)
