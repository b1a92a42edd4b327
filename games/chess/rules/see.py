"""Static exchange evaluation (SEE): the material that a capture wins after all recaptures on its
square."""

import numpy as np
from numba.core import types

from games.bits import EMPTY, bit, lowest
from games.chess.rules import inner
from games.chess.rules.attacks import (
    bishop_attacks,
    king_attacks,
    knight_attacks,
    pawn_attacks_from,
    rook_attacks,
)
from games.chess.rules.position import (
    BISHOP,
    EN_PASSANT,
    KING,
    KNIGHT,
    PAWN,
    QUEEN,
    ROOK,
    black_to_move,
    move_captured,
    move_flag,
    move_kind,
    move_promotion,
    move_source,
    move_target,
    position_type,
)
from games.compile import jit

see_value = jit.table("chess_see_values", np.array([0, 100, 300, 300, 500, 900, 10000], np.int64))


@inner(types.int64(position_type, types.uint64))
def _least_valuable(p, pieces):
    """The kind of the least valuable piece in a set that is not empty."""
    if pieces & p.pawns:
        return PAWN
    if pieces & p.knights:
        return KNIGHT
    if pieces & p.bishops:
        return BISHOP
    if pieces & p.rooks:
        return ROOK
    return QUEEN if pieces & p.queens else KING


@inner(types.uint64(position_type, types.int64))
def _of_kind(p, kind):
    if kind == PAWN:
        return p.pawns
    if kind == KNIGHT:
        return p.knights
    if kind == BISHOP:
        return p.bishops
    if kind == ROOK:
        return p.rooks
    return p.queens if kind == QUEEN else p.kings


@inner(types.boolean(position_type, types.int64, types.int64))
def see_reaches(p, move, threshold):
    """Whether the SEE of a capture or promotion is at least `threshold` (a pawn is 100).

    Both sides recapture with their least valuable piece and stop as soon as the balance suits them,
    which decides the comparison exactly. Pins are ignored."""
    kind, promotion = move_kind(move), move_promotion(move)
    balance = see_value(move_captured(move)) - threshold
    at_stake = see_value(kind)
    if promotion:
        at_stake = see_value(promotion)
        balance += at_stake - see_value(PAWN)
    if balance >= at_stake:
        return True
    black = black_to_move(p)
    square = move_target(move)
    occupied = (p.white | p.black) & ~bit(move_source(move)) | bit(square)
    if move_flag(move) == EN_PASSANT:
        occupied &= ~bit(square + 8 if black else square - 8)
    diagonal, straight = p.bishops | p.queens, p.rooks | p.queens
    steps = (
        knight_attacks(square) & p.knights
        | king_attacks(square) & p.kings
        | pawn_attacks_from(square, True) & p.pawns & p.white
        | pawn_attacks_from(square, False) & p.pawns & p.black
    )
    ours_to_move = False
    while True:
        if (balance >= 0) == ours_to_move:
            return ours_to_move
        around = (
            steps
            | bishop_attacks(square, occupied) & diagonal
            | rook_attacks(square, occupied) & straight
        ) & occupied
        blacks = black == ours_to_move
        mine = around & (p.black if blacks else p.white)
        if mine == EMPTY:
            return not ours_to_move
        least = _least_valuable(p, mine)
        if least == KING and around & (p.white if blacks else p.black):
            return not ours_to_move
        balance += at_stake if ours_to_move else -at_stake
        at_stake = see_value(least)
        occupied &= ~bit(lowest(mine & _of_kind(p, least)))
        ours_to_move = not ours_to_move
