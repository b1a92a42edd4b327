"""Perft: the number of move sequences of a given length, the standard check of a move generator."""

import numpy as np
from numba.core import types

from games.bits import EMPTY, bit, lowest, popcount, without_lowest
from games.chess.rules import entry, inner
from games.chess.rules.attacks import (
    NOT_A,
    NOT_H,
    bishop_attacks,
    king_attacks,
    knight_attacks,
    pawn_attacks_from,
    rook_attacks,
    through,
)
from games.chess.rules.movegen import (
    CAPTURE_LEFT,
    CAPTURE_RIGHT,
    FILES_MASK,
    LAST_RANK_SHIFT,
    LAST_RANKS,
    MAX_MOVES,
    ONE_ROW,
    RANK_3,
    RANK_6,
    can_castle,
    generate,
    king_safety,
)
from games.chess.rules.position import (
    attackers,
    black_to_move,
    castling_rights,
    en_passant_is_safe,
    en_passant_square,
    load,
    make,
    position_type,
    words_type,
)
from games.search.perft import count_sequences, make_perft, rows_type


@inner(types.int64(types.uint64))
def _pawn_moves(targets):
    return popcount(targets) + 3 * popcount(targets & LAST_RANKS)


@inner(types.int64(position_type, types.uint64, types.uint64, types.uint64, types.boolean))
def _count_pawns(p, pawns, allowed, theirs, black):
    empty = ~(p.white | p.black)
    if black:
        single = pawns >> ONE_ROW & empty
        double = (single & RANK_6) >> ONE_ROW & empty
        west, east = (pawns & NOT_A) >> CAPTURE_RIGHT, (pawns & NOT_H) >> CAPTURE_LEFT
    else:
        single = pawns << ONE_ROW & empty
        double = (single & RANK_3) << ONE_ROW & empty
        west, east = (pawns & NOT_A) << CAPTURE_LEFT, (pawns & NOT_H) << CAPTURE_RIGHT
    return (
        _pawn_moves(single & allowed)
        + popcount(double & allowed)
        + _pawn_moves(west & theirs & allowed)
        + _pawn_moves(east & theirs & allowed)
    )


@inner(types.int64(position_type))
def count_moves(p):
    """Count the legal moves without listing them."""
    black = black_to_move(p)
    ours, theirs = (p.black, p.white) if black else (p.white, p.black)
    occupied = ours | theirs
    king = lowest(p.kings & ours)
    safety = king_safety(p, king, ours, theirs, black)
    pinned, allowed = safety.pinned, ~ours & safety.answers
    n = 0
    targets = king_attacks(king) & ~ours
    while targets:
        if attackers(p, lowest(targets), occupied ^ bit(king), theirs, not black) == EMPTY:
            n += 1
        targets = without_lowest(targets)
    if safety.answers == EMPTY:
        return n

    pieces = p.knights & ours & ~pinned
    while pieces:
        n += popcount(knight_attacks(lowest(pieces)) & allowed)
        pieces = without_lowest(pieces)
    pieces = (p.bishops | p.queens) & ours
    while pieces:
        source = lowest(pieces)
        targets = bishop_attacks(source, occupied) & allowed
        if pinned & bit(source):
            targets &= through(king, source)
        n += popcount(targets)
        pieces = without_lowest(pieces)
    pieces = (p.rooks | p.queens) & ours
    while pieces:
        source = lowest(pieces)
        targets = rook_attacks(source, occupied) & allowed
        if pinned & bit(source):
            targets &= through(king, source)
        n += popcount(targets)
        pieces = without_lowest(pieces)

    pawns = p.pawns & ours
    n += _count_pawns(p, pawns & ~pinned, safety.answers, theirs, black)
    held = pawns & pinned
    while held:
        source = lowest(held)
        n += _count_pawns(p, bit(source), safety.answers & through(king, source), theirs, black)
        held = without_lowest(held)
    passed = en_passant_square(p)
    if passed >= 0:
        candidates = pawn_attacks_from(passed, not black) & pawns
        while candidates:
            if en_passant_is_safe(
                p, bit(lowest(candidates)), bit(passed), bit(passed + (8 if black else -8)), black
            ):
                n += 1
            candidates = without_lowest(candidates)
    if safety.checkers == EMPTY:
        rights = castling_rights(p)
        rooks = (rights >> np.uint64(8) << LAST_RANK_SHIFT) if black else rights & FILES_MASK
        while rooks:
            if can_castle(p, king, lowest(rooks), occupied, theirs, black):
                n += 1
            rooks = without_lowest(rooks)
    return n


_perft = make_perft(inner, position_type, generate, make, count_moves)


@entry(types.int64(words_type, types.int64, types.boolean, rows_type))
def _perft_from(words, depth, bulk, moves):
    return _perft(load(words), depth, bulk, moves)


def perft(words: np.ndarray, depth: int, bulk: bool = True) -> int:
    """Count the sequences of `depth` legal moves; `bulk` counts the last ply without making its
    moves."""
    return count_sequences(_perft_from, words, depth, bulk, MAX_MOVES)
