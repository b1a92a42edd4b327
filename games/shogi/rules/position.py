"""A shogi position as a value.

A position is six sets of squares and three words: the men of each side, four planes of the bits of
their kinds (see `games.shogi.rules.attacks`), the hands, the state and the Zobrist key. It is
immutable and passed by value. Arrays of positions have shape (n, 15): two words for each set, then
three more.

The hands hold 32 bits for Black, then for White: the number of men of a kind from bit 28 - 4 *
kind, pawns highest, because there are up to 18 of them. The state holds, from bit 0: the side to
move (1: White) and whether it is in check; in bits 16-31 the move number."""

from typing import NamedTuple

import numba
import numpy as np
from numba.core import types

from games.bits import EMPTY as NOTHING
from games.bits import ONE as ONE_WORD
from games.compile import jit
from games.shogi.rules import inner
from games.shogi.rules.attacks import (
    DRAGON,
    GOLD,
    HORSE,
    KINDS,
    KING,
    KNIGHT,
    PAWN,
    SILVER,
    bishop_attacks,
    lance_attacks,
    rook_attacks,
    steps_from,
)
from games.shogi.rules.squares import (
    EMPTY,
    SQUARES,
    Squares,
    bit,
    high_word,
    low_word,
    lowest,
    pair,
    squares_type,
    without_lowest,
)

WORDS = 15
HANDS, STATE, KEY = 12, 13, 14  # words after the sets
SIDE, CHECK = np.uint64(1), np.uint64(2)
NUMBER_SHIFT, NUMBER_MASK = np.uint64(16), np.uint64(0xFFFF)
FIELD = np.uint64(0xF)
PAWN_FIELD = np.uint64(0x1F)
HAND_MASK = np.uint64(0xFFFFFFFF)
HELD = 8  # kinds 1 to 7 can be held
MAX_MEN = (0, 18, 4, 4, 4, 2, 2, 4, 2)  # men of each kind


class Position(NamedTuple):
    """Men of each side and bits of their kinds: sets; hands, state and key: uint64."""

    black: Squares
    white: Squares
    bit0: Squares
    bit1: Squares
    bit2: Squares
    bit3: Squares
    hands: np.uint64
    state: np.uint64
    key: np.uint64


class Kinds(NamedTuple):
    """The squares of both sides' men by kind; `golds` are those that move as gold, `bishops` and
    `rooks` include promoted ones, `near` are kings, horses and dragons."""

    pawns: Squares
    lances: Squares
    knights: Squares
    silvers: Squares
    golds: Squares
    bishops: Squares
    rooks: Squares
    horses: Squares
    dragons: Squares
    kings: Squares


# the initial position; a constant, so that a start compiles nothing
START = np.array(
    [
        5775888555369005376,
        82144,
        9313620295532416517,
        1283,
        10459790772991594052,
        17634,
        9232414454975759105,
        65921,
        4638742835125093376,
        65,
        17660905521152,
        0,
        0,
        65536,
        9027346772494927238,
    ],
    np.uint64,
)
_ZERO = np.uint64(0)
position_type = numba.typeof(
    Position(EMPTY, EMPTY, EMPTY, EMPTY, EMPTY, EMPTY, _ZERO, _ZERO, _ZERO)
)
kinds_type = numba.typeof(Kinds(*[EMPTY] * 10))
words_type = types.Array(types.uint64, 1, "C")


def _random_words(n: int) -> np.ndarray:
    """Return n pseudo-random uint64 (SplitMix64 of 1..n: public domain, Vigna)."""
    with np.errstate(over="ignore"):
        x = np.arange(1, n + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return x ^ (x >> np.uint64(31))


# Zobrist keys: for (white, kind, square), then for (white, kind, number of men in hand), then for
# White to move
MEN_KEYS, HAND_KEYS, SIDE_KEY = 0, 2 * KINDS * SQUARES, 2 * KINDS * SQUARES + 2 * HELD * 32
_KEYS = _random_words(SIDE_KEY + 1)
_KEYS[HAND_KEYS:SIDE_KEY:32] = 0  # no men
key_of = jit.table("shogi_keys", _KEYS)


@inner(position_type(words_type))
def load(words):
    """Read a position from the words of an array."""
    return Position(
        pair(words[0], words[1]),
        pair(words[2], words[3]),
        pair(words[4], words[5]),
        pair(words[6], words[7]),
        pair(words[8], words[9]),
        pair(words[10], words[11]),
        words[12],
        words[13],
        words[14],
    )


@inner(types.void(words_type, position_type))
def store(words, p):
    """Write a position to the words of an array."""
    words[0], words[1] = low_word(p.black), high_word(p.black)
    words[2], words[3] = low_word(p.white), high_word(p.white)
    words[4], words[5] = low_word(p.bit0), high_word(p.bit0)
    words[6], words[7] = low_word(p.bit1), high_word(p.bit1)
    words[8], words[9] = low_word(p.bit2), high_word(p.bit2)
    words[10], words[11] = low_word(p.bit3), high_word(p.bit3)
    words[12], words[13], words[14] = p.hands, p.state, p.key


@inner(types.boolean(position_type), forceinline=True)
def white_to_move(p):
    return p.state & SIDE != NOTHING


@inner(types.boolean(position_type), forceinline=True)
def in_check(p):
    """Whether the side to move is in check, which the state holds."""
    return p.state & CHECK != NOTHING


@inner(kinds_type(position_type), forceinline=True)
def kinds_of(p):
    """Return the squares of the men by kind."""
    a, b, c, d = p.bit0, p.bit1, p.bit2, p.bit3
    low = a | b
    plain = ~d
    return Kinds(
        a & ~b & ~c & plain,
        b & ~a & ~c & plain,
        a & b & ~c & plain,
        c & ~low & plain,
        a & b & c | d & (c ^ low),
        a & ~b & c,
        b & ~a & c,
        a & c & d,
        b & c & d,
        d & ~c & ~low,
    )


@inner(types.int64(position_type, types.int64), forceinline=True)
def kind_at(p, square):
    """Return the kind of the man on a square; 0 if it is empty."""
    found = (
        low_word(p.bit0 >> square) & ONE_WORD | (low_word(p.bit1 >> square) & ONE_WORD) << ONE_WORD
    )
    found |= (low_word(p.bit2 >> square) & ONE_WORD) << np.uint64(2) | (
        low_word(p.bit3 >> square) & ONE_WORD
    ) << np.uint64(3)
    return np.int64(found)


@inner(types.uint64(types.int64, types.int64), forceinline=True)
def hand_unit(white, kind):
    """Return the amount that one man of a kind in hand adds to the hands."""
    return ONE_WORD << np.uint64(32 * white + 28 - 4 * kind)


@inner(types.int64(types.uint64, types.int64, types.int64), forceinline=True)
def held(hands, white, kind):
    """Return the number of men of a kind (1 to 7) in one hand."""
    return np.int64(
        hands >> np.uint64(32 * white + 28 - 4 * kind) & (PAWN_FIELD if kind == PAWN else FIELD)
    )


@inner(types.uint64(types.int64, types.int64, types.int64), forceinline=True)
def man_key(white, kind, square):
    return key_of(SQUARES * (KINDS * white + kind) + square)


@inner(types.uint64(types.int64, types.int64, types.int64), forceinline=True)
def hand_key(white, kind, number):
    return key_of(HAND_KEYS + 32 * (HELD * white + kind) + number)


@inner(squares_type(kinds_type, types.int64, squares_type, types.int64))
def attackers(kinds, square, occupied, by_white):
    """Return the men, of either side, that would attack a square as men of the given side if
    `occupied` blocks the lines; the caller keeps those of that side."""
    back = 1 - by_white
    steps = (
        steps_from(back, PAWN, square) & kinds.pawns
        | steps_from(back, KNIGHT, square) & kinds.knights
        | steps_from(back, SILVER, square) & kinds.silvers
        | steps_from(back, GOLD, square) & kinds.golds
        | steps_from(back, KING, square) & kinds.kings
        | steps_from(back, HORSE, square) & kinds.horses
        | steps_from(back, DRAGON, square) & kinds.dragons
    )
    return (
        steps
        | lance_attacks(back, square, occupied) & kinds.lances
        | bishop_attacks(square, occupied) & kinds.bishops
        | rook_attacks(square, occupied) & kinds.rooks
    )


@inner(types.boolean(position_type, types.int64))
def king_is_attacked(p, white):
    """Whether the king of one side, if it has one, is attacked."""
    kinds = kinds_of(p)
    ours, theirs = (p.white, p.black) if white else (p.black, p.white)
    king = kinds.kings & ours
    return bool(king) and bool(
        attackers(kinds, lowest(king), p.black | p.white, 1 - white) & theirs
    )


@inner(types.uint64(position_type))
def full_key(p):
    """Compute the Zobrist key from scratch."""
    key = key_of(SIDE_KEY) if white_to_move(p) else NOTHING
    rest = p.black | p.white
    while rest:
        square = lowest(rest)
        key ^= man_key(
            np.int64(1) if p.white & bit(square) else np.int64(0), kind_at(p, square), square
        )
        rest = without_lowest(rest)
    for white in range(2):
        for kind in range(1, HELD):
            key ^= hand_key(white, kind, held(p.hands, white, kind))
    return key
