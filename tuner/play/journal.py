"""What a run writes as it plays: files that grow, `history.jsonl` among them, for one process at a
time.

A killed run leaves complete lines and perhaps part of one more. A resumed run reads the complete
lines, cuts off the rest, and keeps a copy of damage that a kill does not explain."""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from games.streams import InputError
from tuner.io.run_folder import locked, write_all

LARGEST_NUMBER = 1 << 53  # below it, numbers of JSON are whole
SYNC_SECONDS = 1.0  # between syncs, for power cuts; a kill loses no written data


def json_line(plain: Mapping[str, Any]) -> bytes:
    """Return a line of a history."""
    return json.dumps(plain, separators=(",", ":")).encode() + b"\n"


def json_object(raw: bytes) -> dict[str, Any]:
    """Decode a line of a history; ValueError says what is wrong with it."""
    try:
        plain = json.loads(raw)
    except (ValueError, RecursionError):
        raise ValueError("not a line of JSON") from None
    if not isinstance(plain, dict):
        raise ValueError("not a JSON object")
    return plain


def is_count(value: object) -> bool:
    """Return whether a value of JSON is a whole number that a run may write."""
    return type(value) is int and 0 <= value < LARGEST_NUMBER


class GrowingFiles:
    """Files of a folder to which batches of bytes are appended; the folder is locked until they are
    closed. `kept` says what is there even if nothing more can be written."""

    def __init__(self, folder: Path, names: Sequence[str], kept: str) -> None:
        self.folder, self.paths, self._kept = folder, [folder / name for name in names], kept
        self._streams: list[IO[bytes]] = []
        self._lock = locked(folder)
        self._synced = time.monotonic()

    @contextlib.contextmanager
    def opened(self) -> Iterator[None]:
        """Open the files after the block, which checks and repairs them. If it fails, the folder is
        unlocked; InputError for files that cannot be used."""
        try:
            yield
            for path in self.paths:
                self._streams.append(open(path, "ab", buffering=0))
        except BaseException as problem:
            self.close()
            if isinstance(problem, OSError):
                raise InputError(
                    f"{problem.filename or self.folder}: cannot be used: {problem.strerror}"
                ) from None
            raise

    @property
    def sizes(self) -> list[int]:
        """The sizes of the files; 0 for those that are not there."""
        return [path.stat().st_size if path.exists() else 0 for path in self.paths]

    def append(self, *pieces: bytes) -> None:
        """Append to each file, in their order."""
        with self.writing():
            for stream, piece in zip(self._streams, pieces, strict=True):
                write_all(stream, piece)

    def sync_sometimes(self) -> None:
        """Write everything to disk unless that was done recently."""
        if time.monotonic() - self._synced > SYNC_SECONDS:
            self.sync()

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        """InputError if a write in the block fails."""
        try:
            yield
        except OSError as problem:
            raise InputError(
                f"{self.folder}: cannot be written: {problem.strerror}; {self._kept}"
            ) from None

    def sync(self) -> None:
        """Write everything to disk, in the order of the files."""
        for stream in self._streams:
            os.fsync(stream.fileno())
        self._synced = time.monotonic()

    def close(self) -> None:
        """Close the files, and unlock the folder."""
        for stream in (*self._streams, self._lock):
            stream.close()
