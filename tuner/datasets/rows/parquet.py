"""Rows in Parquet, through pyarrow, an optional package: a column for each field and each number of
the layout."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from games.streams import InputError
from tuner.datasets.rows.values import (
    EXPECTED_GAME,
    EXPECTED_RESULT,
    FIELDS,
    ExpectedRows,
    FoundRows,
    Names,
    RowBatch,
    Where,
    checked,
    game_of,
    layout_of_names,
    outcome_of,
    own_games,
    phases_from,
    refuse,
    shown,
)

TEXTS = ("fen", "game", "opening", "result")
CELLS = 1 << 22  # of a batch
FEWEST_ROWS, MOST_ROWS = 64, 1 << 15  # of a batch


def rows_of(columns: int) -> int:
    """Return how many rows of a table make a batch."""
    return min(MOST_ROWS, max(FEWEST_ROWS, CELLS // max(1, columns)))


class _Header:
    """The columns of a table: `fields` has the place of each field, `counts` the place of each
    column of the layout."""

    def __init__(self, names: Sequence[str], expected: ExpectedRows, where: str) -> None:
        self.names, self.expected = names, expected
        known, columns = Names(expected.layout), {}
        self.fields: dict[str, int] = {}
        for place, name in enumerate(names):
            if name in FIELDS:
                twice, self.fields[name] = name in self.fields, place
            elif name in known.columns:
                column = known.columns[name]
                twice, columns[column] = column in columns, place
            else:
                refuse(
                    where,
                    f"a column named {shown(name)!r}" if name else "a column without name",
                    f"{', '.join(FIELDS)}, or term.name[index]",
                    known.unknown(name, FIELDS) if name else "name it",
                )
            if twice:
                refuse(where, f"two columns for {shown(name)!r}", "one", "rename or remove one")
        missing = [label for column, label in enumerate(known.labels) if column not in columns]
        if missing:
            others = (
                f", nor {len(missing) - 1:,} more of the parameter file" if len(missing) > 1 else ""
            )
            refuse(
                where,
                f"no column {missing[0]}{others}",
                "a column for each number of the parameter file",
                "add it, with zeros where it does not apply, or take the number out of the"
                " parameter file",
            )
        if expected.stages > 1 and "phase" not in self.fields:
            refuse(
                where,
                "no column phase",
                "the steps of the first stage",
                "add it, or use a parameter file of one stage",
            )
        self.counts = [columns[column] for column in range(expected.layout.size)]

    def batch(self, column: Any, n: int, done: int, where: Where) -> RowBatch:
        """Return n rows; `column(place)` gives the values of a column, numbers as float64 (NaN:
        missing), texts as a list."""
        dense = np.empty((n, len(self.counts)), np.float32)
        with np.errstate(over="ignore"):  # infinite then, which is refused
            for k, place in enumerate(self.counts):
                dense[:, k] = column(place)
        _, index = nonzero = np.nonzero(dense)
        row = np.zeros(n + 1, np.int64)
        np.cumsum(np.count_nonzero(dense, axis=1), out=row[1:])

        def numbers(name: str, default: float) -> np.ndarray:
            if name not in self.fields:
                return np.full(n, default, np.float32)
            with np.errstate(over="ignore"):
                values = column(self.fields[name]).astype(np.float32)
            return np.where(np.isnan(values), np.float32(default), values)

        phase = (
            phases_from(column(self.fields["phase"]), where)
            if self.expected.stages > 1
            else np.zeros(n, np.int64)
        )
        outcome = np.full(n, np.nan, np.float32)
        if "result" in self.fields:
            outcome = _converted(
                column(self.fields["result"]), outcome_of, "result", EXPECTED_RESULT, where
            ).astype(np.float32)

        def identities(name: str, usual: np.ndarray) -> np.ndarray:
            values = column(self.fields[name])
            missing = np.fromiter((value is None or value == "" for value in values), np.bool_, n)
            known = [0 if gone else value for gone, value in zip(missing, values, strict=True)]
            return np.where(missing, usual, _converted(known, game_of, name, EXPECTED_GAME, where))

        game = own_games(done, n)
        if "game" in self.fields:
            game = identities("game", game)
        opening = identities("opening", game) if "opening" in self.fields else None
        text = None
        if "fen" in self.fields:
            text = [
                "" if value is None else str(value).strip() for value in column(self.fields["fen"])
            ]
        batch = RowBatch(
            index.astype(np.int32),
            dense[nonzero],
            row,
            phase,
            outcome,
            numbers("rest", 0),
            numbers("scale", 1),
            numbers("eval", np.nan),
            numbers("score", np.nan),
            game,
            text,
            opening,
        )
        return checked(batch, self.expected, where)


def _converted(
    values: Sequence[object], of: Any, name: str, expected: str, where: Where
) -> np.ndarray:
    """Convert values one by one, equal ones once; InputError for a value that `of` returns None
    for."""
    known: dict[object, Any] = {}
    for row, value in enumerate(values):
        if value not in known:
            # a game is a text or a number; a result is unknown where there is no value
            known[value] = found = of("" if value is None else value)
            if found is None:
                raise InputError(f"{where(row)}: {name} is {shown(value)}; {expected}; correct it")
    return np.fromiter(
        (known[value] for value in values),
        np.uint64 if name in ("game", "opening") else np.float64,
        len(values),
    )


def arrow() -> Any | None:
    """Return the package pyarrow, or None if it is not installed."""
    try:
        import pyarrow
    except ImportError:
        return None
    return pyarrow


def require_arrow(name: str) -> Any:
    """Return the package pyarrow; InputError with how to install it."""
    found = arrow()
    if found is None:
        raise InputError(
            f"{name}: Parquet needs the package pyarrow; expected it to be installed; pip"
            " install 'evaltune[arrow]', or convert the file to .jsonl"
        )
    return found


class _File:
    """A Parquet file and the names and types of its columns."""

    def __init__(self, source: str) -> None:
        self.pa = require_arrow(source)
        import pyarrow.parquet

        self.source = source
        if source == "-":
            raise InputError(
                "standard input: Parquet cannot be read from a pipe; expected the name of a file;"
                " save it first"
            )
        self.file = pyarrow.parquet.ParquetFile(source, memory_map=False)
        self.schema = self.file.schema_arrow
        self.names: list[str] = list(self.schema.names)
        types = self.pa.types
        for field in self.schema:
            kind = field.type.value_type if types.is_dictionary(field.type) else field.type
            is_text = types.is_string(kind) or types.is_large_string(kind)
            is_number = types.is_integer(kind) or types.is_floating(kind)
            if not (
                is_number
                or is_text
                and field.name in TEXTS
                or types.is_null(kind)
                and field.name in FIELDS
            ):
                raise InputError(
                    f"{source}: the column {shown(field.name)!r} is of the type"
                    f" {shown(str(field.type))}; expected"
                    f" numbers{' or texts' * (field.name in TEXTS)}; convert it"
                )

    def batches(self, size: int) -> Iterator[Any]:
        yield from self.file.iter_batches(batch_size=size, use_threads=False)

    def column(self, batch: Any, place: int) -> Any:
        """Return a column as float64 with NaN where missing; a field of texts as a list."""
        array = batch.column(place)
        if self.pa.types.is_dictionary(array.type):
            array = array.dictionary_decode()
        if self.names[place] in TEXTS:
            return array.to_pylist()
        return array.cast(self.pa.float64(), safe=False).to_numpy(zero_copy_only=False)


def _guarded(source: str, work: Callable[[_File], Iterator[Any]]) -> Iterator[Any]:
    """Yield from what `work` does with the file; damage becomes an InputError."""
    pa = require_arrow(source)
    try:
        yield from work(_File(source))
    except InputError:
        raise
    except FileNotFoundError:
        raise InputError(f"{source}: no such file") from None
    except (pa.ArrowException, OSError, MemoryError, UnicodeDecodeError) as problem:
        raise InputError(
            f"{source}: damaged, or not Parquet ({shown(str(problem))}); expected a whole file;"
            " write it again"
        ) from None


def read(source: str, expected: ExpectedRows) -> Iterator[RowBatch]:
    """Yield the rows of a file in batches; InputError names the row (from 1) of a fault."""

    def rows(file: _File) -> Iterator[RowBatch]:
        header, done = _Header(file.names, expected, source), 0
        for batch in file.batches(rows_of(len(file.names))):

            def where(row: int, done: int = done) -> str:
                return f"{source}: row {done + row + 1}"

            if batch.num_rows:
                yield header.batch(partial(file.column, batch), batch.num_rows, done, where)
                done += batch.num_rows

    return _guarded(source, rows)


def scan(source: str) -> FoundRows:
    """Return the layout that the columns make up, the largest phase and the number of rows."""

    def found(file: _File) -> Iterator[FoundRows]:
        phases = None
        if "phase" in file.names:
            place = file.names.index("phase")
            phases = int(
                max(
                    (
                        np.nanmax(file.column(batch, place), initial=0)
                        for batch in file.batches(rows_of(len(file.names)))
                    ),
                    default=0,
                )
            )
        names = [name for name in file.names if name not in FIELDS]
        yield FoundRows(layout_of_names(names, source), phases, file.file.metadata.num_rows)

    (only,) = _guarded(source, found)
    return only
