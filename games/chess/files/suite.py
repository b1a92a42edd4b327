"""Suites of positions as EPD: a best move (`bm`) or one to avoid (`am`), read by python-chess.

The Strategic Test Suite (Corbit and Dann) gives points for several moves, in the operation `c0`:
`"f5=100, Bf2=68"`."""

import re
from collections.abc import Iterator
from typing import cast

import chess

from games.chess.files.fen import position
from games.record import SuitePosition
from games.streams import InputError, lines

PV = re.compile(r'(?<=; )pv [^;"]*;')  # lines are cut off in some suites, and not needed
POINTS = re.compile(r"(\S+?)\s*=\s*(\d+)")


def read_suite(source: str) -> Iterator[SuitePosition]:
    """Yield the positions of an EPD file. InputError names the first wrong line."""
    for number, line in enumerate(lines(source), 1):
        text = line.decode("utf-8", "replace").strip()
        if not text or text.startswith("#"):
            continue
        try:
            board, operations = chess.Board.from_epd(PV.sub("", text))
            words = position(board.fen())
            best, avoid = (
                frozenset(move.uci() for move in cast("list[chess.Move]", operations.get(name, [])))
                for name in ("bm", "am")
            )
            points = {
                board.parse_san(move).uci(): int(value)
                for move, value in POINTS.findall(str(operations.get("c0", "")))
            }
        except ValueError as problem:
            raise InputError(f"{source}:{number}: {problem}") from None
        if not best | avoid:
            raise InputError(f"{source}:{number}: has neither bm nor am; expected a move to find")
        name = str(operations.get("id", f"line {number}"))
        yield SuitePosition(words, name, best, avoid, points)
