"""Placement and mobility of knights, bishops, rooks and queens, and space."""

import numpy as np

from evalterms.chess.squares import (
    CENTRE_FILES,
    DARK,
    LIGHT,
    RANK_7,
    RANK_8,
    RANKS_2_TO_4,
    RANKS_4_TO_6,
    down,
    files,
    fill_down,
)
from evalterms.term import Term
from games.bits import lowest, popcount, without_lowest
from games.chess.rules.attacks import bishop_attacks, knight_attacks, rook_attacks

pieces = Term("pieces")
BISHOP_PAIR, BISHOP_PAWNS, KNIGHT_OUTPOST, KNIGHT_NEAR_OUTPOST, BISHOP_OUTPOST = pieces.declare(
    "bishop_pair bishop_pawns knight_outpost knight_near_outpost bishop_outpost"
)
MINOR_BEHIND_PAWN, ROOK_OPEN_FILE, ROOK_HALF_OPEN_FILE, ROOK_SEVENTH = pieces.declare(
    "minor_behind_pawn rook_open_file rook_half_open_file rook_seventh"
)
ROOK_QUEEN_FILE, QUEEN_SEVENTH = pieces.declare("rook_queen_file queen_seventh")


@pieces.counts
def count_pieces(us, them, emit):
    """The bishop pair, bishops among own pawns of their color, outposts, rooks on open files and
    the seventh."""
    if us.bishops & LIGHT and us.bishops & DARK:
        emit(BISHOP_PAIR, 1)
    emit(
        BISHOP_PAWNS,
        popcount(us.bishops & LIGHT) * popcount(us.pawns & LIGHT)
        + popcount(us.bishops & DARK) * popcount(us.pawns & DARK),
    )
    outposts = RANKS_4_TO_6 & us.pawn_attacks & ~fill_down(them.pawn_attacks)
    emit(KNIGHT_OUTPOST, popcount(us.knights & outposts))
    emit(KNIGHT_NEAR_OUTPOST, popcount(us.knight_attacks & outposts & ~us.pieces))
    emit(BISHOP_OUTPOST, popcount(us.bishops & outposts))
    emit(MINOR_BEHIND_PAWN, popcount((us.knights | us.bishops) & down(us.pawns | them.pawns)))

    without_ours = ~files(us.pawns)
    without_any = without_ours & ~files(them.pawns)
    emit(ROOK_OPEN_FILE, popcount(us.rooks & without_any))
    emit(ROOK_HALF_OPEN_FILE, popcount(us.rooks & without_ours & ~without_any))
    emit(ROOK_QUEEN_FILE, popcount(us.rooks & files(us.queens | them.queens)))
    if them.pawns & RANK_7 or them.king & RANK_8:
        emit(ROOK_SEVENTH, popcount(us.rooks & RANK_7))
        emit(QUEEN_SEVENTH, popcount(us.queens & RANK_7))


mobility = Term("mobility")
KNIGHT = mobility.parameter("knight", 9)
BISHOP = mobility.parameter("bishop", 14)
ROOK = mobility.parameter("rook", 15)
QUEEN = mobility.parameter("queen", 28)


@mobility.counts
def count_mobility(us, them, emit):
    """Squares reached by each piece, except those of own pawns and king and those attacked by enemy
    pawns."""
    useful = ~(us.pawns | us.king | them.pawn_attacks)
    occupied = us.pieces | them.pieces
    rest = us.knights
    while rest:
        emit(KNIGHT + popcount(knight_attacks(lowest(rest)) & useful), 1)
        rest = without_lowest(rest)
    rest = us.bishops
    while rest:
        emit(BISHOP + popcount(bishop_attacks(lowest(rest), occupied) & useful), 1)
        rest = without_lowest(rest)
    rest = us.rooks
    while rest:
        emit(ROOK + popcount(rook_attacks(lowest(rest), occupied) & useful), 1)
        rest = without_lowest(rest)
    rest = us.queens
    while rest:
        reached = bishop_attacks(lowest(rest), occupied) | rook_attacks(lowest(rest), occupied)
        emit(QUEEN + popcount(reached & useful), 1)
        rest = without_lowest(rest)


space = Term("space")
SAFE_SQUARES, BEHIND_PAWNS, TEMPO = space.declare("safe_squares behind_pawns tempo")


@space.counts
def count_space(us, them, emit):
    """Safe squares on our side of the center files, those among them behind our pawns, and the side
    to move."""
    safe = CENTRE_FILES & RANKS_2_TO_4 & ~us.pawns & ~them.pawn_attacks
    emit(SAFE_SQUARES, popcount(safe))
    emit(BEHIND_PAWNS, popcount(safe & fill_down(down(us.pawns)) & ~them.attacks))
    emit(TEMPO, np.int64(us.to_move))
