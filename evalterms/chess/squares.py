"""Sets of squares for terms, as `us` sees the board: constants and shifts."""

import numpy as np

from evalterms.term import inlined
from games.bits import lowest, without_lowest
from games.chess.rules import inner
from games.chess.rules.attacks import NOT_A, NOT_H

RANK_2, RANK_3, RANK_7, RANK_8 = (np.uint64(0xFF << 8 * rank) for rank in (1, 2, 6, 7))
FILE_A = np.uint64(0x0101010101010101)
CENTRE_FILES = np.uint64(0x3C3C3C3C3C3C3C3C)
LIGHT = np.uint64(0x55AA55AA55AA55AA)
DARK = np.uint64(0xAA55AA55AA55AA55)
RANKS_2_TO_4 = np.uint64(0xFFFFFF00)
RANKS_4_TO_6 = np.uint64(0xFFFFFF000000)
ONE_SQUARE, ROW, TWO_ROWS, FOUR_ROWS = (np.uint64(n) for n in (1, 8, 16, 32))


@inner("uint64(uint64)", forceinline=True)
def up(squares):
    """Shift squares one rank up."""
    return squares << ROW


@inner("uint64(uint64)", forceinline=True)
def down(squares):
    """Shift squares one rank down."""
    return squares >> ROW


@inner("uint64(uint64)", forceinline=True)
def sideways(squares):
    """Return the neighbors on the same rank."""
    return (squares & NOT_A) >> ONE_SQUARE | (squares & NOT_H) << ONE_SQUARE


@inner("uint64(uint64)", forceinline=True)
def fill_up(squares):
    """Return these squares and all squares above them."""
    squares |= squares << ROW
    squares |= squares << TWO_ROWS
    return squares | squares << FOUR_ROWS


@inner("uint64(uint64)", forceinline=True)
def fill_down(squares):
    """Return these squares and all squares below them."""
    squares |= squares >> ROW
    squares |= squares >> TWO_ROWS
    return squares | squares >> FOUR_ROWS


@inner("uint64(uint64)", forceinline=True)
def files(squares):
    """Return all squares of the files of these squares."""
    return fill_up(fill_down(squares))


@inner("int64(int64, int64)", forceinline=True)
def distance(a, b):
    """Return the number of king moves between two squares."""
    return max(abs((a & 7) - (b & 7)), abs((a >> 3) - (b >> 3)))


@inlined
def emit_squares(squares, first, emit):
    """Count each of these squares once, for a parameter that begins at `first` and has a weight for
    each square."""
    while squares:
        emit(first + lowest(squares), 1)
        squares = without_lowest(squares)


@inlined
def emit_ranks(squares, first, emit):
    """Count each of these squares once, for a parameter that begins at `first` and has a weight for
    each rank."""
    while squares:
        emit(first + (lowest(squares) >> 3), 1)
        squares = without_lowest(squares)
