"""Records of runs for tests."""

import contextlib
import io
import sqlite3
import zlib
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from tuner.core.store import DATABASE as DATABASE
from tuner.core.store import Store
from tuner.core.store import read_records as read_records
from tuner.play.selfplay.folder import CHECKPOINT


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
    """Change the store of a run, with the checksums of what there is then."""
    with contextlib.closing(sqlite3.connect(folder / DATABASE)) as database, database:
        database.execute(statement, values)
        database.create_function(
            "crc32", 1, lambda of: zlib.crc32(of if isinstance(of, bytes) else of.encode())
        )
        database.execute("UPDATE records SET crc = crc32(kind || ' ' || number || ' ' || json)")
        database.execute("UPDATE blobs SET crc = crc32(content)")


def read_checkpoint(folder: Path) -> dict[str, np.ndarray]:
    """Return the arrays of the checkpoint of a run of self-play."""
    with contextlib.closing(sqlite3.connect(folder / DATABASE)) as database:
        (content,) = database.execute(
            "SELECT content FROM blobs WHERE name = ?", (CHECKPOINT,)
        ).fetchone()
    with np.load(io.BytesIO(content), allow_pickle=False) as saved:
        return {name: saved[name] for name in saved.files}


def write_checkpoint(folder: Path, arrays: dict[str, np.ndarray]) -> None:
    """Replace the checkpoint of a run of self-play."""
    content = io.BytesIO()
    np.savez(content, **arrays)
    execute(folder, "UPDATE blobs SET content = ?", content.getvalue())
