"""Records of runs for tests."""

import contextlib
import io
import json
import sqlite3
import zlib
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np

from tuner.core.store import DATABASE as DATABASE
from tuner.core.store import Store, read_blob
from tuner.core.store import read_records as read_records
from tuner.io.run_folder import SETTINGS, Told, read_told, this_place
from tuner.play.selfplay.folder import CHECKPOINT


def write_records(folder: Path, records: Iterable[dict]) -> None:
    """Write the store of a run with these records."""
    with Store(folder) as store:
        for record in records:
            store.append(record)


def write_settings(folder: Path, section: str, settings: dict, command: str = "", start="") -> None:
    """Write what the run in a folder was told."""
    told = Told(section, settings, command or f"tuner {section}", place=this_place(), start=start)
    put(folder, SETTINGS, told.content)


def put(folder: Path, name: str, content: bytes | dict) -> None:
    """Store something under a name."""
    with Store(folder) as store:
        store.put(name, content if isinstance(content, bytes) else json.dumps(content).encode())


def change_settings(folder: Path, **changes: object) -> None:
    """Change settings of the run in a folder, whether they make sense or not."""
    told = read_told(folder)
    put(folder, SETTINGS, replace(told, settings=told.settings | changes).content)


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
        with contextlib.suppress(sqlite3.OperationalError):  # the table may be gone
            database.execute("UPDATE records SET crc = crc32(kind || ' ' || number || ' ' || json)")
        database.execute("UPDATE blobs SET crc = crc32(content)")


def read_checkpoint(folder: Path) -> dict[str, np.ndarray]:
    """Return the arrays of the checkpoint of a run of self-play."""
    with np.load(io.BytesIO(read_blob(folder, CHECKPOINT)), allow_pickle=False) as saved:
        return {name: saved[name] for name in saved.files}
