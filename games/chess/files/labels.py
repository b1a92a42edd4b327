"""Forms of files with labeled positions that are not lines of EPD or FEN: how the first line tells
one, and its rows as such lines."""

import csv
import re
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any, NamedTuple

from games.streams import InputError

PLACES = ("fen", "epd", "position")  # accepted names of the column of positions
RESULTS = ("result", "outcome", "wdl", "game_result")  # accepted names of the result column
SCORE = "score"  # name of the column with scores
_WHOLE = re.compile(r"([+-]?\d+)(\.0*)?", re.ASCII)
_MATE = re.compile(r"([+-]?)(?:#|M|mate )([+-]?)(\d+)", re.ASCII)
MATED = 32_000  # centipawns: scores of DECIDED or more are read as won


def header_of(line: bytes) -> tuple[str, list[str]] | None:
    """Return the delimiter and the names of the columns of a header line, None if it is none."""
    text = line.decode("utf-8-sig", "replace")
    for delimiter in ",;\t":
        names = [name.strip().strip('"').strip().lower() for name in text.split(delimiter)]
        if len(names) > 1 and text[0] != "#" and any(name in PLACES for name in names):
            return delimiter, names
    return None


def as_bars(name: str, text_lines: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the rows of a CSV file as `FEN | score | result` or, without a score, `FEN c9
    "result";`, each on the line where its row ends.

    InputError if the header does not name one column of results, or a score is neither a whole
    number of centipawns nor a mate."""
    header, number = None, 0
    while header is None:
        header, number = header_of(next(text_lines)), number + 1
        yield b""
    delimiter, names = header
    results = [i for i, column in enumerate(names) if column in RESULTS]
    if len(results) != 1:
        if results:
            twice = ", ".join(names[i] for i in results)
            raise InputError(f"{name}: several columns of results ({twice}); keep one of them")
        raise InputError(
            f"{name}: columns {', '.join(names)[:100]!r}; expected fen,result (or one of "
            f"{', '.join(RESULTS[1:])} for the result), or lines without a header"
        )
    place = next(i for i, column in enumerate(names) if column in PLACES)
    score = names.index(SCORE) if SCORE in names else None
    rows = csv.reader((row.decode("utf-8", "replace") for row in text_lines), delimiter=delimiter)
    at = 0
    try:
        for fields in rows:
            yield from [b""] * (rows.line_num - at - 1)
            at = rows.line_num
            if not fields or fields[0].startswith("#"):
                yield b""
                continue
            fen, result, given = (
                " ".join(fields[i].split()) if i is not None and i < len(fields) else ""
                for i in (place, results[0], score)
            )
            try:
                value = _centipawns(given) if given else None
            except ValueError:
                raise InputError(
                    f"{name}:{number + at}: the score is {given[:20]!r}, expected a whole number"
                    " of centipawns, a mate such as #-3, or nothing"
                ) from None
            text = f'{fen} c9 "{result}";' if value is None else f"{fen} | {value} | {result}"
            yield text.encode()
    except csv.Error as problem:
        raise InputError(f"{name}:{number + rows.line_num}: not a row of CSV: {problem}") from None


def _centipawns(given: str) -> int | None:
    """Return a score as PGN has it, None for a mate in zero, which has no side; ValueError if it is
    none."""
    if whole := _WHOLE.fullmatch(given):
        return int(whole[1])
    mate = _MATE.fullmatch(given)
    if not mate:
        raise ValueError(given)
    return (-MATED if "-" in mate[1] + mate[2] else MATED) if int(mate[3]) else None


def begins_plain(line: bytes) -> bool:
    """Whether a file has records of Stockfish's tools: lines of names and values up to `e`."""
    return line.startswith(b"fen ")


PLAIN_RESULTS = {"1": 1.0, "0": 0.5, "-1": 0.0}  # of the side to move: its share


def plain_as_epd(name: str, text_lines: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the records of a file of Stockfish's tools as lines of EPD, each on the line of its
    `e`.

    Their scores and results are those of the side to move. Records one after another with more
    plies each time and the same result are a game, which `id` numbers."""
    record: dict[str, str] = {}
    game, last, before = 0, -1, ""
    for line in chain(text_lines, [b"e"]):
        key, _, value = line.decode("utf-8", "replace").strip().partition(" ")
        if key != "e" or not record:
            if key:
                record[key] = value.strip()
            yield b""
            continue
        fen, result, score, ply = (record.get(key, "") for key in ("fen", "result", "score", "ply"))
        share = PLAIN_RESULTS.get(result)
        if share is not None:
            result = str(1.0 - share if fen.split()[1:2] == ["b"] else share)
        number = int(ply) if ply.isdecimal() else -1
        game += number <= last or result != before
        last, before, record = number, result, {}
        yield f'{fen} c9 "{result}"; id "{game}"; ce {score or "-"};'.encode()


class Form(NamedTuple):
    """A form of files: the suffix of their names, if there is one of its own; whether a file whose
    first line this is has it; and from a file's name and its lines, without line ends, lines of EPD
    or `FEN | score | result`, one for each, empty up to the end of a row."""

    suffix: str | None
    begins: Callable[[bytes], Any]
    as_lines: Callable[[str, Iterator[bytes]], Iterator[bytes]]


FORMS = (Form(None, header_of, as_bars), Form(".plain", begins_plain, plain_as_epd))
