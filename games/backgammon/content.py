"""The content of a file of backgammon: matches as `.mat` or SGF, or labelled positions; by its name or its first lines."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from itertools import chain

from games.backgammon.labels import HEADER
from games.streams import UTF8_MARK, InputError, beginning, pieces, plain_name

MAT, SGF, LABELS = "mat", "sgf", "labels"
SUFFIXES = {".mat": MAT, ".sgf": SGF, ".csv": LABELS}
START = 1 << 12  # bytes at the start of a file that are examined
_MATCH = re.compile(rb"\s*(\d{1,5} point match\b|Game 1\s*$)", re.IGNORECASE | re.MULTILINE)
_SGF = re.compile(rb"\s*\(\s*;[^()]*?GM\s*\[6\]")
_LABELS = re.compile(rb"\s*\"?" + HEADER[0].encode() + rb"\"?\s*,")


def by_name(name: str) -> str | None:
    """Return the content that a file name says, or None."""
    plain = plain_name(name.lower())
    return next((found for suffix, found in SUFFIXES.items() if plain.endswith(suffix)), None)


def of_start(start: bytes) -> str | None:
    """Return the content of a file that begins with these bytes, or None."""
    start = start.removeprefix(UTF8_MARK)
    lines = [line for line in start.splitlines() if line.strip() and not line.lstrip().startswith((b"#", b";"))]
    if _SGF.match(start):
        return SGF
    if lines and _LABELS.match(lines[0]):
        return LABELS
    return MAT if _MATCH.search(start) else None


def opened(source: str) -> tuple[str, Iterator[bytes]]:
    """Return the content of a file and its bytes; by its first bytes, otherwise by its name; InputError if neither says it."""
    stream = pieces(source)
    start = beginning(stream, START)
    found = of_start(start) or by_name(source)
    if found is None:
        raise InputError(f"{source}: neither the name nor the first lines say the format; expected matches (.mat, or .sgf of GNU "
                         f"Backgammon) or labelled positions (.csv with the header {','.join(HEADER)})")
    return found, chain([start], stream)


def of_file(name: str) -> str | None:
    """Return the content of a file, None if nothing says it; of a pipe or folder by its name alone."""
    try:
        start = beginning(pieces(name), START) if os.path.isfile(name) else b""
    except InputError:
        start = b""
    return of_start(start) or by_name(name)
