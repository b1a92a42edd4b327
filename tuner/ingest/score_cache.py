"""Scores of positions on disk: appended one by one, so that an interrupted run loses none.

A file begins with a line of JSON that says of which engine the scores are; then come records of 16 bytes. The last one may be
incomplete, after a crash: it is removed. A damaged record is passed over, and its position is searched again.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import IO

import numpy as np

from games.cache import cache_home
from games.evaluators import Searched
from games.streams import InputError
from tuner.io.files import unwritable

FORMAT = "evaltune scores 1"
RECORD = np.dtype([("key", "<u8"), ("score", "<f4"), ("mate", "<i2"), ("check", "<u2")])
NO_MATE = -(1 << 15)
LONGEST_HEAD = 1 << 20  # bytes


def keys_of(positions: np.ndarray) -> list[int]:
    """Return hashes of positions (n, words), 64 bits."""
    return [int.from_bytes(hashlib.blake2b(words.tobytes(), digest_size=8).digest(), "little")
            for words in positions.astype("<u8")]


def cache_path(about: Mapping[str, object], folder: Path | None = None) -> Path:
    """Return the file for the scores of this engine: its name, options and limits; by default in the user's cache."""
    name = re.sub(r"[^a-z0-9]+", "-", str(about.get("engine", "")).lower()).strip("-")[:40]
    digest = hashlib.sha256(_head(about)).hexdigest()[:12]
    return (cache_home() / "scores" if folder is None else folder) / f"{name}-{digest}.scores"


class ScoreCache:
    """The scores in a file, which one process at a time has open. InputError if it is damaged or cannot be written.

    `damaged` is the number of records that were passed over.
    """

    def __init__(self, path: Path, about: Mapping[str, object]) -> None:
        self.path, self._lock = path, threading.Lock()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._stream: IO[bytes] = open(path, "a+b", buffering=0)
        except OSError as problem:
            raise unwritable(path, problem, "choose another folder for the scores") from None
        try:
            self._claim()
            self._read(_head(about))
        except BaseException:
            self._stream.close()
            raise

    def __len__(self) -> int:
        return len(self._known)

    def get(self, key: int) -> tuple[float, int | None] | None:
        """Return score and mate of a position, None if it is not known; see Searched."""
        return self._known.get(key)

    def add(self, key: int, found: Searched) -> None:
        """Keep the result of a search; from any thread."""
        record = np.zeros(1, RECORD)
        mate = NO_MATE if found.mate is None else max(NO_MATE + 1, min(found.mate, -NO_MATE - 1))
        record["key"], record["score"], record["mate"] = key, found.score, mate
        record["check"] = _checks(record)[0]
        with self._lock:
            self._known[key] = float(record["score"][0]), found.mate
            try:
                self._stream.write(record.tobytes())
            except OSError as problem:
                raise unwritable(self.path, problem, "choose another folder for the scores") from None

    def close(self) -> None:
        """Close the file, for other processes to open."""
        self._stream.close()

    def _claim(self) -> None:
        try:
            import fcntl

            fcntl.flock(self._stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except ImportError:  # this system has no such locks
            pass
        except OSError:
            raise InputError(f"{self.path}: another process adds scores to this file; wait for it, or choose another folder for "
                             "the scores") from None

    def _read(self, head: bytes) -> None:
        self._stream.seek(0)
        content = self._stream.read()
        begun = content[:len(head)]
        if begun != head:
            if not head.startswith(begun):  # otherwise the process ended while it wrote the first line
                raise InputError(f"{self.path}: not scores of this engine with these options; remove it, or choose another "
                                 "folder for the scores")
            self._stream.truncate(0)
            self._stream.write(head)
            content = head
        whole = (len(content) - len(head)) // RECORD.itemsize
        if len(content) > (end := len(head) + whole * RECORD.itemsize):
            self._stream.truncate(end)
        records = np.frombuffer(content, RECORD, whole, len(head))
        good = _checks(records) == records["check"]
        self.damaged = int(np.count_nonzero(~good))
        records = records[good]
        mates = [None if mate == NO_MATE else mate for mate in records["mate"].tolist()]
        self._known = dict(zip(records["key"].tolist(), zip(records["score"].astype(float).tolist(), mates, strict=True),
                               strict=True))


def _head(about: Mapping[str, object]) -> bytes:
    return json.dumps({"format": FORMAT, **about}, sort_keys=True).encode() + b"\n"


def _checks(records: np.ndarray) -> np.ndarray:
    """The checksums (n,) of records: 16 bits of a CRC over all their other bytes."""
    size = RECORD.itemsize - 2
    text = np.ascontiguousarray(records).tobytes()
    return np.array([zlib.crc32(text[i:i + size]) & 0xFFFF for i in range(0, len(text), RECORD.itemsize)], np.uint16)
