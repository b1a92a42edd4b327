"""Moves as integers, and making one on a position.

A move holds, from bit 0: source and target square (6 bits each), the kinds of the moving, the captured and the promoted
piece (3 each), and a flag (2). The target of castling is the rook's square.
"""

from __future__ import annotations

import numpy as np
from numba.core import types

from games.bits import EMPTY, ONE, bit, when
from games.chess.position import (
    BISHOP,
    CASTLING_SHIFT,
    CLOCK_MASK,
    CLOCK_SHIFT,
    EP_KEYS,
    EP_MASK,
    EP_SHIFT,
    FILES_MASK,
    KING,
    KNIGHT,
    LAST_RANK_SHIFT,
    NO_KIND,
    NUMBER_MASK,
    NUMBER_SHIFT,
    PAWN,
    QUEEN,
    ROOK,
    SIDE,
    SIDE_BLOCK,
    SIDE_KEY,
    Position,
    black_to_move,
    castling_key,
    castling_rights,
    en_passant_file,
    key_of,
    position_type,
)
from games.chess.unit import inner

EN_PASSANT, CASTLING = 1, 2  # flags


@inner(types.int64(types.int64, types.int64, types.int64, types.int64, types.int64, types.int64))
def pack_move(source, target, kind, captured, promotion, flag):
    """Pack a move into one integer; for castling the target is the rook's square."""
    return source | target << 6 | kind << 12 | captured << 15 | promotion << 18 | flag << 21


@inner(types.int64(types.int64))
def move_source(move):
    return move & 63


@inner(types.int64(types.int64))
def move_target(move):
    return move >> 6 & 63


@inner(types.int64(types.int64))
def move_kind(move):
    return move >> 12 & 7


@inner(types.int64(types.int64))
def move_captured(move):
    return move >> 15 & 7


@inner(types.int64(types.int64))
def move_promotion(move):
    return move >> 18 & 7


@inner(types.int64(types.int64))
def move_flag(move):
    return move >> 21 & 3


@inner(types.uint64(types.uint64, types.uint64, types.uint64, types.boolean))
def remaining_castling(rights, touched, moved_kings, black):
    """Return the castling rights after moves from or to the `touched` squares; `moved_kings` is not empty if the king moved."""
    rights &= ~(touched & FILES_MASK | touched >> LAST_RANK_SHIFT << np.uint64(8))
    if moved_kings:
        rights &= FILES_MASK if black else ~FILES_MASK
    return rights


@inner(position_type(position_type, types.int64))
def _castle(p, move):
    black = black_to_move(p)
    king, rook = move_source(move), move_target(move)
    row = king & 56
    king_to = row + 6 if rook > king else row + 2
    rook_to = row + 5 if rook > king else row + 3
    lifted = bit(king) | bit(rook)
    ours = (p.black if black else p.white) & ~lifted | bit(king_to) | bit(rook_to)
    rights = castling_rights(p)
    kept = remaining_castling(rights, lifted, ONE, black)
    block = SIDE_BLOCK if black else 0
    key = (p.key ^ key_of(SIDE_KEY) ^ key_of(EP_KEYS + np.int64(p.state >> EP_SHIFT & EP_MASK))
           ^ castling_key(rights ^ kept)
           ^ key_of(block + 64 * KING + king) ^ key_of(block + 64 * KING + king_to)
           ^ key_of(block + 64 * ROOK + rook) ^ key_of(block + 64 * ROOK + rook_to))
    state = next_state(p.state, kept, EMPTY, False)
    return Position(p.white if black else ours, ours if black else p.black, p.pawns, p.knights, p.bishops,
                    p.rooks & ~bit(rook) | bit(rook_to), p.queens, p.kings & ~bit(king) | bit(king_to), state, key)


@inner(types.uint64(types.uint64, types.uint64, types.uint64, types.boolean))
def next_state(state, rights, ep, irreversible):
    """Return the packed state with the other side to move."""
    clock = state >> CLOCK_SHIFT & CLOCK_MASK
    clock = EMPTY if irreversible else (clock + ONE if clock < CLOCK_MASK else clock)
    number = (state >> NUMBER_SHIFT) + (state & SIDE) & NUMBER_MASK
    return (state & SIDE ^ SIDE) | rights << CASTLING_SHIFT | ep << EP_SHIFT | clock << CLOCK_SHIFT | number << NUMBER_SHIFT


@inner(position_type(position_type, types.int64))
def make(p, move):
    """Return the position after a legal move."""
    flag = move_flag(move)
    if flag == CASTLING:
        return _castle(p, move)
    black = black_to_move(p)
    kind, captured, promotion = move_kind(move), move_captured(move), move_promotion(move)
    source, target = move_source(move), move_target(move)
    placed = promotion if promotion else kind
    capture_square = (target + 8 if black else target - 8) if flag == EN_PASSANT else target
    leave, enter = bit(source), bit(target)
    taken = when(captured != NO_KIND, bit(capture_square))
    moved = leave | enter
    ours, theirs = p.black if black else p.white, p.white if black else p.black
    ours, theirs = ours ^ moved, theirs ^ taken

    own_block, other_block = (SIDE_BLOCK, 0) if black else (0, SIDE_BLOCK)
    key = (p.key ^ key_of(SIDE_KEY) ^ key_of(EP_KEYS + np.int64(p.state >> EP_SHIFT & EP_MASK))
           ^ key_of(own_block + 64 * kind + source) ^ key_of(own_block + 64 * placed + target))
    if captured:
        key ^= key_of(other_block + 64 * captured + capture_square)
    rights = castling_rights(p)
    if rights:
        kept = remaining_castling(rights, moved, when(kind == KING, leave), black)
        if kept != rights:
            key ^= castling_key(rights ^ kept)
            rights = kept
    after = Position(
        theirs if black else ours, ours if black else theirs,
        p.pawns ^ when(kind == PAWN, leave) ^ when(placed == PAWN, enter) ^ when(captured == PAWN, taken),
        p.knights ^ when(kind == KNIGHT, leave) ^ when(placed == KNIGHT, enter) ^ when(captured == KNIGHT, taken),
        p.bishops ^ when(kind == BISHOP, leave) ^ when(placed == BISHOP, enter) ^ when(captured == BISHOP, taken),
        p.rooks ^ when(kind == ROOK, leave) ^ when(placed == ROOK, enter) ^ when(captured == ROOK, taken),
        p.queens ^ when(kind == QUEEN, leave) ^ when(placed == QUEEN, enter) ^ when(captured == QUEEN, taken),
        p.kings ^ when(kind == KING, moved), EMPTY, key)
    ep = EMPTY
    if kind == PAWN and (source ^ target) == 16:
        ep = en_passant_file(after, enter, bit((source + target) >> 1), not black)
        key ^= key_of(EP_KEYS + np.int64(ep))
    state = next_state(p.state, rights, ep, kind == PAWN or captured != NO_KIND)
    return Position(after.white, after.black, after.pawns, after.knights, after.bishops, after.rooks, after.queens,
                    after.kings, state, key)
