"""Placement of knights, bishops, rooks and queens in relation to pawns and files."""

from evalterms.chess.squares import DARK, LIGHT, RANK_7, RANK_8, RANKS_4_TO_6, down, files, fill_down
from evalterms.term import Term
from games.bits import popcount

pieces = Term("pieces")
BISHOP_PAIR = pieces.parameter("bishop_pair")
BISHOP_PAWNS = pieces.parameter("bishop_pawns")
KNIGHT_OUTPOST = pieces.parameter("knight_outpost")
KNIGHT_NEAR_OUTPOST = pieces.parameter("knight_near_outpost")
BISHOP_OUTPOST = pieces.parameter("bishop_outpost")
MINOR_BEHIND_PAWN = pieces.parameter("minor_behind_pawn")
ROOK_OPEN_FILE = pieces.parameter("rook_open_file")
ROOK_HALF_OPEN_FILE = pieces.parameter("rook_half_open_file")
ROOK_SEVENTH = pieces.parameter("rook_seventh")
ROOK_QUEEN_FILE = pieces.parameter("rook_queen_file")
QUEEN_SEVENTH = pieces.parameter("queen_seventh")


@pieces.counts
def count_pieces(us, them, emit):
    """The bishop pair, bishops among own pawns of their colour, outposts, rooks on open files and the seventh."""
    if us.bishops & LIGHT and us.bishops & DARK:
        emit(BISHOP_PAIR, 1)
    emit(BISHOP_PAWNS, popcount(us.bishops & LIGHT) * popcount(us.pawns & LIGHT)
         + popcount(us.bishops & DARK) * popcount(us.pawns & DARK))
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
