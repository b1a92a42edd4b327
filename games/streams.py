"""Bytes of a file, plain or compressed, in pieces of bounded size.

A truncated or corrupt archive is an error that names the byte at which the trouble was found, in the archive.
"""

from __future__ import annotations

import bz2
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path

PIECE = 1 << 20
# what is handed to a decompressor at once: small, so that even an extreme ratio gives a bounded piece of output
COMPRESSED_PIECE = 1 << 14
LONGEST_LINE = 1 << 24


class InputError(ValueError):
    """Something wrong with the user's input; the message is one line that says where, what and what to do."""


def _zstandard():
    import zstandard

    return zstandard.ZstdDecompressor(max_window_size=1 << 31).decompressobj()


DECOMPRESSORS = {
    ".gz": (b"\x1f\x8b", lambda: zlib.decompressobj(wbits=31)),
    ".bz2": (b"BZh", bz2.BZ2Decompressor),
    ".zst": (b"\x28\xb5\x2f\xfd", _zstandard),
}


ZIP = b"PK\x03\x04"


def plain_name(name: str) -> str:
    """A file's name without the suffix of its compression."""
    for suffix in (*DECOMPRESSORS, ".zip"):
        name = name.removesuffix(suffix)
    return name


def compression_of(name: str, start: bytes) -> str | None:
    """The compression that a file's name or first bytes tell: a key of DECOMPRESSORS, or None."""
    for suffix, (magic, _) in DECOMPRESSORS.items():
        if start.startswith(magic) or name.endswith(suffix):
            return suffix
    return None


def pieces(source: str | Path) -> Iterator[bytes]:
    """Yield the decompressed bytes of a file, or of standard input for `-`, in pieces.

    Raises InputError for a file that cannot be read and for an archive that is damaged.
    """
    name = str(source)
    try:
        if name == "-":
            yield from _pieces("standard input", sys.stdin.buffer)
        else:
            with open(name, "rb") as stream:
                yield from _pieces(name, stream)
    except FileNotFoundError:
        raise InputError(f"{name}: no such file") from None
    except OSError as problem:
        raise InputError(f"{name}: cannot be read: {problem.strerror}") from None


def lines(source: str | Path) -> Iterator[bytes]:
    """Yield the lines of a file as `pieces` reads it, without their ends."""
    rest = b""
    for piece in pieces(source):
        *whole, rest = (rest + piece).split(b"\n")
        yield from whole
        if len(rest) > LONGEST_LINE:
            raise InputError(f"{source}: a line of more than {LONGEST_LINE:,} bytes; expected lines of text")
    if rest:
        yield rest


def _pieces(name: str, stream) -> Iterator[bytes]:
    first = stream.read(COMPRESSED_PIECE)
    if first.startswith(ZIP):
        yield from _unzipped(name, stream)
        return
    suffix = compression_of(name, first)
    if suffix is None:
        while first:
            yield first
            first = stream.read(PIECE)
        return
    yield from _decompressed(name, stream, first, suffix)


def _unzipped(name: str, stream) -> Iterator[bytes]:
    """The files of a .zip, one after another; its table of contents is at its end, so that a pipe will not do."""
    import zipfile

    if not stream.seekable():
        raise InputError(f"{name}: a zip archive cannot be read from a pipe; name the file")
    try:
        with zipfile.ZipFile(stream) as archive:
            for member in archive.infolist():
                if member.is_dir() or member.filename.startswith("__MACOSX/"):
                    continue
                with archive.open(member) as opened:
                    while piece := opened.read(PIECE):
                        yield piece
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as problem:
        raise InputError(f"{name}: corrupt zip archive ({problem}); download or compress it again") from None


def _decompressed(name: str, stream, data: bytes, suffix: str) -> Iterator[bytes]:
    start = DECOMPRESSORS[suffix][1]
    kind = suffix[1:]
    if not data:
        raise InputError(f"{name}: empty, expected a {kind} archive")
    member, begun, read = start(), False, len(data)
    while data:
        try:
            out = member.decompress(data)
        except Exception as problem:  # each library has an exception class of its own
            raise InputError(f"{name}: corrupt {kind} archive between bytes {read - len(data)} and {read} ({problem}); "
                             "download or compress it again") from None
        begun = True
        if out:
            yield out
        data = b""
        if member.eof:
            data = member.unused_data
            member, begun = start(), False
        while True:
            if suffix == ".gz" and not begun:
                data = data.lstrip(b"\0")  # padding behind a member
            if data or not (data := stream.read(COMPRESSED_PIECE)):
                break
            read += len(data)
    if begun:
        raise InputError(f"{name}: truncated {kind} archive: it ends at byte {read} before its last block is complete; "
                         "download or compress it again")
