"""Attacks of men.

Sliding men use obstruction difference (Isenberg and Hoffmann) on integers of 128 bits: on each line
through a square, subtracting the nearest man below from the men above flips exactly the squares
between them."""

import numpy as np
from numba.core import types

from games.compile import jit
from games.shogi.rules import inner
from games.shogi.rules.squares import (
    BOARD,
    EMPTY,
    FILES,
    RANKS,
    SQUARES,
    Squares,
    bit,
    highest,
    of_rank,
    pair,
    squares_type,
)

# kinds of men; a promoted man is its kind plus PROMOTED
NO_KIND, PAWN, LANCE, KNIGHT, SILVER, BISHOP, ROOK, GOLD, KING = range(9)
PROMOTED = 8
PROMOTED_PAWN, PROMOTED_LANCE, PROMOTED_KNIGHT, PROMOTED_SILVER, HORSE, DRAGON = range(9, 15)
KINDS = 15

# steps (file, rank) of Black's men: rank a is 0 and ahead
_STRAIGHT = ((0, -1), (0, 1), (-1, 0), (1, 0))
_DIAGONAL = ((-1, -1), (1, -1), (-1, 1), (1, 1))
_GOLD = (*_STRAIGHT, (-1, -1), (1, -1))
STEPS = {
    PAWN: ((0, -1),),
    LANCE: (),
    KNIGHT: ((-1, -2), (1, -2)),
    SILVER: ((0, -1), *_DIAGONAL),
    BISHOP: (),
    ROOK: (),
    GOLD: _GOLD,
    KING: (*_STRAIGHT, *_DIAGONAL),
    PROMOTED_PAWN: _GOLD,
    PROMOTED_LANCE: _GOLD,
    PROMOTED_KNIGHT: _GOLD,
    PROMOTED_SILVER: _GOLD,
    HORSE: _STRAIGHT,
    DRAGON: _DIAGONAL,
}
# directions of lines: first that towards lower squares
LINES = (((0, -1), (0, 1)), ((-1, 0), (1, 0)), ((-1, -1), (1, 1)), ((-1, 1), (1, -1)))


def _reach(square: int, step: tuple[int, int], steps: int) -> list[int]:
    """Return the squares from a square in one direction, nearest first."""
    file, rank = divmod(square, RANKS)
    reached = []
    for _ in range(steps):
        file, rank = file + step[0], rank + step[1]
        if not (0 <= file < FILES and 0 <= rank < RANKS):
            break
        reached.append(RANKS * file + rank)
    return reached


def _words(sets: list[int]) -> np.ndarray:
    """Return sets as an array of words, two for each."""
    return np.array([[s & (1 << 64) - 1, s >> 64] for s in sets], np.uint64).ravel()


def _step_sets() -> list[int]:
    """Return the sets that men attack by steps, by color (white last), kind, square."""
    sets = []
    for sign in (1, -1):
        for kind in range(KINDS):
            for square in range(SQUARES):
                steps = [(sign * file, sign * rank) for file, rank in STEPS.get(kind, ())]
                sets.append(
                    sum(1 << target for step in steps for target in _reach(square, step, 1))
                )
    return sets


def _line_sets() -> list[int]:
    """Return, by square and line, the squares of the line below it and above it."""
    return [
        sum(1 << target for target in _reach(square, step, 8))
        for square in range(SQUARES)
        for line in LINES
        for step in line
    ]


def _pairs_of_squares() -> tuple[list[int], list[int]]:
    """Return, by two squares, those strictly between them and the whole line through them; empty
    unless they share a line."""
    between, through = [0] * SQUARES**2, [0] * SQUARES**2
    for square in range(SQUARES):
        for line in LINES:
            whole = 1 << square | sum(
                1 << target for step in line for target in _reach(square, step, 8)
            )
            for step in line:
                passed = 0
                for target in _reach(square, step, 8):
                    between[SQUARES * square + target] = passed
                    through[SQUARES * square + target] = whole
                    passed |= 1 << target
    return between, through


_BETWEEN, _THROUGH = _pairs_of_squares()
_step_words = jit.table("shogi_steps", _words(_step_sets()))
_line_words = jit.table("shogi_lines", _words(_line_sets()))
_between_words = jit.table("shogi_between", _words(_BETWEEN))
_through_words = jit.table("shogi_through", _words(_THROUGH))
ONE = Squares(1)
BOTTOM = of_rank(RANKS - 1)
NOT_BOTTOM = BOARD ^ BOTTOM
LAST_RANK_OF_BLACK, LAST_RANK_OF_WHITE = of_rank(0), BOTTOM


@inner(squares_type(types.int64, types.int64, types.int64), forceinline=True)
def steps_from(white, kind, square):
    """Return the squares that a man attacks by one step; `white`: 1 for a man of White's."""
    i = 2 * (SQUARES * (KINDS * white + kind) + square)
    return pair(_step_words(i), _step_words(i + 1))


@inner(squares_type(types.int64, types.int64), forceinline=True)
def between(a, b):
    """Return the squares strictly between two squares; empty unless they share a line."""
    i = 2 * (SQUARES * a + b)
    return pair(_between_words(i), _between_words(i + 1))


@inner(squares_type(types.int64, types.int64), forceinline=True)
def through(a, b):
    """Return the whole line through two squares; empty unless they share one."""
    i = 2 * (SQUARES * a + b)
    return pair(_through_words(i), _through_words(i + 1))


@inner(squares_type(squares_type, types.int64), forceinline=True)
def _line_attacks(occupied, i):
    lower, upper = (
        pair(_line_words(i), _line_words(i + 1)),
        pair(_line_words(i + 2), _line_words(i + 3)),
    )
    above = occupied & upper
    nearest = bit(highest(occupied & lower | ONE))
    return (lower | upper) & (above ^ (above - nearest))


@inner(squares_type(types.int64, squares_type), forceinline=True)
def rook_attacks(square, occupied):
    """Return the squares a rook attacks, up to and including the first man in each direction."""
    i = square * 16
    return _line_attacks(occupied, i) | _line_attacks(occupied, i + 4)


@inner(squares_type(types.int64, squares_type), forceinline=True)
def bishop_attacks(square, occupied):
    """Return the squares a bishop attacks, up to and including the first man in each direction."""
    i = square * 16
    return _line_attacks(occupied, i + 8) | _line_attacks(occupied, i + 12)


@inner(squares_type(types.int64, types.int64, squares_type), forceinline=True)
def lance_attacks(white, square, occupied):
    """Return the squares a lance attacks, up to and including the first man; `white`: 1 for a lance
    of White's."""
    i = square * 16
    if white:
        upper = pair(_line_words(i + 2), _line_words(i + 3))
        above = occupied & upper
        return upper & (above ^ (above - ONE))
    lower = pair(_line_words(i), _line_words(i + 1))
    return lower & (EMPTY - bit(highest(occupied & lower | ONE)))


@inner(squares_type(types.int64, types.int64, types.int64, squares_type), forceinline=True)
def attacks_of(white, kind, square, occupied):
    """Return the squares that a man of a kind attacks, up to and including the first man on each
    line."""
    if kind == LANCE:
        return lance_attacks(white, square, occupied)
    if kind == BISHOP:
        return bishop_attacks(square, occupied)
    if kind == ROOK:
        return rook_attacks(square, occupied)
    steps = steps_from(white, kind, square)
    if kind == HORSE:
        return bishop_attacks(square, occupied) | steps
    if kind == DRAGON:
        return rook_attacks(square, occupied) | steps
    return steps


@inner(squares_type(squares_type, types.int64), forceinline=True)
def ahead(squares, white):
    """Return the squares one step ahead of these, on the board."""
    return (squares & ~LAST_RANK_OF_WHITE) << 1 if white else (squares & ~LAST_RANK_OF_BLACK) >> 1


@inner(squares_type(squares_type), forceinline=True)
def _beside(squares):
    """Return the neighbors of these squares on their ranks."""
    return squares >> RANKS | (squares << RANKS) & BOARD


@inner(squares_type(squares_type, types.int64), forceinline=True)
def all_knight_attacks(knights, white):
    """Return the squares that any of these knights attacks."""
    return _beside(ahead(ahead(knights, white), white))


@inner(squares_type(squares_type, types.int64), forceinline=True)
def all_silver_attacks(silvers, white):
    """Return the squares that any of these silvers attacks."""
    front = ahead(silvers, white)
    return front | _beside(front | ahead(silvers, 1 - white))


@inner(squares_type(squares_type, types.int64), forceinline=True)
def all_gold_attacks(golds, white):
    """Return the squares that any of these men that move as gold attacks."""
    front = ahead(golds, white)
    return front | ahead(golds, 1 - white) | _beside(golds | front)


@inner(squares_type(squares_type), forceinline=True)
def all_king_attacks(kings):
    """Return the squares that any of these kings attacks."""
    column = ahead(kings, 0) | ahead(kings, 1)
    return column | _beside(kings | column)


@inner(squares_type(squares_type), forceinline=True)
def whole_files(squares):
    """Return all squares of the files of these squares."""
    full = (
        (squares & NOT_BOTTOM) + NOT_BOTTOM | squares
    ) & BOTTOM  # the last square of each such file
    return full - (full >> 8) | full
