"""The packed board of marlinformat: 32 bytes, little-endian, squares from a1 = 0 to h8 = 63.

    0-7     occupied squares
    8-23    a nibble per occupied square, in order, the low one first: the kind (pawn 0 to king 5; 6 is a rook that may castle),
            plus 8 for Black
    24      target square of en passant, or 64; plus 128 if Black is to move
    25, 26  halfmove clock; move number (two bytes)
    28      score (two bytes)
    30, 31  White's result: 0, 1 (draw) or 2; an unused byte
"""

from __future__ import annotations

import numpy as np
from numba.core import types

from games.bits import EMPTY, ONE, bit, lowest, popcount, without_lowest
from games.chess.fen import FILES_MASK, bytes_type, possible_material
from games.chess.position import (
    CASTLING_SHIFT,
    CLOCK_SHIFT,
    EP_SHIFT,
    LAST_RANK_SHIFT,
    NUMBER_SHIFT,
    WORDS,
    en_passant_file,
    full_key,
    leaves_king_hanging,
    load,
    words_type,
)
from games.chess.unit import entry, inner

SIZE = 32  # bytes
PIECES, SIDE_AND_EP, CLOCK, NUMBER, RESULT = 8, 24, 25, 26, 30  # offsets
NO_SQUARE = 64
KING_CODE, CASTLING_ROOK, ROOK_KIND, BLACK_CODE = 5, 6, 4, 8
DRAW = 1
WORD_BYTES = 8


@inner(types.boolean(bytes_type, types.int64, words_type))
def unpack(text, i, words):
    """Write the position of the board at text[i:i + SIZE] to `words`; whether it is a legal one."""
    occupied = EMPTY
    for k in range(WORD_BYTES - 1, -1, -1):
        occupied = occupied << np.uint64(8) | np.uint64(text[i + k])
    for word in range(WORDS):
        words[word] = EMPTY
    if popcount(occupied) > SIZE:
        return False
    rights, rest, n = EMPTY, occupied, 0
    while rest:
        square = lowest(rest)
        code = np.int64(text[i + PIECES + n // 2])
        code = code >> 4 if n & 1 else code & 15
        black, kind = code >= BLACK_CODE, code & 7
        if kind > CASTLING_ROOK:
            return False
        if kind == CASTLING_ROOK:
            if square >> 3 != (7 if black else 0):
                return False
            rights |= bit((square & 7) + (8 if black else 0))
            kind = ROOK_KIND - 1
        words[1 if black else 0] |= bit(square)
        words[2 + kind] |= bit(square)
        rest = without_lowest(rest)
        n += 1
    p = load(words)
    if popcount(p.kings & p.white) != 1 or popcount(p.kings & p.black) != 1 or p.pawns & (
            FILES_MASK | FILES_MASK << LAST_RANK_SHIFT):
        return False
    if not (possible_material(p, p.white) and possible_material(p, p.black)):
        return False
    if (rights & FILES_MASK and lowest(p.kings & p.white) > 7) or (rights > FILES_MASK and lowest(p.kings & p.black) < 56):
        return False
    side = np.int64(text[i + SIDE_AND_EP])
    black, target = side >= 128, side & 127
    if target > NO_SQUARE:
        return False
    state = rights << CASTLING_SHIFT | (ONE if black else EMPTY)
    if target != NO_SQUARE:
        if target >> 3 != (2 if black else 5):
            return False
        passer = bit(target + 8 if black else target - 8)
        crossed = bit(target) | bit(target - 8 if black else target + 8)  # by the pawn's double step
        if passer & p.pawns & (p.white if black else p.black) and crossed & occupied == EMPTY:
            state |= en_passant_file(p, passer, bit(target), black) << EP_SHIFT
    number = np.uint64(text[i + NUMBER]) | np.uint64(text[i + NUMBER + 1]) << np.uint64(8)
    words[8] = state | np.uint64(text[i + CLOCK]) << CLOCK_SHIFT | number << NUMBER_SHIFT
    p = load(words)
    if leaves_king_hanging(p):
        return False
    words[9] = full_key(p)
    return True


@entry(types.boolean(bytes_type, words_type))
def _unpack(text, words):
    return unpack(text, 0, words)


def begins_with_board(start: bytes) -> bool:
    """Whether some bytes begin with a packed board and its result; no text does."""
    return len(start) >= SIZE and start[RESULT] <= 2 * DRAW and bool(
        _unpack(np.frombuffer(start[:SIZE], np.uint8), np.zeros(WORDS, np.uint64)))
