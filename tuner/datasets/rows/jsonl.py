"""Rows in JSON lines: an object for each position, whose `counts` name the numbers that apply. This
is what an engine prints.

{"fen": "...", "game": 12, "result": "1-0", "eval": 31, "phase": 24, "counts":
{"knight_mobility[3]": 2, "pawns.doubled": -1}}"""

import json
import math
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any, NoReturn

import numpy as np

from games.streams import InputError
from tuner.core.records import Twice, with_each_once
from tuner.datasets.rows.values import (
    EXPECTED_GAME,
    EXPECTED_RESULT,
    FIELDS,
    ExpectedRows,
    FoundRows,
    Names,
    RowBatch,
    blocks,
    checked,
    game_of,
    layout_of_names,
    outcome_of,
    own_games,
    phases_from,
    refuse,
    shown,
)

KEYS = frozenset((*FIELDS, "counts"))
# with what a missing one means
NUMBERS = {
    "eval": math.nan,
    "score": math.nan,
    "phase": math.nan,
    "rest": 0.0,
    "scale": 1.0,
    "factor": 1.0,
}
BLOCK = 1 << 22
MOST_ROWS = 1 << 13  # of a batch
PLAIN = {int, float}
FORM = 'an object such as {"fen": "...", "result": 0.5, "phase": 24, "counts": {"term.name[3]": 2}}'


_decode, _decode_strictly = (
    json.JSONDecoder().decode,
    json.JSONDecoder(object_pairs_hook=with_each_once).decode,
)


def _objects(
    source: str, texts: Iterable[bytes], number: int = 0
) -> Iterator[tuple[dict[str, Any], dict[str, Any], int]]:
    """Yield each line's object, its counts and the number of the line, of blocks of lines after
    line `number`.

    Unknown and repeated keys are refused.
    """
    for block in texts:
        for raw in block.split(b"\n")[:-1]:
            number += 1
            line = raw.strip()
            if not line or line.startswith((b"#", b"//")):
                continue
            where = f"{source}: line {number}"
            try:
                text = line.decode("utf-8")
                found = _decode(text)
                counts = found["counts"]
                # the decoder keeps the last of two equal keys; then there are more quotes than
                # around the keys and texts kept
                strings = sum(type(value) is str for value in found.values())
                if 2 * (len(found) + len(counts) + strings) != text.count('"'):
                    found = _decode_strictly(text)
                    counts = found["counts"]
            except Twice as twice:
                refuse(
                    where,
                    f"{shown(str(twice))!r} is there twice",
                    "each name once in a row",
                    "add the two counts up",
                )
            except (ValueError, RecursionError, TypeError, KeyError, OverflowError) as problem:
                _refuse_line(where, line, problem)
            if not isinstance(counts, dict):
                refuse(
                    where,
                    f"counts is {shown(counts)}",
                    "an object of names and numbers",
                    'write "counts": {"term.name": 1}',
                )
            if not KEYS.issuperset(found):
                _refuse_key(where, next(key for key in found if key not in KEYS))
            yield found, counts, number


def _refuse_line(where: str, line: bytes, problem: Exception) -> NoReturn:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError, OverflowError):
        value = None
    if isinstance(value, dict) and "counts" not in value:
        refuse(where, "no counts", FORM, "write counts, {} if no number applies")
    reason = str(problem) if value is None else "it is no object"
    if isinstance(problem, json.JSONDecodeError):
        reason = problem.msg
    refuse(
        where,
        f"not a row in JSON ({shown(reason)}): {shown(line.decode('utf-8', 'replace'))}",
        FORM,
        "write each position on one line",
    )


def _refuse_key(where: str, key: str) -> NoReturn:
    refuse(
        where,
        f"the key {shown(key)!r}",
        f"{', '.join((*FIELDS, 'counts'))}",
        "move what is counted into counts, and leave out what is not needed",
    )


class _Rows:
    """Collects the rows of a batch."""

    def __init__(self, source: str, expected: ExpectedRows, names: Names) -> None:
        self.source, self.expected, self.names = source, expected, names
        self.done = 0
        self.clear()

    def clear(self) -> None:
        self.found: list[dict[str, Any]] = []
        self.counts: list[dict[str, Any]] = []
        self.lines: list[int] = []

    def where(self, row: int) -> str:
        return f"{self.source}: line {self.lines[row]}"

    def batch(self) -> RowBatch:
        """Return the collected rows, and forget them."""
        n = len(self.found)
        sizes = np.fromiter(map(len, self.counts), np.int64, n)
        row = np.zeros(n + 1, np.int64)
        np.cumsum(sizes, out=row[1:])
        try:
            index = np.fromiter(
                map(self.names.columns.__getitem__, chain.from_iterable(self.counts)),
                np.int32,
                row[-1],
            )
        except KeyError:
            self._refuse_name()
        values = list(chain.from_iterable(counts.values() for counts in self.counts))
        if not PLAIN.issuperset(map(type, values)):
            wrong = next(i for i, value in enumerate(values) if type(value) not in PLAIN)
            self._refuse_count(int(np.searchsorted(row, wrong, "right")) - 1)
        fields = {name: self._numbers(name, missing) for name, missing in NUMBERS.items()}
        phase = (
            phases_from(fields["phase"], self.where)
            if self.expected.stages > 1
            else np.zeros(n, np.int64)
        )
        text = self._texts()
        with np.errstate(over="ignore"):
            try:
                count = np.array(values, np.float64).astype(np.float32)
            except OverflowError:  # a whole number of hundreds of digits
                large = (
                    i
                    for i, counts in enumerate(self.counts)
                    if any(abs(value) > 1e300 for value in counts.values())
                )
                self._refuse_count(next(large))
            count = (count * np.repeat(fields["factor"], sizes)).astype(np.float32)
            fields["rest"] = fields["rest"] * fields["factor"]
            rest, scale, evaluation, score = (
                fields[name].astype(np.float32) for name in ("rest", "scale", "eval", "score")
            )
        outcome = self._converted("result", outcome_of, EXPECTED_RESULT, np.float64).astype(
            np.float32
        )
        games = self._games("game", own_games(self.done, n))
        opening = (
            self._games("opening", games)
            if any("opening" in found for found in self.found)
            else None
        )
        batch = RowBatch(
            index, count, row, phase, outcome, rest, scale, evaluation, score, games, text, opening
        )
        batch = checked(batch, self.expected, self.where)
        self.done += n
        self.clear()
        return batch

    def _numbers(self, name: str, missing: float) -> np.ndarray:
        values: list[Any] = [found.get(name) for found in self.found]
        if not PLAIN.issuperset(map(type, values)):
            values = [self._number(name, value, i, missing) for i, value in enumerate(values)]
        try:
            found = np.array(values, np.float64)
        except OverflowError:
            found = np.array(
                [math.inf if abs(value) > 1e300 else value for value in values], np.float64
            )
        if name in ("rest", "scale", "factor") or not np.isnan(found).any():
            return found
        if any(isinstance(row.get(name), float) and math.isnan(row[name]) for row in self.found):
            at = next(
                i
                for i, row in enumerate(self.found)
                if isinstance(row.get(name), float) and math.isnan(row[name])
            )
            refuse(self.where(at), f"{name} is NaN", "a number", "leave it out if it is unknown")
        return found

    def _number(self, name: str, value: object, row: int, missing: float) -> float:
        if value is None:
            return missing
        if name == "score" and value in ("inf", "-inf"):
            return float(str(value))
        if type(value) not in PLAIN:
            refuse(
                self.where(row),
                f"{name} is {shown(value)}",
                'a number, or "inf" or "-inf" for a mate' if name == "score" else "a number",
                "correct it",
            )
        return value  # type: ignore[return-value]

    def _converted(
        self, name: str, of: Callable[[object], Any], expected: str, kind: type
    ) -> np.ndarray:
        known: dict[Any, Any] = {}
        values = [found.get(name) for found in self.found]
        for row, value in enumerate(values):
            key = (type(value), value) if isinstance(value, int | float | str | None) else None
            if key not in known:
                known[key] = None if key is None else of("" if value is None else value)
                if known[key] is None:
                    refuse(
                        self.where(row),
                        f"{name} is {shown(value)}",
                        expected.removeprefix("expected "),
                        "correct it",
                    )
        return np.fromiter((known[type(value), value] for value in values), kind, len(values))

    def _games(self, name: str, missing: np.ndarray) -> np.ndarray:
        """Return the identities that a field names, those in `missing` where it is not there."""
        own = np.fromiter(
            (found.get(name) in (None, "") for found in self.found), np.bool_, len(self.found)
        )
        return np.where(own, missing, self._converted(name, game_of, EXPECTED_GAME, np.uint64))

    def _texts(self) -> list[str] | None:
        if not any("fen" in found for found in self.found):
            return None
        text = ["" if found.get("fen") is None else found["fen"] for found in self.found]
        if set(map(type, text)) != {str}:
            at = next(i for i, value in enumerate(text) if type(value) is not str)
            refuse(self.where(at), f"fen is {shown(text[at])}", "a text", "write it with quotes")
        return [value.strip().encode("utf-8", "replace").decode() for value in text]

    def _refuse_name(self) -> NoReturn:
        at, name = next(
            (i, name)
            for i, counts in enumerate(self.counts)
            for name in counts
            if name not in self.names.columns
        )
        raise InputError(f"{self.where(at)}: {self.names.unknown(name)}")

    def _refuse_count(self, row: int) -> NoReturn:
        name, value = next(
            (name, value)
            for name, value in self.counts[row].items()
            if type(value) not in PLAIN or not abs(value) <= 1e300
        )
        refuse(
            self.where(row),
            f"the count of {shown(name)} is {shown(value)}",
            "a number",
            "write an array as name[0], name[1] ..." if isinstance(value, list) else "correct it",
        )


class RowReader:
    """Reads rows from blocks of consecutive whole lines; InputError names the line of a
    fault, counted from 1."""

    def __init__(self, source: str, expected: ExpectedRows) -> None:
        self._rows, self.line = _Rows(source, expected, Names(expected.layout)), 0

    def begin_at(self, line: int) -> None:
        """Forget rows that were read in part; the next line follows this one."""
        self._rows.clear()
        self.line = line

    def batches(self, block: bytes) -> Iterator[RowBatch]:
        """Yield the rows of the next block."""
        rows = self._rows
        for found, counts, line in _objects(rows.source, [block], self.line):
            rows.found.append(found)
            rows.counts.append(counts)
            rows.lines.append(line)
            if len(rows.found) == MOST_ROWS:
                yield rows.batch()
        if rows.found:
            yield rows.batch()
        self.line += block.count(b"\n")


def read(source: str, expected: ExpectedRows) -> Iterator[RowBatch]:
    """Yield the rows of a file in batches; InputError names the line of a fault."""
    reader = RowReader(source, expected)
    for block in blocks(source, BLOCK):
        yield from reader.batches(block)


def scan(source: str) -> FoundRows:
    """Return the layout that the names in all lines make up, the largest phase and the number of
    rows."""
    names: dict[str, None] = {}
    phases, rows = None, 0
    for found, counts, _ in _objects(source, blocks(source, BLOCK)):
        rows += 1
        names.update(dict.fromkeys(counts))
        phase = found.get("phase")
        if isinstance(phase, int | float) and 0 <= phase < 1 << 16:
            phases = max(phases or 0, int(phase))
    return FoundRows(layout_of_names(names, source), phases, rows)
