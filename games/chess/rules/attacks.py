"""Attacks of pieces.

Sliding pieces use obstruction difference (Isenberg and Hoffmann): on each line through the square,
subtracting the nearest piece below from the pieces above flips exactly the squares in between. Its
masks take 4 kB and stay in the L1 cache; magic bitboards take 800 kB."""

import numpy as np

from games.bits import HIGHEST, ONE, bit, leading_zeros
from games.chess.rules import inner
from games.compile import jit

NOT_A = np.uint64(0xFEFEFEFEFEFEFEFE)
NOT_H = np.uint64(0x7F7F7F7F7F7F7F7F)
SEVEN, NINE = np.uint64(7), np.uint64(9)

ROOK_STEPS = ((1, 0), (0, 1))
BISHOP_STEPS = ((1, 1), (-1, 1))
KNIGHT_STEPS = ((1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2))
KING_STEPS = ((1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1))


def _squares(square: int, steps, reach: int) -> int:
    """Return the set of squares reached from a square by up to `reach` of these (file, rank)
    steps."""
    squares = 0
    for step_file, step_rank in steps:
        file, rank = square % 8, square // 8
        for _ in range(reach):
            file, rank = file + step_file, rank + step_rank
            if not (0 <= file < 8 and 0 <= rank < 8):
                break
            squares |= 1 << (8 * rank + file)
    return squares


def _lines() -> np.ndarray:
    """Return masks (64, 4, 2): for each square its rank, file and two diagonals; the squares below
    and above it."""
    masks = np.zeros((64, 4, 2), np.uint64)
    for square in range(64):
        for line, (file, rank) in enumerate(ROOK_STEPS + BISHOP_STEPS):
            whole = _squares(square, ((file, rank), (-file, -rank)), 7)
            below = whole & ((1 << square) - 1)
            masks[square, line] = below, whole ^ below
    return masks


def _between() -> np.ndarray:
    """Return (64, 64) sets of the squares strictly between two squares; empty unless they share a
    line."""
    between = np.zeros((64, 64), np.uint64)
    for square in range(64):
        for step in ROOK_STEPS + BISHOP_STEPS:
            for sign in (1, -1):
                direction = (sign * step[0], sign * step[1])
                passed = 0
                for reach in range(1, 8):
                    ray = _squares(square, (direction,), reach)
                    new = ray & ~passed
                    if not new:
                        break
                    between[square, new.bit_length() - 1] = passed
                    passed = ray
    return between


def _through(masks: np.ndarray) -> np.ndarray:
    """Return (64, 64) sets of the whole line through two squares; empty unless they share a
    line."""
    through = np.zeros((64, 64), np.uint64)
    for square in range(64):
        for line in range(4):
            whole = int(masks[square, line, 0] | masks[square, line, 1])
            for other in range(64):
                if whole >> other & 1:
                    through[square, other] = whole | 1 << square
    return through


_MASKS = _lines()
_lines_table = jit.table("chess_lines", _MASKS.ravel())
_between_table = jit.table("chess_between", _between().ravel())
_through_table = jit.table("chess_through", _through(_MASKS).ravel())
knight_attacks = jit.table(
    "chess_knight", np.array([_squares(s, KNIGHT_STEPS, 1) for s in range(64)], np.uint64)
)
king_attacks = jit.table(
    "chess_king", np.array([_squares(s, KING_STEPS, 1) for s in range(64)], np.uint64)
)


@inner("uint64(int64, int64)", forceinline=True)
def between(a, b):
    """Return the squares strictly between two squares; empty unless they share a line."""
    return _between_table(a * 64 + b)


@inner("uint64(int64, int64)", forceinline=True)
def through(a, b):
    """Return the whole line through two squares; empty unless they share one."""
    return _through_table(a * 64 + b)


@inner("uint64(uint64, uint64, uint64)", forceinline=True)
def _line_attacks(occupied, lower, upper):
    above = occupied & upper
    nearest = HIGHEST >> np.uint64(leading_zeros((occupied & lower) | ONE))
    return (lower | upper) & (above ^ (above - nearest))


@inner("uint64(int64, uint64)", forceinline=True)
def rook_attacks(square, occupied):
    """Return the squares a rook attacks, up to and including the first piece in each direction."""
    i = square * 8
    return _line_attacks(occupied, _lines_table(i), _lines_table(i + 1)) | _line_attacks(
        occupied, _lines_table(i + 2), _lines_table(i + 3)
    )


@inner("uint64(int64, uint64)", forceinline=True)
def bishop_attacks(square, occupied):
    """Return the squares a bishop attacks, up to and including the first piece in each
    direction."""
    i = square * 8
    return _line_attacks(occupied, _lines_table(i + 4), _lines_table(i + 5)) | _line_attacks(
        occupied, _lines_table(i + 6), _lines_table(i + 7)
    )


@inner("uint64(uint64)", forceinline=True)
def pawn_attacks_up(pawns):
    """Return the squares attacked by pawns that move towards rank 8."""
    return (pawns & NOT_A) << SEVEN | (pawns & NOT_H) << NINE


@inner("uint64(uint64)", forceinline=True)
def pawn_attacks_down(pawns):
    """Return the squares attacked by pawns that move towards rank 1."""
    return (pawns & NOT_A) >> NINE | (pawns & NOT_H) >> SEVEN


@inner("uint64(uint64, boolean)", forceinline=True)
def pawn_attacks(pawns, black):
    """Return the squares attacked by the pawns of one side."""
    return pawn_attacks_down(pawns) if black else pawn_attacks_up(pawns)


@inner("uint64(int64, boolean)", forceinline=True)
def pawn_attacks_from(square, black):
    """Return the squares attacked by one pawn."""
    return pawn_attacks(bit(square), black)
