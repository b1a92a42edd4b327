"""Detect the content of a file by its first bytes: games in PGN, or labeled positions."""

import re

from games.chess.files.labels import FORMS, Form
from games.reading import format_by_name, start_of
from games.streams import UTF8_MARK

START = 1 << 14  # bytes at the start of a file that are examined
GAMES, POSITIONS = "games", "positions"
SUFFIXES = {
    ".pgn": GAMES,
    ".epd": POSITIONS,
    ".fen": POSITIONS,
    **{form.suffix: POSITIONS for form in FORMS if form.suffix},
}

_POSITION = re.compile(rb"[pnbrqkPNBRQK1-8]{1,8}(/[pnbrqkPNBRQK1-8]{1,8}){7}\s+[wb]\s")
_TAG = re.compile(rb'\[\s*\w+\s+"')
_MOVES = re.compile(rb"1\.+\s*(?:[a-hKQRBN]|O-O|--)")  # of a game without tags


def by_name(name: str) -> str | None:
    """Detect the content by the file name: one of SUFFIXES, or None for an unknown suffix."""
    return format_by_name(name, SUFFIXES)


def _lines(start: bytes) -> list[bytes]:
    lines = (line.strip() for line in start.removeprefix(UTF8_MARK).splitlines())
    return [line for line in lines if line and not line.startswith(b"#")]


def _of_line(line: bytes) -> str | None:
    if _POSITION.match(line) or any(form.begins(line) for form in FORMS):
        return POSITIONS
    return GAMES if _TAG.match(line) else None


def of_start(start: bytes, name: str) -> str:
    """Detect the content by the first line that is a position or a tag, otherwise by the name;
    GAMES if neither decides."""
    kinds = filter(None, map(_of_line, _lines(start)))
    return next(kinds, None) or by_name(name) or GAMES


def of_file(name: str) -> str:
    """Detect the content of a file; of a pipe or folder by its name alone."""
    return of_start(start_of(name, START), name)


def holds_games(name: str) -> bool:
    """Whether to read a file in a folder: by its suffix, or because its first line is a
    position or a tag."""
    return by_name(name) is not None or any(
        _of_line(line) for line in _lines(start_of(name, START))[:1]
    )


def begins_as_chess(name: str) -> bool:
    """Whether the start of a file has a position, a tag or a first move, whatever its name."""
    return any(_of_line(line) or _MOVES.match(line) for line in _lines(start_of(name, START)))


def form_of(start: bytes) -> Form | None:
    """Return the form of labeled positions that a file has by its start, None for lines of EPD or
    FEN."""
    return next((form for line in _lines(start)[:1] for form in FORMS if form.begins(line)), None)
