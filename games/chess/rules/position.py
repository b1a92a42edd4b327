"""A chess position as a value, moves as integers, and making one.

A position is ten uint64: the pieces of each side, the squares of each kind of piece, the packed
state and the Zobrist key. It is immutable and passed by value, in registers. Arrays of positions
have shape (n, 10).

The state holds, from bit 0: the side to move (1: Black); 16 bits of castling rooks (files a-h of
White, then of Black, as Chess960 needs); the en passant file plus one, set only if the capture is
legal, as the repetition rule requires; in bits 24-31 the halfmove clock (at most 255); in bits
32-47 the move number.

A move holds, from bit 0: source and target square (6 bits each), the kinds of the moving, the
captured and the promoted piece (3 each), and a flag (2). The target of castling is the rook's
square."""

from typing import NamedTuple

import numba
import numpy as np
from numba.core import types

from games.bits import EMPTY, ONE, bit, lowest, when, without_lowest
from games.chess.rules import inner
from games.chess.rules.attacks import (
    bishop_attacks,
    king_attacks,
    knight_attacks,
    pawn_attacks,
    pawn_attacks_from,
    rook_attacks,
)
from games.compile import jit

NO_KIND, PAWN, KNIGHT, BISHOP, ROOK, QUEEN, KING = range(7)
WORDS = 10

SIDE = np.uint64(1)
CASTLING_SHIFT, EP_SHIFT, CLOCK_SHIFT, NUMBER_SHIFT = (np.uint64(bits) for bits in (1, 17, 24, 32))
CASTLING_MASK, EP_MASK, CLOCK_MASK, NUMBER_MASK = (
    np.uint64(mask) for mask in (0xFFFF, 0xF, 0xFF, 0xFFFF)
)
FILES_MASK, LAST_RANK_SHIFT = np.uint64(0xFF), np.uint64(56)


class ChessPosition(NamedTuple):
    """Pieces of each side, squares of each kind, packed state, Zobrist key: uint64 each."""

    white: np.uint64
    black: np.uint64
    pawns: np.uint64
    knights: np.uint64
    bishops: np.uint64
    rooks: np.uint64
    queens: np.uint64
    kings: np.uint64
    state: np.uint64
    key: np.uint64


# the initial position; a constant, so that reading games does not compile the FEN parser
START = np.array(
    [
        0xFFFF,
        0xFFFF << 48,
        0xFF << 8 | 0xFF << 48,
        0x42 | 0x42 << 56,
        0x24 | 0x24 << 56,
        0x81 | 0x81 << 56,
        0x08 | 0x08 << 56,
        0x10 | 0x10 << 56,
        1 << 32 | 0x8181 << 1,
        18118136377438315607,
    ],
    np.uint64,
)

position_type = numba.typeof(ChessPosition(*np.zeros(WORDS, np.uint64)))
words_type = types.Array(types.uint64, 1, "C")


def _random_words(n: int) -> np.ndarray:
    """Return n pseudo-random uint64 (SplitMix64 of 1..n: public domain, Vigna)."""
    with np.errstate(over="ignore"):
        x = np.arange(1, n + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return x ^ (x >> np.uint64(31))


# Zobrist keys: 14 blocks of 64 for (black, kind), kind 0 unused; then castling (16), en passant
# files (9), side to move
SIDE_BLOCK = 7 * 64
CASTLING_KEYS, EP_KEYS, SIDE_KEY = 14 * 64, 14 * 64 + 16, 14 * 64 + 25
_KEYS = _random_words(14 * 64 + 26)
_KEYS[EP_KEYS] = 0  # no en passant
key_of = jit.table("chess_keys", _KEYS)


@inner(position_type(words_type))
def load(words):
    """Read a position from ten words of an array."""
    return ChessPosition(
        words[0],
        words[1],
        words[2],
        words[3],
        words[4],
        words[5],
        words[6],
        words[7],
        words[8],
        words[9],
    )


@inner(types.void(words_type, position_type))
def store(words, p):
    """Write a position to ten words of an array."""
    words[0] = p.white
    words[1] = p.black
    words[2] = p.pawns
    words[3] = p.knights
    words[4] = p.bishops
    words[5] = p.rooks
    words[6] = p.queens
    words[7] = p.kings
    words[8] = p.state
    words[9] = p.key


@inner(types.boolean(position_type))
def black_to_move(p):
    return p.state & SIDE != EMPTY


@inner(types.uint64(position_type))
def castling_rights(p):
    """Return the castling rooks: 8 bits of files for White, then 8 for Black."""
    return p.state >> CASTLING_SHIFT & CASTLING_MASK


@inner(types.int64(position_type))
def en_passant_square(p):
    """Return the target square of en passant captures; -1 if there is none."""
    file = np.int64(p.state >> EP_SHIFT & EP_MASK) - 1
    if file < 0:
        return -1
    return file + 16 if black_to_move(p) else file + 40


@inner(types.int64(position_type))
def halfmove_clock(p):
    return np.int64(p.state >> CLOCK_SHIFT & CLOCK_MASK)


@inner(types.int64(position_type, types.uint64))
def kind_at(p, square):
    """Return the kind of the piece on a square, given as a set; 0 if it is empty."""
    if square & (p.white | p.black) == EMPTY:
        return NO_KIND
    if square & p.pawns:
        return PAWN
    if square & (p.knights | p.bishops):
        return KNIGHT if square & p.knights else BISHOP
    if square & p.rooks:
        return ROOK
    return QUEEN if square & p.queens else KING


@inner(types.uint64(position_type, types.int64, types.uint64, types.uint64, types.boolean))
def attackers(p, square, occupied, enemies, by_black):
    """Return the pieces among `enemies`, of the given color, that attack a square if `occupied`
    blocks the lines."""
    diagonal = bishop_attacks(square, occupied) & (p.bishops | p.queens)
    straight = rook_attacks(square, occupied) & (p.rooks | p.queens)
    steps = knight_attacks(square) & p.knights | king_attacks(square) & p.kings
    pawns = pawn_attacks_from(square, not by_black) & p.pawns
    return (diagonal | straight | steps | pawns) & enemies


@inner(types.uint64(position_type))
def checkers(p):
    """Return the pieces that give check to the side to move."""
    black = black_to_move(p)
    king = lowest(p.kings & (p.black if black else p.white))
    return attackers(p, king, p.white | p.black, p.white if black else p.black, not black)


@inner(types.boolean(position_type))
def leaves_king_hanging(p):
    """Whether the side to move can capture the king, so that the last move was illegal."""
    black = black_to_move(p)
    king = lowest(p.kings & (p.white if black else p.black))
    return attackers(p, king, p.white | p.black, p.black if black else p.white, black) != EMPTY


@inner(types.boolean(position_type, types.uint64, types.uint64, types.uint64, types.boolean))
def en_passant_is_safe(p, source, target, captured, black):
    """Whether an en passant capture leaves the own king unattacked (all three squares as sets)."""
    ours = p.black if black else p.white
    occupied = (p.white | p.black) ^ source ^ target ^ captured
    king = lowest(p.kings & ours)
    return (
        attackers(p, king, occupied, (p.white if black else p.black) & ~captured, not black)
        == EMPTY
    )


@inner(types.uint64(position_type, types.uint64, types.uint64, types.boolean))
def en_passant_file(p, pawn, target, black):
    """Return the file plus one if a pawn of `black` can legally capture `pawn` en passant on
    `target`; otherwise 0."""
    candidates = pawn_attacks(target, not black) & p.pawns & (p.black if black else p.white)
    while candidates:
        if en_passant_is_safe(p, bit(lowest(candidates)), target, pawn, black):
            return np.uint64((lowest(target) & 7) + 1)
        candidates = without_lowest(candidates)
    return EMPTY


@inner(types.uint64(types.uint64))
def castling_key(rights):
    """Return the part of the Zobrist key for castling rights."""
    key = EMPTY
    while rights:
        key ^= key_of(CASTLING_KEYS + lowest(rights))
        rights = without_lowest(rights)
    return key


@inner(types.uint64(position_type))
def full_key(p):
    """Compute the Zobrist key from scratch."""
    key = castling_key(castling_rights(p)) ^ key_of(
        EP_KEYS + np.int64(p.state >> EP_SHIFT & EP_MASK)
    )
    if black_to_move(p):
        key ^= key_of(SIDE_KEY)
    rest = p.white | p.black
    while rest:
        square = lowest(rest)
        block = SIDE_BLOCK if p.black & bit(square) else 0
        key ^= key_of(block + 64 * kind_at(p, bit(square)) + square)
        rest = without_lowest(rest)
    return key


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
    """Return the castling rights after moves from or to the `touched` squares; `moved_kings` is not
    empty if the king moved."""
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
    key = (
        p.key
        ^ key_of(SIDE_KEY)
        ^ key_of(EP_KEYS + np.int64(p.state >> EP_SHIFT & EP_MASK))
        ^ castling_key(rights ^ kept)
        ^ key_of(block + 64 * KING + king)
        ^ key_of(block + 64 * KING + king_to)
        ^ key_of(block + 64 * ROOK + rook)
        ^ key_of(block + 64 * ROOK + rook_to)
    )
    state = next_state(p.state, kept, EMPTY, False)
    return ChessPosition(
        p.white if black else ours,
        ours if black else p.black,
        p.pawns,
        p.knights,
        p.bishops,
        p.rooks & ~bit(rook) | bit(rook_to),
        p.queens,
        p.kings & ~bit(king) | bit(king_to),
        state,
        key,
    )


@inner(types.uint64(types.uint64, types.uint64, types.uint64, types.boolean))
def next_state(state, rights, ep, irreversible):
    """Return the packed state with the opponent to move."""
    clock = state >> CLOCK_SHIFT & CLOCK_MASK
    clock = EMPTY if irreversible else (clock + ONE if clock < CLOCK_MASK else clock)
    number = (state >> NUMBER_SHIFT) + (state & SIDE) & NUMBER_MASK
    return (
        (state & SIDE ^ SIDE)
        | rights << CASTLING_SHIFT
        | ep << EP_SHIFT
        | clock << CLOCK_SHIFT
        | number << NUMBER_SHIFT
    )


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
    key = (
        p.key
        ^ key_of(SIDE_KEY)
        ^ key_of(EP_KEYS + np.int64(p.state >> EP_SHIFT & EP_MASK))
        ^ key_of(own_block + 64 * kind + source)
        ^ key_of(own_block + 64 * placed + target)
    )
    if captured:
        key ^= key_of(other_block + 64 * captured + capture_square)
    rights = castling_rights(p)
    if rights:
        kept = remaining_castling(rights, moved, when(kind == KING, leave), black)
        if kept != rights:
            key ^= castling_key(rights ^ kept)
            rights = kept
    after = ChessPosition(
        theirs if black else ours,
        ours if black else theirs,
        p.pawns
        ^ when(kind == PAWN, leave)
        ^ when(placed == PAWN, enter)
        ^ when(captured == PAWN, taken),
        p.knights
        ^ when(kind == KNIGHT, leave)
        ^ when(placed == KNIGHT, enter)
        ^ when(captured == KNIGHT, taken),
        p.bishops
        ^ when(kind == BISHOP, leave)
        ^ when(placed == BISHOP, enter)
        ^ when(captured == BISHOP, taken),
        p.rooks
        ^ when(kind == ROOK, leave)
        ^ when(placed == ROOK, enter)
        ^ when(captured == ROOK, taken),
        p.queens
        ^ when(kind == QUEEN, leave)
        ^ when(placed == QUEEN, enter)
        ^ when(captured == QUEEN, taken),
        p.kings ^ when(kind == KING, moved),
        EMPTY,
        key,
    )
    ep = EMPTY
    if kind == PAWN and (source ^ target) == 16:
        ep = en_passant_file(after, enter, bit((source + target) >> 1), not black)
        key ^= key_of(EP_KEYS + np.int64(ep))
    state = next_state(p.state, rights, ep, kind == PAWN or captured != NO_KIND)
    return ChessPosition(
        after.white,
        after.black,
        after.pawns,
        after.knights,
        after.bishops,
        after.rooks,
        after.queens,
        after.kings,
        state,
        key,
    )
