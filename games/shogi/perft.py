"""Perft: the number of move sequences of a given length, the standard check of a move generator."""

from __future__ import annotations

import numpy as np
from numba.core import types

from games.perft import count_sequences, make_perft, rows_type
from games.shogi.attacks import (
    DRAGON,
    GOLD,
    HORSE,
    KING,
    KNIGHT,
    LANCE,
    PAWN,
    SILVER,
    ahead,
    bishop_attacks,
    lance_attacks,
    rook_attacks,
    steps_from,
)
from games.shogi.movegen import MAX_MOVES, generate
from games.shogi.moves import make
from games.shogi.node import allowed_to, attacked_by, node_of, node_type, pawn_targets
from games.shogi.position import held, kinds_of, load, position_type, words_type
from games.shogi.squares import BOARD, EMPTY, bit, lowest, popcount, squares_type, without_lowest
from games.shogi.unit import entry, inner


@inner(types.int64(node_type, types.int64, squares_type, squares_type), forceinline=True)
def _promoting(node, source, targets, forced):
    """Count the moves of one man to these targets, with and without promotion."""
    if node.zone & bit(source):
        return 2 * popcount(targets) - popcount(targets & forced)
    return popcount(targets) + popcount(targets & node.zone) - popcount(targets & forced)


@inner(types.int64(position_type))
def count_moves(p):
    """Count the legal moves without listing them."""
    kinds = kinds_of(p)
    node = node_of(p, kinds)
    white, ours, theirs, occupied = node.white, node.ours, node.theirs, node.occupied
    n = 0
    if node.king >= 0:
        targets = steps_from(white, KING, node.king) & ~ours
        if targets:
            n = popcount(targets & ~attacked_by(kinds, theirs, 1 - white, occupied ^ bit(node.king)))
    if not node.answers:
        return n
    allowed = node.answers & ~ours & BOARD

    pawns = kinds.pawns & ours
    targets = ahead(pawns & ~node.pinned, white) & allowed
    held_back = pawns & node.pinned
    while held_back:
        targets |= allowed_to(node, lowest(held_back), ahead(bit(lowest(held_back)), white) & allowed)
        held_back = without_lowest(held_back)
    n += popcount(targets) + popcount(targets & node.zone) - popcount(targets & node.last)
    men = kinds.lances & ours
    while men:
        source = lowest(men)
        n += _promoting(node, source, allowed_to(node, source, lance_attacks(white, source, occupied) & allowed), node.last)
        men = without_lowest(men)
    men = kinds.knights & ours & ~node.pinned
    while men:
        source = lowest(men)
        n += _promoting(node, source, steps_from(white, KNIGHT, source) & allowed, node.last_two)
        men = without_lowest(men)
    men = kinds.silvers & ours
    while men:
        source = lowest(men)
        n += _promoting(node, source, allowed_to(node, source, steps_from(white, SILVER, source) & allowed), EMPTY)
        men = without_lowest(men)
    men = kinds.golds & ours
    while men:
        source = lowest(men)
        n += popcount(allowed_to(node, source, steps_from(white, GOLD, source) & allowed))
        men = without_lowest(men)
    men = kinds.bishops & ours
    while men:
        source = lowest(men)
        targets = allowed_to(node, source, bishop_attacks(source, occupied) & allowed)
        if kinds.horses & bit(source):
            n += popcount(targets | allowed_to(node, source, steps_from(white, HORSE, source) & allowed))
        else:
            n += _promoting(node, source, targets, EMPTY)
        men = without_lowest(men)
    men = kinds.rooks & ours
    while men:
        source = lowest(men)
        targets = allowed_to(node, source, rook_attacks(source, occupied) & allowed)
        if kinds.dragons & bit(source):
            n += popcount(targets | allowed_to(node, source, steps_from(white, DRAGON, source) & allowed))
        else:
            n += _promoting(node, source, targets, EMPTY)
        men = without_lowest(men)

    empty = node.answers & ~occupied & BOARD
    if empty:
        if held(p.hands, white, PAWN):
            n += popcount(pawn_targets(kinds, node, empty))
        if held(p.hands, white, LANCE):
            n += popcount(empty & ~node.last)
        if held(p.hands, white, KNIGHT):
            n += popcount(empty & ~node.last_two)
        others = 0
        for kind in range(SILVER, GOLD + 1):
            others += held(p.hands, white, kind) != 0
        n += others * popcount(empty)
    return n


_perft = make_perft(inner, position_type, generate, make, count_moves)


@entry(types.int64(words_type, types.int64, types.boolean, rows_type))
def _perft_from(words, depth, bulk, moves):
    return _perft(load(words), depth, bulk, moves)


def perft(words: np.ndarray, depth: int, bulk: bool = True) -> int:
    """Count the sequences of `depth` legal moves; `bulk` counts the last ply without making its moves."""
    return count_sequences(_perft_from, words, depth, bulk, MAX_MOVES)
