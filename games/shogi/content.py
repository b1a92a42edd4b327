"""The content of a file of shogi: its format and its text."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from games.shogi import csa, kif
from games.streams import InputError, beginning, lines, pieces, plain_name

CSA, KIF, PSV, HCPE = "CSA", "KIF", "PackedSfenValue", "hcpe"
SUFFIXES = {".csa": CSA, ".kif": KIF, ".kifu": KIF, ".psv": PSV, ".bin": PSV, ".hcpe": HCPE}
PACKED = (PSV, HCPE)
START = 1 << 14  # bytes at the start of a file that are examined
_NEW_KIF = re.compile(r"#\s*KIF|# ----|開始日時|手合割")
_KIF_MOVE = re.compile(r"\s*[0-9]+\s", re.ASCII)
_CSA_MOVE = re.compile(r"[+-][0-9]{4}[A-Z]{2}|%", re.ASCII)


def by_name(name: str) -> str | None:
    """Return the format that a file name says, or None."""
    plain = plain_name(name.lower())
    return next((found for suffix, found in SUFFIXES.items() if plain.endswith(suffix)), None)


def of_file(name: str) -> str:
    """Return the format of a file: by its suffix, otherwise by its first lines; InputError if neither decides."""
    if named := by_name(name):
        return named
    try:
        start = beginning(pieces(name), START) if Path(name).is_file() else b""
    except InputError:
        start = b""
    if found := of_lines(decoded(start).splitlines()):
        return found
    raise InputError(f"{name}: neither the name nor the first lines say the format, expected a file of games of shogi with the "
                     f"suffix {', '.join(SUFFIXES)}")


def of_lines(lines: Iterable[str]) -> str | None:
    """Return the format that lines of text say, or None."""
    return next((form for line in lines for form, begins in ((CSA, csa.begins), (KIF, kif.begins)) if begins(line)), None)


def holds_games(name: str) -> bool:
    """Whether a file in a folder is to be read."""
    try:
        return of_file(name) != ""
    except InputError:
        return False


def decoded(content: bytes) -> str:
    """Return the text of bytes in UTF-8, or else in cp932 with marks for what neither has."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("cp932", "replace")


def lines_of(source: str) -> list[str]:
    """Return the lines of a text file, or of all files of an archive."""
    return re.split("\r\n|\n|\r", decoded(b"\n".join(lines(source))))


def games_apart(lines: list[str], form: str) -> list[tuple[int, int]]:
    """Return where the games of a file begin and end: a new one begins with its first header behind moves."""
    found, begin, moved = [], 0, False
    for number, line in enumerate(lines):
        begins = line.startswith("V") and csa.begins(line) if form == CSA else bool(_NEW_KIF.match(line.lstrip("\ufeff")))
        if begins and moved or form == CSA and line.rstrip() == "/":
            found.append((begin, number))
            begin, moved = number + (line.rstrip() == "/"), False
        moved = moved or bool((_CSA_MOVE if form == CSA else _KIF_MOVE).match(line))
    found.append((begin, len(lines)))
    return [(begin, end) for begin, end in found if any(line.strip(" 　\ufeff") for line in lines[begin:end])]
