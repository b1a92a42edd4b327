"""What the generators of moves need of a position: checks, pins, attacked squares, where pawns may be dropped."""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np
from numba.core import types

from games.shogi.attacks import (
    KING,
    ahead,
    all_gold_attacks,
    all_king_attacks,
    all_knight_attacks,
    all_silver_attacks,
    between,
    bishop_attacks,
    lance_attacks,
    rook_attacks,
    steps_from,
    through,
    whole_files,
)
from games.shogi.position import (
    attackers,
    in_check,
    kinds_type,
    position_type,
    white_to_move,
)
from games.shogi.squares import BOARD, EMPTY, Squares, bit, lowest, of_rank, squares_type, without_lowest
from games.shogi.unit import inner

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
    found = (ahead(kinds.pawns & men, white) | all_knight_attacks(kinds.knights & men, white)
             | all_silver_attacks(kinds.silvers & men, white) | all_gold_attacks(kinds.golds & men, white)
             | all_king_attacks((kinds.kings | kinds.horses | kinds.dragons) & men))
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
    white, occupied = node.white, node.occupied | bit(square)
    king = lowest(kinds.kings & node.theirs)
    # another man than the king captures the pawn
    others = attackers(kinds, square, occupied, 1 - white) & node.theirs & ~kinds.kings
    if others:
        pinned = pinned_men(kinds, king, node.theirs, node.ours, node.occupied, 1 - white)
        free = others & (~pinned | through(king, square))
        if free:
            return False
    without_king = occupied ^ bit(king)
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


@inner(squares_type(node_type, types.int64, squares_type), forceinline=True)
def allowed_to(node, source, targets):
    """Return the targets of a man that respect its pin."""
    if node.pinned & bit(source):
        return targets & through(node.king, source)
    return targets
