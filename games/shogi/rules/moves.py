"""Moves as integers, and making one on a position.

A move holds, from bit 0: the target square (7 bits), the source square (7; NOWHERE for a drop), the
kinds of the moving and of the captured man (4 each), and whether the man promotes (1)."""

import numpy as np
from numba.core import types

from games.bits import EMPTY as NOTHING
from games.bits import ONE
from games.shogi.rules import inner
from games.shogi.rules.attacks import PROMOTED
from games.shogi.rules.position import (
    CHECK,
    NUMBER_MASK,
    NUMBER_SHIFT,
    SIDE,
    SIDE_KEY,
    Position,
    hand_key,
    hand_unit,
    held,
    key_of,
    king_is_attacked,
    man_key,
    position_type,
    white_to_move,
)
from games.shogi.rules.squares import bit, when

NOWHERE = 127  # the source of drops
SOURCE_SHIFT, KIND_SHIFT, CAPTURED_SHIFT, PROMOTION_SHIFT = 7, 14, 18, 22
PROMOTION = 1 << PROMOTION_SHIFT


@inner(types.int64(types.int64, types.int64, types.int64, types.int64), forceinline=True)
def pack_move(source, target, kind, captured):
    """Pack a move without promotion into one integer."""
    return target | source << SOURCE_SHIFT | kind << KIND_SHIFT | captured << CAPTURED_SHIFT


@inner(types.int64(types.int64), forceinline=True)
def move_target(move):
    return move & 127


@inner(types.int64(types.int64), forceinline=True)
def move_source(move):
    return move >> SOURCE_SHIFT & 127


@inner(types.int64(types.int64), forceinline=True)
def move_kind(move):
    return move >> KIND_SHIFT & 15


@inner(types.int64(types.int64), forceinline=True)
def move_captured(move):
    return move >> CAPTURED_SHIFT & 15


@inner(types.int64(types.int64), forceinline=True)
def move_promotes(move):
    return move >> PROMOTION_SHIFT & 1


@inner(types.boolean(types.int64), forceinline=True)
def is_drop(move):
    return move_source(move) == NOWHERE


@inner(types.int64(types.int64), forceinline=True)
def plain_kind(kind):
    """Return a kind without its promotion, as it is held in hand. Kings stay kings."""
    return kind & 7 if kind > PROMOTED else kind


@inner(position_type(position_type, types.int64, types.boolean))
def make_knowing(p, move, check):
    """Return the position after a legal move of which is known whether it gives check."""
    white = np.int64(1) if white_to_move(p) else np.int64(0)
    kind, captured, target = move_kind(move), move_captured(move), move_target(move)
    placed = kind + PROMOTED * move_promotes(move)
    enter = bit(target)
    ours, theirs = (p.white, p.black) if white else (p.black, p.white)
    hands = p.hands
    key = p.key ^ key_of(SIDE_KEY) ^ man_key(white, placed, target)
    bit0, bit1, bit2, bit3 = p.bit0, p.bit1, p.bit2, p.bit3
    if is_drop(move):
        number = held(hands, white, kind)
        hands -= hand_unit(white, kind)
        key ^= hand_key(white, kind, number) ^ hand_key(white, kind, number - 1)
    else:
        source = move_source(move)
        leave = bit(source)
        ours ^= leave
        key ^= man_key(white, kind, source)
        bit0 ^= when(kind & 1 != 0, leave)
        bit1 ^= when(kind & 2 != 0, leave)
        bit2 ^= when(kind & 4 != 0, leave)
        bit3 ^= when(kind & 8 != 0, leave)
        if captured:
            theirs ^= enter
            base = plain_kind(captured)
            number = held(hands, white, base)
            hands += hand_unit(white, base)
            key ^= (
                man_key(1 - white, captured, target)
                ^ hand_key(white, base, number)
                ^ hand_key(white, base, number + 1)
            )
    ours ^= enter
    changed = placed ^ captured
    bit0 ^= when(changed & 1 != 0, enter)
    bit1 ^= when(changed & 2 != 0, enter)
    bit2 ^= when(changed & 4 != 0, enter)
    bit3 ^= when(changed & 8 != 0, enter)
    state = ((p.state & SIDE) ^ SIDE) | (
        (p.state >> NUMBER_SHIFT) + ONE & NUMBER_MASK
    ) << NUMBER_SHIFT
    state |= CHECK if check else NOTHING
    return Position(
        theirs if white else ours,
        ours if white else theirs,
        bit0,
        bit1,
        bit2,
        bit3,
        hands,
        state,
        key,
    )


@inner(position_type(position_type, types.int64))
def make(p, move):
    """Return the position after a legal move."""
    after = make_knowing(p, move, False)
    check = king_is_attacked(after, np.int64(1) if white_to_move(after) else np.int64(0))
    return Position(
        after.black,
        after.white,
        after.bit0,
        after.bit1,
        after.bit2,
        after.bit3,
        after.hands,
        after.state | (CHECK if check else NOTHING),
        after.key,
    )
