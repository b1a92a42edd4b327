"""Bytes of a file, plain or compressed, in pieces of bounded size.

A truncated or corrupt archive is an error that names the byte at which the trouble was found, in the archive.
"""

from __future__ import annotations

import bz2
import codecs
import sys
import zlib
from collections.abc import Generator, Iterator
from itertools import chain
from pathlib import Path

PIECE = 1 << 20
COMPRESSED_PIECE = 1 << 14  # what is read of an archive at once
# what Zstandard is given at once: it has no limit on what it gives back, up to 128 KiB for four bytes
ZSTANDARD_PIECE = 1 << 10
LARGEST_WINDOW = 1 << 27  # of Zstandard, held in memory; what `zstd -d` allows by default
LONGEST_LINE = 1 << 24


class InputError(ValueError):
    """Something wrong with the user's input; the message is one line that says where, what and what to do."""


# These yield what some bytes of one member of an archive hold, in pieces of bounded size, and return those behind its end.

def _gunzip(member, data: bytes) -> Generator[bytes, None, bytes]:
    while data and not member.eof:
        yield member.decompress(data, PIECE)
        data = member.unconsumed_tail
    return member.unused_data


def _bunzip2(member: bz2.BZ2Decompressor, data: bytes) -> Generator[bytes, None, bytes]:
    yield member.decompress(data, PIECE)
    while not member.eof and not member.needs_input:
        yield member.decompress(b"", PIECE)
    return member.unused_data


def _unzstd(member, data: bytes) -> Generator[bytes, None, bytes]:
    for begin in range(0, len(data), ZSTANDARD_PIECE):
        yield member.decompress(data[begin:begin + ZSTANDARD_PIECE])
        if member.eof:
            return member.unused_data + data[begin + ZSTANDARD_PIECE:]
    return b""


def _zstandard():
    import zstandard

    return zstandard.ZstdDecompressor(max_window_size=LARGEST_WINDOW).decompressobj()


DECOMPRESSORS = {
    ".gz": (b"\x1f\x8b", lambda: zlib.decompressobj(wbits=31), _gunzip),
    ".bz2": (b"BZh", bz2.BZ2Decompressor, _bunzip2),
    ".zst": (b"\x28\xb5\x2f\xfd", _zstandard, _unzstd),
}
ZIP = b"PK\x03\x04"
UTF8_MARK = b"\xef\xbb\xbf"
UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


def plain_name(name: str) -> str:
    """A file's name without the suffix of its compression."""
    for suffix in (*DECOMPRESSORS, ".zip"):
        name = name.removesuffix(suffix)
    return name


def compression_of(name: str, start: bytes) -> str | None:
    """The compression that a file's name or first bytes tell: a key of DECOMPRESSORS, or None."""
    for suffix, (magic, *_) in DECOMPRESSORS.items():
        if start.startswith(magic) or name.endswith(suffix):
            return suffix
    return None


def pieces(source: str | Path) -> Iterator[bytes]:
    """Yield the decompressed bytes of a file, or of standard input for `-`, in pieces; UTF-16 text as UTF-8.

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


def beginning(stream: Iterator[bytes], size: int) -> bytes:
    """The next bytes of a stream: at least `size` of them, unless it ends before."""
    start = b""
    while len(start) < size and (piece := next(stream, None)) is not None:
        start += piece
    return start


def lines(source: str | Path) -> Iterator[bytes]:
    """Yield the lines of a file as `pieces` reads it, without their ends."""
    begun, size = [], 0  # the pieces of a line that has not ended
    for piece in pieces(source):
        first, *others = piece.split(b"\n")
        begun.append(first)
        size += len(first)
        if others:
            yield b"".join(begun)
            *whole, last = others
            yield from whole
            begun, size = [last], len(last)
        if size > LONGEST_LINE:
            raise InputError(f"{source}: a line of more than {LONGEST_LINE:,} bytes; expected lines of text")
    if size:
        yield b"".join(begun)


def _pieces(name: str, stream) -> Iterator[bytes]:
    first = stream.read(COMPRESSED_PIECE)
    if first.startswith(ZIP):
        yield from _unzipped(name, stream)
        return
    suffix = compression_of(name, first)
    if suffix is None:
        yield from _text(name, chain([first], iter(lambda: stream.read(PIECE), b"")))
    else:
        yield from _text(name, _decompressed(name, stream, first, suffix))


def _text(name: str, stream: Iterator[bytes]) -> Iterator[bytes]:
    """The same bytes but for UTF-16, which becomes UTF-8; InputError for an archive, since this was taken from one."""
    start = beginning(stream, 4)
    if start.startswith((ZIP, *(magic for magic, *_ in DECOMPRESSORS.values()))):
        raise InputError(f"{name}: holds an archive within an archive; unpack it first")
    if not start.startswith(UTF16_MARKS):
        yield start
        yield from stream
        return
    decoder = codecs.getincrementaldecoder("utf-16")("replace")
    for piece in chain([start], stream):
        yield decoder.decode(piece).encode()
    yield decoder.decode(b"", True).encode()


def _unzipped(name: str, stream) -> Iterator[bytes]:
    """The files of a .zip, one after another; its table of contents is at its end, so that a pipe will not do."""
    import zipfile

    if not stream.seekable():
        raise InputError(f"{name}: a zip archive cannot be read from a pipe; name the file")
    try:
        with zipfile.ZipFile(stream) as archive:
            members = [member for member in archive.infolist()
                       if not member.is_dir() and not member.filename.startswith("__MACOSX/")]
            if sum(member.compress_size for member in members) > stream.seek(0, 2):
                raise InputError(f"{name}: the files in this zip archive overlap; compress them again")
            for member in members:
                if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                    raise InputError(f"{name}: {member.filename!r} in this zip archive is not stored or deflated; compress it "
                                     "again as usual")
                with archive.open(member) as opened:
                    yield from _member(f"{name}: {member.filename!r}", iter(lambda: opened.read(PIECE), b""))
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as problem:
        raise InputError(f"{name}: corrupt zip archive ({problem}); download or compress it again") from None


def _member(name: str, stream: Iterator[bytes]) -> Iterator[bytes]:
    """A file among others: without a byte order mark, with a line end behind it."""
    stream = _text(name, stream)
    last = beginning(stream, len(UTF8_MARK)).removeprefix(UTF8_MARK)
    yield last
    for piece in stream:
        yield piece
        last = piece or last
    if not last.endswith(b"\n"):
        yield b"\n"


def _decompressed(name: str, stream, data: bytes, suffix: str) -> Iterator[bytes]:
    _, start, unpack = DECOMPRESSORS[suffix]
    kind = suffix[1:]
    if not data:
        raise InputError(f"{name}: empty, expected a {kind} archive")
    member, begun, read = start(), False, len(data)
    while data:
        try:
            unused = yield from unpack(member, data)
        except Exception as problem:  # each library has an exception class of its own
            raise InputError(_damage(name, kind, read - len(data), read, problem)) from None
        begun, data = True, unused
        if member.eof:
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


def _damage(name: str, kind: str, begin: int, end: int, problem: Exception) -> str:
    if "too much memory" in str(problem):
        return (f"{name}: this zst archive needs a window of more than {LARGEST_WINDOW >> 20} MiB of memory; unpack it with "
                "zstd -d --long=31, or compress it again without --long and --ultra")
    return (f"{name}: corrupt {kind} archive between bytes {begin} and {end} ({problem}); "
            "download or compress it again")
