"""Databases of SQLite that survive a kill at any moment: what was stored is there whole, one
process writes at a time, and readers neither wait nor are waited for."""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import threading
import urllib.parse
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, TypeVar

from games import system
from games.streams import one_line
from tuner.core.records import InputError, convert, plain_json

T = TypeVar("T")
OURS = 0x6576746E  # application_id: "evtn"
VERSION = 3  # user_version: of the stores of runs
PATIENCE = 60.0  # seconds, until another process has written
NONE: Mapping[int, str] = {}
# what SQLite says where a file cannot grow, or be written or made, although nothing is damaged
FULL = ("SQLITE_FULL", "SQLITE_IOERR_SHM", "SQLITE_IOERR_WRITE", "SQLITE_IOERR_FSYNC")
REFUSED = ("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM")


def open_database(
    path: Path, schema: str, version: int, advice: str, earlier: Mapping[int, str] = NONE
) -> sqlite3.Connection:
    """Open a database, or make one with the tables of `schema`; each statement on it is a
    transaction, from any thread. `earlier` versions have a statement that makes them this one.
    InputError for a file that is no such database, or of another version, with `advice`."""
    with using(path, advice):
        database = sqlite3.connect(
            path, timeout=PATIENCE, isolation_level=None, check_same_thread=False
        )
        try:
            database.execute("BEGIN IMMEDIATE")
            ours, found, tables = (
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
                database.execute(f"PRAGMA user_version = {version}")
            elif ours == OURS and found in earlier:
                database.execute(earlier[found])
                database.execute(f"PRAGMA user_version = {version}")
            elif (ours, found) != (OURS, version):
                raise InputError(f"{path}: not a database of this version of tuner; {advice}")
            database.execute("COMMIT")
            database.execute("PRAGMA journal_mode = WAL")
            database.execute("PRAGMA synchronous = NORMAL")  # a power cut loses the last moments
        except BaseException:
            database.close()
            raise
    return database


@contextlib.contextmanager
def using(path: Path, advice: str) -> Iterator[None]:
    """InputError, with `advice` on damage, where SQLite cannot read or write in the block."""
    try:
        yield
    except (sqlite3.Error, OSError, UnicodeError) as problem:
        name = getattr(problem, "sqlite_errorname", "")  # from Python 3.11 on
        if name.startswith(FULL):
            advice = "make room on this disk"
        elif name.startswith(REFUSED) and os.path.isfile(path):
            advice = "make its folder writable, or copy the folder"
        raise InputError(f"{path}: cannot be used: {one_line(str(problem))}; {advice}") from None


DATABASE, EARLIER, LOCK = "run.db", "history.jsonl", "lock"
TABLES = """CREATE TABLE records (kind TEXT, number INTEGER, json TEXT NOT NULL, crc INTEGER,
PRIMARY KEY (kind, number)) WITHOUT ROWID;
CREATE TABLE games (record INTEGER, place INTEGER, text TEXT NOT NULL, crc INTEGER,
PRIMARY KEY (record, place)) WITHOUT ROWID;
CREATE TABLE blobs (name TEXT PRIMARY KEY, content BLOB NOT NULL, crc INTEGER)"""
UNSUMMED = {2: "ALTER TABLE games ADD COLUMN crc INTEGER"}  # an earlier version, without sums
RESULT, ESTIMATE = "result", "estimate"  # kinds of records
FILES = (DATABASE, *(f"{DATABASE}-{end}" for end in ("wal", "shm", "journal")), LOCK)  # of a store
OWNER = slice(68, 72)  # bytes with the application_id
LOGGED = slice(18, 20)  # bytes that say that a database has a log
RESTORE, SUM = "restore it, or start another run", "its checksum is another one"


# real paths of the stores that this process has open: to close such a file, opened apart from its
# database, drops the locks of the process on it, and the next program that reads it removes its log
_open: set[str] = set()


def is_ours(path: Path) -> bool:
    """Return whether a file is a database of ours."""
    if os.path.realpath(path) in _open:
        return True
    try:
        with open(path, "rb") as stream:
            return stream.read(OWNER.stop)[OWNER] == OURS.to_bytes(4, "big")
    except OSError:
        return False


def remove_store(folder: Path) -> None:
    """Remove the store of a run, which nobody has open."""
    for name in FILES:
        (folder / name).unlink(missing_ok=True)


def require_store(folder: Path) -> None:
    """InputError for the folder of a run that keeps what it found as earlier versions did."""
    if (folder / EARLIER).exists() and not (folder / DATABASE).exists():
        raise InputError(
            f"{folder}: a run of an earlier version ({EARLIER}, no {DATABASE}), which this one"
            " cannot read; start another run"
        )


def lock(folder: Path) -> IO[bytes]:
    """Lock a folder; return the file that holds the lock while it is open. InputError if another
    process has locked it."""
    try:
        stream = open(folder / LOCK, "ab")
    except OSError as problem:
        raise InputError(
            f"{folder}: cannot be written: {problem.strerror}; choose another folder"
        ) from None
    if not system.lock(stream):
        stream.close()
        raise InputError(f"{folder}: another process is using this folder; wait for it, or stop it")
    return stream


class Store:
    """What a run was told and has found, in a database of its folder: records of each kind in the
    order in which they were found, the texts of the games of a result, and bytes by name. Other
    processes may read it, none writes. InputError if it is damaged or cannot be written."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.path, self._writing = folder, folder / DATABASE, threading.RLock()
        with contextlib.ExitStack() as opened:
            require_store(folder)
            # first, for a folder with a lock alone is not known to be ours
            self._database = open_database(self.path, TABLES, VERSION, RESTORE, UNSUMMED)
            opened.callback(self._database.close)
            self._lock = opened.enter_context(lock(folder))
            self._place = os.path.realpath(self.path)
            opened.callback(_open.discard, self._place)
            _open.add(self._place)
            with using(self.path, RESTORE):
                (found,) = self._database.execute("PRAGMA quick_check(1)").fetchone()
                if found != "ok":
                    raise InputError(f"{self.path}: damaged: {one_line(found)}; {RESTORE}")
                self._counts: Counter[str] = Counter()
                for kind, number, text, crc in self._database.execute("SELECT * FROM records"):
                    if _sum_of(kind, number, text) != crc:
                        where = one_line(f"{self.path}: {kind} {number}")
                        raise InputError(f"{where}: damaged, {SUM}; {RESTORE}")
                    self._counts[kind] += 1
            opened.pop_all()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *problem: object) -> None:
        """Close the database, and unlock the folder."""
        self._database.close()
        _open.discard(self._place)
        self._lock.close()

    def append(
        self, record: Mapping[str, Any], texts: Sequence[str] = (), kind: str = RESULT
    ) -> None:
        """Store a record with the texts of its games, whole or not at all."""
        with self.together():
            number = self._counts[kind]
            line = json.dumps(record, separators=(",", ":"))
            row = kind, number, line, _sum_of(kind, number, line)
            self._database.execute("INSERT INTO records VALUES (?, ?, ?, ?)", row)
            # a name of bytes that are no UTF-8 is none in SQLite, either
            valid = [text.encode("utf-8", "replace").decode() for text in texts]
            games = [
                (number, place, text, _sum_of(number, place, text))
                for place, text in enumerate(valid)
            ]
            self._database.executemany("INSERT INTO games VALUES (?, ?, ?, ?)", games)
            self._counts[kind] += 1

    def put(self, name: str, content: bytes) -> None:
        """Store bytes under a name, in place of earlier ones."""
        with self.together():
            row = name, content, zlib.crc32(content)
            self._database.execute("INSERT OR REPLACE INTO blobs VALUES (?, ?, ?)", row)

    def remove(self, pattern: str) -> None:
        """Remove the bytes whose names fit a pattern of SQLite's GLOB, and give their room back."""
        with self._writing, using(self.path, RESTORE):
            self._database.execute("DELETE FROM blobs WHERE name GLOB ?", (pattern,))
            self._database.execute("VACUUM")

    def clear(self, kept: str) -> None:
        """Remove all but the bytes whose names fit a pattern of SQLite's GLOB."""
        with self.together():
            for table in ("records", "games"):
                self._database.execute(f"DELETE FROM {table}")
            self._database.execute("DELETE FROM blobs WHERE NOT name GLOB ?", (kept,))
            self._counts.clear()

    @contextlib.contextmanager
    def together(self) -> Iterator[None]:
        """Store all that is stored in the block, or nothing of it. Other threads wait."""
        with self._writing:
            if self._database.in_transaction:  # within a larger block
                yield
                return
            counts = self._counts.copy()
            try:
                with using(self.path, "what was found before is kept"), self._database:
                    self._database.execute("BEGIN")
                    yield
            except BaseException:
                self._counts = counts
                raise

    def blob(self, name: str) -> bytes | None:
        """Return the bytes that are stored under a name, None if there are none. InputError if they
        were changed."""
        with using(self.path, RESTORE):
            return _blob_of(self._database, name)

    def texts(self, number: int) -> list[str]:
        """Return the texts of the games of a result. InputError if they were changed."""
        query = "SELECT place, text, crc FROM games WHERE record = ? ORDER BY place"
        with using(self.path, RESTORE):
            rows = self._database.execute(query, (number,)).fetchall()
        for place, text, crc in rows:
            if crc not in (None, _sum_of(number, place, text)):
                raise InputError(f"{self.path}: a game of {number}: damaged, {SUM}; {RESTORE}")
        return [text for _, text, _ in rows]


@contextlib.contextmanager
def _reading(folder: Path) -> Iterator[sqlite3.Connection | None]:
    """Yield the store of a run, which may still be going on, to read it; None if there is none."""
    path = folder / DATABASE
    require_store(folder)
    if not path.exists() or not path.stat().st_size:
        yield None
        return
    with using(path, RESTORE):
        name = urllib.parse.quote(os.fsencode(os.path.abspath(path)))
        # a reader would leave files of a log beside a database that nobody has open
        used = os.path.realpath(path) in _open or os.path.exists(f"{path}-wal")
        how = "mode=ro" if used or not _logged(path) else "immutable=1"
        reader = sqlite3.connect(f"file:{name}?{how}", uri=True, timeout=PATIENCE)
        with contextlib.closing(reader):
            made = reader.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
            if made and reader.execute("PRAGMA user_version").fetchone()[0] not in (
                *UNSUMMED,
                VERSION,
            ):
                raise InputError(f"{path}: not a database of this version of tuner; {RESTORE}")
            yield reader if made else None


def _logged(path: Path) -> bool:
    """Return whether a database that nobody has open has a log."""
    with open(path, "rb") as stream:
        return stream.read(LOGGED.stop)[LOGGED] == b"\2\2"


def _blob_of(database: sqlite3.Connection, name: str) -> bytes | None:
    """Return the bytes that are stored under a name, with the right checksum."""
    query = "SELECT content, crc FROM blobs WHERE name = ?"
    content, crc = database.execute(query, (name,)).fetchone() or (None, 0)
    whole = content is None or isinstance(content, bytes) and zlib.crc32(content) == crc
    if not whole:
        raise sqlite3.DatabaseError(f"{name} damaged, {SUM}")
    blob: bytes | None = content
    return blob


def _sum_of(kind: str | int, number: int, text: str) -> int | None:
    """Return the checksum of a record, or of the text of a game; None of what is no text."""
    return zlib.crc32(f"{kind} {number} {text}".encode()) if isinstance(text, str) else None


def read_blob(folder: Path, name: str) -> bytes | None:
    """Return the bytes that a run stored under a name; None if there are none. InputError if they
    were changed."""
    with _reading(folder) as reader:
        return _blob_of(reader, name) if reader else None


def read_record(folder: Path, name: str, kind: type[T]) -> T | None:
    """Return what a run stored under a name as a record; None if there is nothing. InputError for
    damage."""
    content, place = read_blob(folder, name), f"{folder / DATABASE}: {name}"
    if content is None:
        return None
    try:
        plain = plain_json(content)
    except ValueError as problem:
        raise InputError(f"{place}: {problem}; {RESTORE}") from None
    return convert(plain, kind, place)


def count_records(folder: Path) -> list[tuple[str, int]]:
    """Return the kinds of records of a run, with how many there are."""
    with _reading(folder) as reader:
        query = "SELECT kind, count(*) FROM records GROUP BY kind"
        return reader.execute(query).fetchall() if reader else []


def read_records(folder: Path, kind: str = RESULT) -> list[dict[str, Any]]:
    """Return the records of a run, which may still be going on; none if there is no store.
    InputError if it is damaged."""
    with _reading(folder) as reader:
        query = "SELECT number, json, crc FROM records WHERE kind = ? ORDER BY number"
        lines = reader.execute(query, (kind,)).fetchall() if reader else []
    records: list[dict[str, Any]] = []
    for number, text, crc in lines:
        with naming(folder, number, kind):
            if _sum_of(kind, number, text) != crc:
                raise ValueError(SUM)
            if number != len(records):
                raise ValueError("records before it are missing")
            records.append(plain_json(text))
    return records


@contextlib.contextmanager
def naming(folder: Path, number: int, kind: str = RESULT) -> Iterator[None]:
    """InputError that names the record for what is wrong with it in the block."""
    try:
        yield
    except ValueError as problem:
        place = f"{folder / DATABASE}: {kind} {number}"
        raise InputError(f"{place}: damaged, {problem}; {RESTORE}") from None
