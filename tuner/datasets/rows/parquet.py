"""Rows in Parquet, through pyarrow, an optional package."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from games.streams import InputError
from tuner.datasets.rows.table import TEXTS, Header, found_in, rows_of
from tuner.datasets.rows.values import FIELDS, ExpectedRows, FoundRows, RowBatch, shown


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
            f"{name}: Parquet needs the package pyarrow; expected it beside this program; pip"
            " install 'evaltune[arrow]', or convert the file to .csv or .jsonl"
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
        header, done = Header(file.names, expected, source), 0
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
        yield found_in(file.names, phases, file.file.metadata.num_rows, source)

    (only,) = _guarded(source, found)
    return only
