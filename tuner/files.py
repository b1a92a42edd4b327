"""Files that appear whole or not at all, and their hashes."""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from games.streams import InputError


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


def require_writable(output: Path, sources: Sequence[str]) -> None:
    """InputError now rather than after a long computation, or for a file that must not be replaced."""
    folder = output.parent
    if os.path.isdir(output):
        raise InputError(f"{output}: is a folder, expected the name of a file to write")
    if not os.path.isdir(folder):
        raise InputError(f"{folder}: no such folder to write {output.name} in; make it first")
    if os.path.exists(output):
        if not os.path.isfile(output):
            raise InputError(f"{output}: is a device or a pipe, expected the name of a file to write")
        if any(os.path.exists(source) and os.path.samefile(output, source) for source in sources):
            raise InputError(f"{output}: holds the games to learn from and would be replaced; choose another name")
    probe = temporary_name(output)
    try:
        probe.touch()
        probe.unlink()
    except OSError as problem:
        raise InputError(f"{output}: cannot be written: {problem.strerror}; choose another place") from None
