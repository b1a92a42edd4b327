"""Read files, plain or compressed, in pieces of bounded size.

Errors about truncated and corrupt archives name the byte offset in the archive.
"""

import bz2
import codecs
import sys
import zlib
from collections.abc import Callable, Generator, Iterator
from itertools import chain
from pathlib import Path

PIECE = 1 << 20
COMPRESSED_PIECE = 1 << 14  # bytes read from an archive at a time
# bytes handed to Zstandard at a time: its output has no limit, up to 128 KiB for four bytes of
# input
ZSTANDARD_PIECE = 1 << 10
LARGEST_WINDOW = 1 << 27  # of Zstandard, kept in memory; the default limit of `zstd -d`
LONGEST_LINE = 1 << 24
SLICE = 1 << 16  # bytes split into lines at a time, of which there may be as many
LONGEST_MESSAGE = 2000  # characters; what a file holds may be quoted in it


class InputError(ValueError):
    """A mistake in the user's input; the message is one line: where, what was found, what was
    expected, what to do."""

    def __init__(self, text: str) -> None:
        super().__init__(
            text
            if len(text) <= LONGEST_MESSAGE
            else f"{text[: LONGEST_MESSAGE - 500]} ... {text[-400:]}"
        )


def one_line(text: str) -> str:
    """Return the text with escapes for line ends and control characters, which names of files may
    contain."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


# Each yields the decompressed content of some bytes of an archive member, in pieces of bounded
# size, and returns the bytes after the member's end.


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
        yield member.decompress(data[begin : begin + ZSTANDARD_PIECE])
        if member.eof:
            return member.unused_data + data[begin + ZSTANDARD_PIECE :]
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
    """Return a file name without its compression suffix."""
    for suffix in (*DECOMPRESSORS, ".zip"):
        name = name.removesuffix(suffix)
    return name


def compression_of(name: str, start: bytes) -> str | None:
    """Detect the compression by a file's first bytes or its name: a key of DECOMPRESSORS, or
    None."""
    for suffix, (magic, *_) in DECOMPRESSORS.items():
        if start.startswith(magic) or name.endswith(suffix):
            return suffix
    return None


def pieces(
    source: str | Path, text: bool = True, begins: Callable[[], object] = lambda: None
) -> Iterator[bytes]:
    """Yield the decompressed bytes of a file, or of standard input for `-`, in pieces; UTF-16 text
    as UTF-8, unless the bytes are not `text`. `begins` is called before the file, or each file of
    a .zip.

    Raises InputError for unreadable files and damaged archives.
    """
    name = str(source)
    try:
        if name == "-":
            yield from _pieces("standard input", sys.stdin.buffer, text, begins)
        else:
            with open(name, "rb") as stream:
                yield from _pieces(name, stream, text, begins)
    except FileNotFoundError:
        raise InputError(f"{name}: no such file") from None
    except OSError as problem:
        raise InputError(f"{name}: cannot be read: {problem.strerror}") from None


def beginning(stream: Iterator[bytes], size: int) -> bytes:
    """Read at least `size` bytes of a stream, fewer only at its end."""
    start = b""
    while len(start) < size and (piece := next(stream, None)) is not None:
        start += piece
    return start


def lines(source: str | Path, stream: Iterator[bytes] | None = None) -> Iterator[bytes]:
    """Yield the lines of a file, without line ends and the mark of UTF-8; of its bytes from
    `stream`, or read by `pieces`.

    InputError for more than LONGEST_LINE bytes of one line, or of empty lines and #.
    """
    # pieces of an incomplete line, and their size; bytes without text
    begun, size, empty = [], 0, 0
    stream = pieces(source) if stream is None else stream
    start = beginning(stream, len(UTF8_MARK)).removeprefix(UTF8_MARK)
    for piece in (
        whole[at : at + SLICE]
        for whole in chain([start], stream)
        for at in range(0, len(whole), SLICE)
    ):
        empty = 0 if piece.translate(None, b"# \t\r\n") else empty + len(piece)
        if empty > LONGEST_LINE:
            raise InputError(
                f"{source}: more than {LONGEST_LINE:,} bytes of empty lines; expected lines of text"
            )
        first, *others = piece.split(b"\n")
        begun.append(first)
        size += len(first)
        if others:
            yield b"".join(begun)
            *others, last = others
            yield from others
            begun, size = [last], len(last)
        if size > LONGEST_LINE:
            raise InputError(
                f"{source}: a line of more than {LONGEST_LINE:,} bytes; expected lines of text"
            )
    if size:
        yield b"".join(begun)


def _pieces(name: str, stream, text: bool, begins: Callable[[], object]) -> Iterator[bytes]:
    first = stream.read(COMPRESSED_PIECE)
    if first.startswith(ZIP):
        yield from _unzipped(name, stream, text, begins)
        return
    begins()
    suffix = compression_of(name, first)
    found = (
        chain([first], iter(lambda: stream.read(PIECE), b""))
        if suffix is None
        else _decompressed(name, stream, first, suffix)
    )
    yield from _text(name, found) if text else found


def _text(name: str, stream: Iterator[bytes]) -> Iterator[bytes]:
    """Convert UTF-16 to UTF-8 and pass all other bytes on; InputError for an archive within the
    archive."""
    start = beginning(stream, 4)
    if start.startswith((ZIP, *(magic for magic, *_ in DECOMPRESSORS.values()))):
        raise InputError(f"{name}: contains an archive within an archive; unpack it first")
    if not start.startswith(UTF16_MARKS):
        yield start
        yield from stream
        return
    decoder = codecs.getincrementaldecoder("utf-16")("replace")
    for piece in chain([start], stream):
        yield decoder.decode(piece).encode()
    yield decoder.decode(b"", True).encode()


def _unzipped(name: str, stream, text: bool, begins: Callable[[], object]) -> Iterator[bytes]:
    """Yield the files of a .zip, one after another. Its directory is at the end, so it must be
    seekable."""
    import zipfile

    if not stream.seekable():
        raise InputError(f"{name}: a zip archive cannot be read from a pipe; name the file")
    try:
        with zipfile.ZipFile(stream) as archive:
            members = [
                member
                for member in archive.infolist()
                if not member.is_dir() and not member.filename.startswith("__MACOSX/")
            ]
            if sum(member.compress_size for member in members) > stream.seek(0, 2):
                raise InputError(
                    f"{name}: the files in this zip archive overlap; compress them again"
                )
            for member in members:
                if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                    raise InputError(
                        f"{name}: {member.filename!r} in this zip archive is not stored or"
                        " deflated; compress it again as usual"
                    )
                begins()
                with archive.open(member) as opened:
                    found = iter(lambda: opened.read(PIECE), b"")
                    yield from _member(f"{name}: {member.filename!r}", found) if text else found
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as problem:
        raise InputError(
            f"{name}: corrupt zip archive ({problem}); download or compress it again"
        ) from None


def _member(name: str, stream: Iterator[bytes]) -> Iterator[bytes]:
    """Yield a file of several, without a byte order mark, and with a line end at its end."""
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
        except Exception as problem:  # each library raises its own exception class
            raise InputError(_damage(name, kind, read - len(data), read, problem)) from None
        begun, data = True, unused
        if member.eof:
            member, begun = start(), False
        while True:
            if suffix == ".gz" and not begun:
                data = data.lstrip(b"\0")  # padding after a member
            if data or not (data := stream.read(COMPRESSED_PIECE)):
                break
            read += len(data)
    if begun:
        raise InputError(
            f"{name}: truncated {kind} archive: it ends at byte {read} before its last block is"
            " complete; download or compress it again"
        )


def _damage(name: str, kind: str, begin: int, end: int, problem: Exception) -> str:
    if "too much memory" in str(problem):
        return (
            f"{name}: this zst archive needs a window of more than {LARGEST_WINDOW >> 20} MiB of"
            " memory; unpack it with zstd -d --long=31, or compress it again without --long and"
            " --ultra"
        )
    return (
        f"{name}: corrupt {kind} archive between bytes {begin} and {end} ({problem}); "
        "download or compress it again"
    )
