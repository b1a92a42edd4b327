"""Files that appear whole or not at all, and their hashes."""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Iterator
from pathlib import Path


def temporary_name(path: Path) -> Path:
    """Where a file is written before it is put in place."""
    return path.with_name(f".{path.name}.{os.getpid()}.tmp")


@contextlib.contextmanager
def replaced(path: Path) -> Iterator[Path]:
    """A temporary name to write to; put in place of `path` once the block is done, and removed if it fails."""
    temporary = temporary_name(path)
    try:
        yield temporary
        os.replace(temporary, path)
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()


def replace_file(path: Path, content: str | bytes) -> None:
    """Write a file as a whole; text as UTF-8, its line ends as they are."""
    with replaced(path) as temporary:
        temporary.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)


def sha256_of(path: str | Path) -> str:
    """The hash of a file's bytes; OSError if it cannot be read."""
    state = hashlib.sha256()
    with open(path, "rb") as stream:
        while piece := stream.read(1 << 20):
            state.update(piece)
    return state.hexdigest()
