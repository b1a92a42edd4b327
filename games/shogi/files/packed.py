"""Positions packed into 32 bytes: PackedSfen (YaneuraOu) and HuffmanCodedPos (Apery), and their
records with labels.

Both hold, from the lowest bit: the side to move (1: White), the squares of Black's and White's king
(7 bits each), then the remaining squares from 1a to 9i and the men in hand until 256 bits are full.
A square is 0 if it is empty, otherwise the code of its man and two bits, of which gold has only
one: PackedSfen has promotion before the color, HuffmanCodedPos after it, and swaps the codes of
knights and silvers. A man in hand has its code without the lowest bit, a zero (but gold), and its
color; HuffmanCodedPos has 11111 for bishops and rooks, one more bit for rooks, and the color. Of
men that a handicap leaves out of the game, the zero is a one, and HuffmanCodedPos has 11110 for
bishops and rooks.

A PackedSfenValue has 40 bytes: the position, the score of the side to move (int16), the move and
the game's ply (uint16 each), the result of the side to move (int8) and a byte of padding. A
HuffmanCodedPosAndEval (hcpe) has 38: the position, the score, the move (uint16), the result (0
drawn, 1 Black wins, 2 White wins) and a byte of padding."""

import numpy as np
from numba.core import types

from games.bits import EMPTY as NOTHING
from games.bits import ONE
from games.compile import jit
from games.shogi.rules import entry, inner
from games.shogi.rules.attacks import BISHOP, GOLD, KNIGHT, LANCE, PAWN, ROOK, SILVER, whole_files
from games.shogi.rules.movegen import (
    LAST_OF_BLACK,
    LAST_OF_WHITE,
    LAST_TWO_OF_BLACK,
    LAST_TWO_OF_WHITE,
)
from games.shogi.rules.position import (
    CHECK,
    MAX_MEN,
    NUMBER_SHIFT,
    Position,
    full_key,
    hand_unit,
    held,
    kinds_of,
    king_is_attacked,
    position_type,
    store,
    words_type,
)
from games.shogi.rules.squares import EMPTY, RANKS, SQUARES, bit, popcount, when

BITS = 256
PSV_DTYPE = np.dtype(
    [
        ("position", "u1", 32),
        ("score", "<i2"),
        ("move", "<u2"),
        ("ply", "<u2"),
        ("result", "i1"),
        ("padding", "u1"),
    ]
)
HCPE_DTYPE = np.dtype(
    [("position", "u1", 32), ("score", "<i2"), ("move", "<u2"), ("result", "i1"), ("padding", "u1")]
)
# faults, as indices into SENTENCES
NONE, BAD_KINGS, BAD_CODE, BAD_COUNT, TWO_PAWNS, STUCK, HANGING = range(7)
SENTENCES = (
    "",
    "the kings are on the same square or off the board",
    "the code of a man ends behind the position",
    "more men of a kind than there are",
    "two unpromoted pawns of one side on a file",
    "a man that can never move again",
    "the side that is not to move is in check",
)
records_type = types.Array(types.uint8, 2, "C")
positions_type = types.Array(types.uint64, 2, "C")
faults_type = types.Array(types.int64, 1, "C")
most_of = jit.table("shogi_most", np.array(MAX_MEN, np.int64))


@inner(types.int64(records_type, types.int64, types.int64), forceinline=True)
def _bit(records, i, at):
    return np.int64(records[i, at >> 3]) >> (at & 7) & 1 if at < BITS else 0


@inner(types.int64(records_type, types.int64, types.int64))
def _bits7(records, i, at):
    found = np.int64(0)
    for k in range(7):
        found |= _bit(records, i, at + k) << k
    return found


@inner(types.int64(records_type, types.int64, types.int64, types.boolean))
def _man(records, i, at, apery):
    """Return the kind (1 to 7) of the code at a bit, without its lowest bit, and the length of
    that: kind | length << 4. Apery's codes of knights and silvers are swapped."""
    if _bit(records, i, at) == 0:
        return PAWN | 1 << 4
    if _bit(records, i, at + 1) == 0:  # 01 and one more
        if _bit(records, i, at + 2) == 0:
            return LANCE | 3 << 4
        return (SILVER if apery else KNIGHT) | 3 << 4
    if _bit(records, i, at + 2) == 0:
        return (KNIGHT if apery else SILVER) | 3 << 4
    if _bit(records, i, at + 3) == 0:
        return GOLD | 4 << 4
    return (ROOK if _bit(records, i, at + 4) else BISHOP) | 5 << 4


@inner(types.boolean(position_type))
def _too_many(p):
    """Whether there are more men of a kind than a set has."""
    a, b, c, men = p.bit0, p.bit1, p.bit2, p.black | p.white
    for kind in range(PAWN, GOLD + 1):
        found = (a if kind & 1 else ~a) & (b if kind & 2 else ~b) & (c if kind & 4 else ~c) & men
        if popcount(found) + held(p.hands, 0, kind) + held(p.hands, 1, kind) > most_of(kind):
            return True
    return False


@inner(types.int64(position_type, types.int64, words_type))
def _finish(p, white, words):
    """Check a position, complete its state and key, and write it to `words`; returns a fault, or
    NONE."""
    if _too_many(p):
        return BAD_COUNT
    kinds = kinds_of(p)
    for side in range(2):
        pawns = kinds.pawns & (p.white if side else p.black)
        if popcount(whole_files(pawns)) != RANKS * popcount(pawns):
            return TWO_PAWNS
    if (kinds.pawns | kinds.lances) & (p.black & LAST_OF_BLACK | p.white & LAST_OF_WHITE):
        return STUCK
    if kinds.knights & (p.black & LAST_TWO_OF_BLACK | p.white & LAST_TWO_OF_WHITE):
        return STUCK
    if king_is_attacked(p, 1 - white):
        return HANGING
    state = p.state | (CHECK if king_is_attacked(p, white) else NOTHING)
    p = Position(p.black, p.white, p.bit0, p.bit1, p.bit2, p.bit3, p.hands, state, NOTHING)
    store(
        words,
        Position(p.black, p.white, p.bit0, p.bit1, p.bit2, p.bit3, p.hands, state, full_key(p)),
    )
    return NONE


@inner(types.int64(records_type, types.int64, types.boolean, words_type))
def _unpack(records, i, apery, words):
    """Write the position of record i to `words`; returns a fault, or NONE."""
    white = _bit(records, i, 0)
    black_king, white_king = _bits7(records, i, 1), _bits7(records, i, 8)
    if black_king >= SQUARES or white_king >= SQUARES or black_king == white_king:
        return BAD_KINGS
    at = np.int64(15)
    blacks, whites = bit(black_king), bit(white_king)
    bit0, bit1, bit2, bit3 = EMPTY, EMPTY, EMPTY, blacks | whites
    for square in range(SQUARES):
        if square == black_king or square == white_king:
            continue
        at += 1
        if _bit(records, i, at - 1) == 0:
            continue
        man = _man(records, i, at, apery)
        kind, promoted = man & 15, np.int64(0)
        at += man >> 4
        if kind != GOLD and not apery:
            promoted = _bit(records, i, at)
            at += 1
        owner = _bit(records, i, at)
        at += 1
        if kind != GOLD and apery:
            promoted = _bit(records, i, at)
            at += 1
        here = bit(square)
        blacks |= when(owner == 0, here)
        whites |= when(owner != 0, here)
        bit0 |= when(kind & 1 != 0, here)
        bit1 |= when(kind & 2 != 0, here)
        bit2 |= when(kind & 4 != 0, here)
        bit3 |= when(promoted != 0, here)
    hands = NOTHING
    while at < BITS:
        man = _man(records, i, at, apery)
        kind = man & 15
        at += (man >> 4) + (2 if kind != GOLD else 1)
        if at > BITS:
            return BAD_CODE
        owner, mark = _bit(records, i, at - 1), _bit(records, i, at - 2)
        if apery and (kind == BISHOP or kind == ROOK):
            kind, mark = (ROOK if mark else BISHOP), 1 if kind == BISHOP else 0  # by the fifth bit
        if kind == GOLD or mark == 0:  # the rest is out of the game
            if held(hands, 0, kind) + held(hands, 1, kind) >= most_of(kind):
                return BAD_COUNT
            hands += hand_unit(owner, kind)
    if at > BITS:
        return BAD_CODE
    state = np.uint64(white) | ONE << NUMBER_SHIFT
    return _finish(
        Position(blacks, whites, bit0, bit1, bit2, bit3, hands, state, NOTHING), white, words
    )


@entry(types.void(records_type, types.boolean, positions_type, faults_type))
def unpack_all(records, apery, positions, faults):
    """Write the positions of records (n, at least 32) to `positions` (n, 15), with move number 1,
    and their faults, or NONE; `apery`: they are HuffmanCodedPos."""
    for i in range(len(records)):
        faults[i] = _unpack(records, i, apery, positions[i])
