"""Generate legal moves."""

from __future__ import annotations

import numpy as np
from numba.core import types

from games.shogi.attacks import (
    BISHOP,
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
from games.shogi.moves import NOWHERE, PROMOTION, make, pack_move
from games.shogi.node import (
    allowed_to,
    attacked_by,
    node_of,
    node_type,
    pawn_targets,
)
from games.shogi.position import (
    held,
    kind_at,
    kinds_of,
    load,
    position_type,
    store,
    words_type,
)
from games.shogi.squares import BOARD, EMPTY, bit, lowest, squares_type, without_lowest
from games.shogi.unit import entry, inner

MAX_MOVES = 600  # no position has more than 593
moves_type = types.Array(types.uint32, 1, "C")


@inner(types.int64(position_type, moves_type, types.int64, types.int64, squares_type, types.int64, node_type, types.boolean,
                   squares_type))
def _add(p, moves, n, source, targets, kind, node, noisy, forced):
    """Write the moves of one man that may promote; it must where `forced`. Noisy ones: captures and promotions only."""
    inside = bool(bit(source) & node.zone)
    while targets:
        target = lowest(targets)
        captured = kind_at(p, target)
        move = pack_move(source, target, kind, captured)
        if inside or bit(target) & node.zone:
            moves[n] = move | PROMOTION
            n += 1
        if not (bit(target) & forced) and (captured != 0 or not noisy):
            moves[n] = move
            n += 1
        targets = without_lowest(targets)
    return n


@inner(types.int64(position_type, moves_type, types.int64, types.int64, squares_type, types.int64))
def _add_plain(p, moves, n, source, targets, kind):
    """Write the moves of one man that cannot promote."""
    while targets:
        target = lowest(targets)
        moves[n] = pack_move(source, target, kind, kind_at(p, target))
        n += 1
        targets = without_lowest(targets)
    return n


@inner(types.int64(moves_type, types.int64, squares_type, types.int64))
def _add_drops(moves, n, targets, kind):
    while targets:
        moves[n] = pack_move(NOWHERE, lowest(targets), kind, 0)
        n += 1
        targets = without_lowest(targets)
    return n


@inner(types.int64(position_type, types.boolean, moves_type))
def generate(p, noisy, moves):
    """Write all legal moves, or only captures and promotions, to `moves` (MAX_MOVES,); returns their number."""
    kinds = kinds_of(p)
    node = node_of(p, kinds)
    white, ours, theirs, occupied = node.white, node.ours, node.theirs, node.occupied
    n = 0
    if node.king >= 0:
        targets = steps_from(white, KING, node.king) & (theirs if noisy else ~ours)
        if targets:
            targets &= ~attacked_by(kinds, theirs, 1 - white, occupied ^ bit(node.king))
            n = _add_plain(p, moves, n, node.king, targets, KING)
    if not node.answers:
        return n
    allowed = node.answers & ~ours
    wanted = allowed & (theirs | node.zone) if noisy else allowed  # of men outside the zone
    men = kinds.pawns & ours & ahead(wanted, 1 - white)
    while men:
        source = lowest(men)
        targets = allowed_to(node, source, ahead(bit(source), white) & wanted)
        n = _add(p, moves, n, source, targets, PAWN, node, noisy, node.last)
        men = without_lowest(men)
    men = ours & (kinds.lances | kinds.knights | kinds.silvers | (kinds.bishops | kinds.rooks) & ~p.bit3)
    while men:
        source = lowest(men)
        here = bit(source)
        men = without_lowest(men)
        kind, forced = kind_at(p, source), EMPTY
        if kind == LANCE:
            targets, forced = lance_attacks(white, source, occupied), node.last
        elif kind == KNIGHT:
            targets, forced = steps_from(white, KNIGHT, source), node.last_two
        elif kind == SILVER:
            targets = steps_from(white, SILVER, source)
        elif kind == BISHOP:
            targets = bishop_attacks(source, occupied)
        else:
            targets = rook_attacks(source, occupied)
        targets = allowed_to(node, source, targets & (allowed if here & node.zone else wanted))
        n = _add(p, moves, n, source, targets, kind, node, noisy, forced)
    final = allowed & theirs if noisy else allowed
    men = ours & (kinds.golds | kinds.horses | kinds.dragons)
    while men:
        source = lowest(men)
        kind = kind_at(p, source)
        if kind == HORSE:
            targets = bishop_attacks(source, occupied) | steps_from(white, HORSE, source)
        elif kind == DRAGON:
            targets = rook_attacks(source, occupied) | steps_from(white, DRAGON, source)
        else:
            targets = steps_from(white, GOLD, source)
        n = _add_plain(p, moves, n, source, allowed_to(node, source, targets & final), kind)
        men = without_lowest(men)
    if noisy:
        return n
    empty = node.answers & ~occupied & BOARD
    if not empty:
        return n
    for kind in range(PAWN, GOLD + 1):
        if held(p.hands, white, kind):
            targets = empty
            if kind == PAWN:
                targets = pawn_targets(kinds, node, empty)
            elif kind == LANCE:
                targets &= ~node.last
            elif kind == KNIGHT:
                targets &= ~node.last_two
            n = _add_drops(moves, n, targets, kind)
    return n


@entry(types.int64(words_type, types.boolean, moves_type))
def legal_moves(words, noisy, moves):
    """Write the legal moves (noisy: captures and promotions only) of a position to `moves`; returns their number."""
    return generate(load(words), noisy, moves)


@entry(types.void(words_type, types.int64, words_type))
def play(words, move, after):
    """Write the position after a legal move to `after`."""
    store(after, make(load(words), move))


def moves_of(words: np.ndarray) -> list[int]:
    """Return the legal moves of a position (15,)."""
    moves = np.empty(MAX_MOVES, np.uint32)
    return [int(move) for move in moves[:legal_moves(words, False, moves)]]


def has_moves(words: np.ndarray) -> bool:
    """Whether the side to move has a legal move."""
    return legal_moves(words, False, np.empty(MAX_MOVES, np.uint32)) > 0
