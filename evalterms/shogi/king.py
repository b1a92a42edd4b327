"""Kings: attacks on the squares around them, and men by their place relative to them."""

from evalterms.shogi.view import PROMOTED_MEN, UNPROMOTED, attacks, relative_place
from evalterms.term import Term, inlined
from games.shogi.rules.attacks import KING, steps_from
from games.shogi.rules.squares import FILES, RANKS, lowest, without_lowest

king_ring = Term("king_ring")
RING = king_ring.parameter("attacked", 3, 3)


@king_ring.counts
def count_king_ring(us, them, emit):
    """Squares around our king that they attack, by their place: the first row is ahead of the
    king."""
    if us.king:
        king = lowest(us.king)
        rest = steps_from(0, KING, king) & attacks(them, us.men | them.men, 1)
        while rest:
            square = lowest(rest)
            across_files = king // RANKS - square // RANKS  # 1: to the right
            emit(RING + (king % RANKS - square % RANKS + 1) * 3 + across_files + 1, 1)
            rest = without_lowest(rest)


king_relative = Term("king_relative")
OURS, THEIRS = (
    tuple(
        king_relative.parameter(f"{whose}_{name}", 2 * RANKS - 1, FILES)
        for name in (*UNPROMOTED, *PROMOTED_MEN)
    )
    for whose in ("our", "their")
)


@inlined
def emit_relative(emit, table, men, king):
    """Count each man of a set in its table, by its place relative to our king."""
    while men:
        emit(table + relative_place(king, lowest(men)), 1)
        men = without_lowest(men)


@inlined
def emit_side(emit, tables, side, king):
    """Count all men of a side but its king."""
    emit_relative(emit, tables[0], side.pawns, king)
    emit_relative(emit, tables[1], side.lances, king)
    emit_relative(emit, tables[2], side.knights, king)
    emit_relative(emit, tables[3], side.silvers, king)
    emit_relative(emit, tables[4], side.golds, king)
    emit_relative(emit, tables[5], side.bishops, king)
    emit_relative(emit, tables[6], side.rooks, king)
    emit_relative(emit, tables[7], side.promoted_pawns, king)
    emit_relative(emit, tables[8], side.promoted_lances, king)
    emit_relative(emit, tables[9], side.promoted_knights, king)
    emit_relative(emit, tables[10], side.promoted_silvers, king)
    emit_relative(emit, tables[11], side.horses, king)
    emit_relative(emit, tables[12], side.dragons, king)


@king_relative.counts
def count_king_relative(us, them, emit):
    """All men but the kings by their place relative to our king: ranks ahead of it, and the
    distance in files."""
    if us.king:
        emit_side(emit, OURS, us, lowest(us.king))
        emit_side(emit, THEIRS, them, lowest(us.king))
