"""Blocks of whole lines of a text file, plain or compressed."""

from __future__ import annotations

from collections.abc import Iterator

from games.streams import LONGEST_LINE, UTF8_MARK, InputError, pieces

BLOCK = 1 << 22  # bytes


def blocks(source: str, size: int = BLOCK) -> Iterator[bytes]:
    """Yield the decompressed text of a file in blocks of about `size` bytes that end with a line end, without byte order mark.

    UTF-16 text is converted. InputError for damaged archives and lines of more than LONGEST_LINE bytes.
    """
    parts: list[bytes] = []
    held, begun = 0, False
    for piece in pieces(source):
        if not begun and piece:
            piece, begun = piece.removeprefix(UTF8_MARK), True
        parts.append(piece)
        held += len(piece)
        if held < size or b"\n" not in piece:
            if held > LONGEST_LINE:
                raise InputError(f"{source}: a line of more than {LONGEST_LINE:,} bytes; expected lines of text, one for each "
                                 "position; check that this file holds rows")
            continue
        whole, end, rest = piece.rpartition(b"\n")
        yield b"".join([*parts[:-1], whole, end])
        parts, held = [rest], len(rest)
    if last := b"".join(parts):
        yield last if last.endswith(b"\n") else last + b"\n"


def shown_source(source: str) -> str:
    """Return the name of a file for messages."""
    return "standard input" if source == "-" else source
