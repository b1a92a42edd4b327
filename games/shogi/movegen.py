"""Generate legal moves."""

from __future__ import annotations

from typing import NamedTuple

import numba
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
    between,
    bishop_attacks,
    lance_attacks,
    rook_attacks,
    steps_from,
    through,
    whole_files,
)
from games.shogi.moves import NOWHERE, PROMOTION, make, pack_move
from games.shogi.position import (
    attackers,
    held,
    in_check,
    kind_at,
    kinds_of,
    kinds_type,
    load,
    position_type,
    store,
    white_to_move,
    words_type,
)
from games.shogi.squares import BOARD, EMPTY, Squares, lowest, of_rank, one, squares_type, without_lowest
from games.shogi.unit import entry, inner

MAX_MOVES = 600  # no position has more than 593
moves_type = types.Array(types.uint32, 1, "C")
# where men of Black's, then of White's, promote; the ranks from which a lance or pawn, and a knight, could not move on
ZONE_OF_BLACK, ZONE_OF_WHITE = of_rank(0) | of_rank(1) | of_rank(2), of_rank(6) | of_rank(7) | of_rank(8)
LAST_OF_BLACK, LAST_OF_WHITE = of_rank(0), of_rank(8)
LAST_TWO_OF_BLACK, LAST_TWO_OF_WHITE = of_rank(0) | of_rank(1), of_rank(7) | of_rank(8)


class Node(NamedTuple):
    """What the generators need of a position: who moves, the sets of both sides, and the restrictions by checks and pins."""

    white: np.int64
    king: np.int64  # square of the own king, -1 without one
    ours: Squares
    theirs: Squares
    occupied: Squares
    pinned: Squares
    answers: Squares  # squares that parry all checks
    zone: Squares  # where own men promote
    last: Squares  # where pawns and lances must promote
    last_two: Squares  # where knights must promote


_ZERO = np.int64(0)
node_type = numba.typeof(Node(_ZERO, _ZERO, *[EMPTY] * 8))


@inner(squares_type(kinds_type, squares_type, types.int64, squares_type))
def attacked_by(kinds, men, white, occupied):
    """Return the squares that the men of one side attack if `occupied` blocks the lines."""
    found = ahead(kinds.pawns & men, white)
    rest = kinds.knights & men
    while rest:
        found |= steps_from(white, KNIGHT, lowest(rest))
        rest = without_lowest(rest)
    rest = kinds.silvers & men
    while rest:
        found |= steps_from(white, SILVER, lowest(rest))
        rest = without_lowest(rest)
    rest = kinds.golds & men
    while rest:
        found |= steps_from(white, GOLD, lowest(rest))
        rest = without_lowest(rest)
    rest = kinds.lances & men
    while rest:
        found |= lance_attacks(white, lowest(rest), occupied)
        rest = without_lowest(rest)
    rest = kinds.bishops & men
    while rest:
        found |= bishop_attacks(lowest(rest), occupied)
        rest = without_lowest(rest)
    rest = kinds.rooks & men
    while rest:
        found |= rook_attacks(lowest(rest), occupied)
        rest = without_lowest(rest)
    rest = (kinds.kings | kinds.horses | kinds.dragons) & men
    while rest:
        found |= steps_from(white, KING, lowest(rest))
        rest = without_lowest(rest)
    return found


@inner(squares_type(kinds_type, types.int64, squares_type, squares_type, squares_type, types.int64))
def pinned_men(kinds, king, ours, theirs, occupied, white):
    """Return the men of one side that alone block a line to their king."""
    snipers = (rook_attacks(king, theirs) & kinds.rooks | bishop_attacks(king, theirs) & kinds.bishops
               | lance_attacks(white, king, theirs) & kinds.lances) & theirs
    pinned = EMPTY
    while snipers:
        blockers = between(king, lowest(snipers)) & occupied
        if blockers and not without_lowest(blockers):
            pinned |= blockers
        snipers = without_lowest(snipers)
    return pinned & ours


@inner(node_type(position_type, kinds_type))
def node_of(p, kinds):
    """Find checks and pins once for a position."""
    white = np.int64(1) if white_to_move(p) else np.int64(0)
    ours, theirs = (p.white, p.black) if white else (p.black, p.white)
    occupied = ours | theirs
    own_king = kinds.kings & ours
    king, pinned, answers = np.int64(-1), EMPTY, BOARD
    if own_king:
        king = lowest(own_king)
        pinned = pinned_men(kinds, king, ours, theirs, occupied, white)
        if in_check(p):
            checkers = attackers(kinds, king, occupied, 1 - white) & theirs
            answers = EMPTY if without_lowest(checkers) else between(king, lowest(checkers)) | checkers
    return Node(white, king, ours, theirs, occupied, pinned, answers, ZONE_OF_WHITE if white else ZONE_OF_BLACK,
                LAST_OF_WHITE if white else LAST_OF_BLACK, LAST_TWO_OF_WHITE if white else LAST_TWO_OF_BLACK)


@inner(types.boolean(kinds_type, node_type, types.int64))
def drop_mates(kinds, node, square):
    """Whether a pawn dropped in front of the enemy king mates."""
    white, occupied = node.white, node.occupied | one(square)
    king = lowest(kinds.kings & node.theirs)
    # another man than the king captures the pawn
    others = attackers(kinds, square, occupied, 1 - white) & node.theirs & ~kinds.kings
    if others:
        pinned = pinned_men(kinds, king, node.theirs, node.ours, node.occupied, 1 - white)
        free = others & (~pinned | through(king, square))
        if free:
            return False
    without_king = occupied ^ one(king)
    escapes = steps_from(white, KING, king) & ~node.theirs
    while escapes:
        if not attackers(kinds, lowest(escapes), without_king, white) & node.ours:
            return False
        escapes = without_lowest(escapes)
    return True


@inner(squares_type(kinds_type, node_type, squares_type))
def pawn_targets(kinds, node, targets):
    """Return those squares among `targets` where a pawn may be dropped."""
    targets &= ~(whole_files(kinds.pawns & node.ours) | node.last)
    front = ahead(kinds.kings & node.theirs, 1 - node.white) & targets
    if front and drop_mates(kinds, node, lowest(front)):
        targets ^= front
    return targets


@inner(types.int64(position_type, moves_type, types.int64, types.int64, squares_type, types.int64, node_type, types.boolean,
                   squares_type))
def _add(p, moves, n, source, targets, kind, node, noisy, forced):
    """Write the moves of one man that may promote; it must where `forced`. Noisy ones: captures and promotions only."""
    inside = bool(one(source) & node.zone)
    while targets:
        target = lowest(targets)
        captured = kind_at(p, target)
        move = pack_move(source, target, kind, captured)
        if inside or one(target) & node.zone:
            moves[n] = move | PROMOTION
            n += 1
        if not (one(target) & forced) and (captured != 0 or not noisy):
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


@inner(squares_type(node_type, types.int64, squares_type), forceinline=True)
def allowed_to(node, source, targets):
    """Return the targets of a man that respect its pin."""
    if node.pinned & one(source):
        return targets & through(node.king, source)
    return targets


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
            targets &= ~attacked_by(kinds, theirs, 1 - white, occupied ^ one(node.king))
            n = _add_plain(p, moves, n, node.king, targets, KING)
    if not node.answers:
        return n
    allowed = node.answers & ~ours
    wanted = allowed & (theirs | node.zone) if noisy else allowed  # of men outside the zone
    men = kinds.pawns & ours & ahead(wanted, 1 - white)
    while men:
        source = lowest(men)
        targets = allowed_to(node, source, ahead(one(source), white) & wanted)
        n = _add(p, moves, n, source, targets, PAWN, node, noisy, node.last)
        men = without_lowest(men)
    men = ours & (kinds.lances | kinds.knights | kinds.silvers | (kinds.bishops | kinds.rooks) & ~p.bit3)
    while men:
        source = lowest(men)
        here = one(source)
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
