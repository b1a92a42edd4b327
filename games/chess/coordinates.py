"""Moves in UCI notation: e2e4, e7e8q; castling e1g1, or e1h1 (king takes rook) in Chess960."""

from __future__ import annotations

import numpy as np

from games.chess.movegen import moves_of
from games.chess.moves import CASTLING

SQUARES = [file + rank for rank in "12345678" for file in "abcdefgh"]
PROMOTIONS = " pnbrq"  # by kind


def move_name(words: np.ndarray, move: int, chess960: bool = False) -> str:
    """Return a move of a position (10,) in coordinates."""
    source, target, promotion, flag = move & 63, move >> 6 & 63, move >> 18 & 7, move >> 21 & 3
    if flag == CASTLING and not chess960:
        target = (source & 56) + (6 if target > source else 2)
    return SQUARES[source] + SQUARES[target] + (PROMOTIONS[promotion] if promotion else "")


def move_named(words: np.ndarray, name: str) -> int:
    """Return the legal move of a position (10,) with this name, castling in either notation; ValueError if there is none.

    If a king can both step to a square and castle to it, the name means the step.
    """
    legal = moves_of(words)
    for chess960 in (True, False):  # f1g1: castling takes precedence only as king takes rook
        for move in legal:
            if move_name(words, move, chess960) == name:
                return move
    raise ValueError(f"illegal move {name!r}")
