"""Databases of SQLite that survive a kill at any moment: what was stored is there whole, one
process writes at a time, and readers neither wait nor are waited for."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from tuner.core.records import InputError

OURS = 0x6576746E  # application_id: "evtn"
VERSION = 1  # user_version: of all tables
PATIENCE = 60.0  # seconds, until another process has written


def open_database(path: Path, schema: str, advice: str) -> sqlite3.Connection:
    """Open a database, or make one with the tables of `schema`; each statement on it is a
    transaction, from any thread. InputError for a file that is no such database, with `advice`."""
    with writing(path, advice):
        database = sqlite3.connect(
            path, timeout=PATIENCE, isolation_level=None, check_same_thread=False
        )
        try:
            database.execute("BEGIN IMMEDIATE")
            ours, version, tables = (
                database.execute(query).fetchone()[0]
                for query in (
                    "PRAGMA application_id",
                    "PRAGMA user_version",
                    "SELECT count(*) FROM sqlite_master",
                )
            )
            if not tables and not ours:
                for statement in schema.split(";"):
                    database.execute(statement)
                database.execute(f"PRAGMA application_id = {OURS}")
                database.execute(f"PRAGMA user_version = {VERSION}")
            elif (ours, version) != (OURS, VERSION):
                raise InputError(f"{path}: not a database of this version of tuner; {advice}")
            database.execute("COMMIT")
            database.execute("PRAGMA journal_mode = WAL")
            database.execute("PRAGMA synchronous = NORMAL")  # a power cut loses the last moments
        except BaseException:
            database.close()
            raise
    return database


@contextlib.contextmanager
def writing(path: Path, advice: str) -> Iterator[None]:
    """InputError, with `advice`, where SQLite cannot read or write in the block."""
    try:
        yield
    except sqlite3.Error as problem:
        raise InputError(f"{path}: cannot be used: {problem}; {advice}") from None
