"""Opening books in Polyglot's format, through python-chess."""

from __future__ import annotations

import os
import random

import numpy as np

from games.chess.engines.gametext import is_chess960
from games.chess.files.fen import fen
from games.chess.rules.movegen import move_named
from games.record import BookMoves
from games.streams import InputError

SUFFIX, ENTRY = ".bin", 16  # bytes of a move and its weight
PIECE = 1 << 20  # entries that are looked at together


def book(path: str) -> BookMoves | None:
    """Return a function that draws a move of the book by the weights, None where it has none; None
    for a file of another name. InputError for one that is no book."""
    if not path.lower().endswith(SUFFIX):
        return None
    import chess
    import chess.polyglot

    try:
        size = os.path.getsize(path)
        keys = np.memmap(path, ">u8", "r")[::2] if size and size % ENTRY == 0 else np.empty(0)
    except OSError as problem:
        raise InputError(f"{path}: cannot be read: {problem.strerror}") from None
    pieces = (keys[at : at + PIECE + 1] for at in range(0, len(keys), PIECE))
    if not len(keys) or any((piece[1:] < piece[:-1]).any() for piece in pieces):
        raise InputError(f"{path}: not a Polyglot book, whose entries are sorted by position")
    reader = chess.polyglot.open_reader(path)

    def move(words: np.ndarray, dice: random.Random) -> int | None:
        board = chess.Board(fen(words), chess960=is_chess960(words))
        entries = [entry for entry in reader.find_all(board) if board.is_legal(entry.move)]
        if not entries:
            return None
        chosen = dice.choices(entries, [entry.weight for entry in entries])[0].move
        return move_named(words, chosen.uci())

    return move
