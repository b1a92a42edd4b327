"""The material of both sides together, on which the chances at a score depend."""

from __future__ import annotations

import numpy as np

from games.record import Stock

WORTH = (1, 3, 3, 5, 9)  # of pawns, knights, bishops, rooks and queens


def material(positions: np.ndarray) -> np.ndarray:
    """Return the material (n,) of positions (n, 10)."""
    squares = np.ascontiguousarray(positions[:, 2:7]).view(np.uint8)
    pieces = np.unpackbits(squares.reshape(len(positions), 5, 8), axis=2).sum(axis=2)
    return pieces @ np.array(WORTH)


# the limits, the anchor, and a and b as in uci.cpp of Stockfish 16.1 and 17, in its internal units
STOCK = Stock(
    material,
    low=17,
    high=78,
    anchor=58,
    what="material of both sides: pawn 1, knight and bishop 3, rook 5, queen 9",
    published=(
        (420.70576692, -132.78783573, 121.19101539, -37.45051876),
        (51.35259597, 71.10130540, -137.26549898, 90.26261072),
    ),
    source="Stockfish 17",
)
