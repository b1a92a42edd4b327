"""Records of runs for tests."""

import contextlib
import sqlite3
from collections.abc import Iterable
from pathlib import Path

from tuner.core.store import DATABASE, Store, read_records


def write_records(folder: Path, records: Iterable[dict]) -> None:
    """Write the store of a run with these records."""
    store = Store(folder)
    for record in records:
        store.append(record)
    store.close()


def keep_records(folder: Path, number: int) -> None:
    """Remove all records but the first ones, as if the run had been killed then."""
    execute(folder, "DELETE FROM records WHERE kind = 'result' AND number >= ?", number)
    execute(folder, "DELETE FROM games WHERE record >= ?", number)


def execute(folder: Path, statement: str, *values: object) -> None:
    """Change the store of a run."""
    with contextlib.closing(sqlite3.connect(folder / DATABASE)) as database, database:
        database.execute(statement, values)


__all__ = ["DATABASE", "execute", "keep_records", "read_records", "write_records"]
