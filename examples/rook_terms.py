"""A term of one's own: what rooks do on files and behind pawns. See evalterms/README.md."""

from evalterms.chess.squares import fill_down
from evalterms.term import Term
from games.bits import lowest, popcount, without_lowest
from games.chess.rules.attacks import rook_attacks

rooks = Term("rooks")
CONNECTED = rooks.parameter("connected")  # a rook that defends another rook
BEHIND_PAWN = rooks.parameter("behind_pawn")  # a rook behind a pawn of its own


@rooks.counts
def count_rooks(us, them, emit):
    """Rooks that defend each other, and rooks that support a pawn from behind."""
    emit(BEHIND_PAWN, popcount(us.rooks & fill_down(us.pawns)))
    rest = us.rooks
    while rest:
        emit(CONNECTED, popcount(rook_attacks(lowest(rest), us.pieces | them.pieces) & us.rooks))
        rest = without_lowest(rest)
