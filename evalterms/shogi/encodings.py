"""Inputs of networks for shogi, from the side to move, which moves up the board; outputs
are for that side, and positions with sides exchanged have the same counts.

    men2282  for each side, ours first: the squares of each of the fourteen kinds of men, 81 each,
             and the number of each of the seven kinds in hand
"""

from pathlib import Path

import numpy as np
from numba.core import types

from evalterms.framework.emit import count_at, count_emitter, count_emitter_type, sources_of
from evalterms.framework.encoding import Encoding, native
from evalterms.shogi.view import PROMOTED_MEN, UNPROMOTED, across, place_of, side_to_view, side_type
from evalterms.term import row_function
from games.compile import jit
from games.shogi.rules import CORE
from games.shogi.rules.position import MAX_MEN, WORDS, held, load, position_type, white_to_move
from games.shogi.rules.squares import SQUARES, lowest, squares_type, without_lowest

UNIT = jit.Unit("encodings-shogi", lambda: sources_of(Path(__file__).parent), salt=CORE.name)
KINDS, HELD = 14, 7
SIDE = KINDS * SQUARES + HELD  # counts of a side
row_of = row_function(WORDS)


@UNIT.inner(types.void(squares_type, count_emitter_type), forceinline=True)
def emit_squares(men, emit):
    """Count the square of each man of a set."""
    while men:
        emit(place_of(lowest(men)), 1)
        men = without_lowest(men)


@UNIT.inner(types.void(position_type, types.boolean, side_type, count_emitter_type))
def emit_side(p, white, side, emit):
    """Count the men and the hand of a side, as it is seen."""
    emit_squares(side.pawns, emit)
    emit_squares(side.lances, count_at(emit, SQUARES))
    emit_squares(side.knights, count_at(emit, 2 * SQUARES))
    emit_squares(side.silvers, count_at(emit, 3 * SQUARES))
    emit_squares(side.golds, count_at(emit, 4 * SQUARES))
    emit_squares(side.bishops, count_at(emit, 5 * SQUARES))
    emit_squares(side.rooks, count_at(emit, 6 * SQUARES))
    emit_squares(side.king, count_at(emit, 7 * SQUARES))
    emit_squares(side.promoted_pawns, count_at(emit, 8 * SQUARES))
    emit_squares(side.promoted_lances, count_at(emit, 9 * SQUARES))
    emit_squares(side.promoted_knights, count_at(emit, 10 * SQUARES))
    emit_squares(side.promoted_silvers, count_at(emit, 11 * SQUARES))
    emit_squares(side.horses, count_at(emit, 12 * SQUARES))
    emit_squares(side.dragons, count_at(emit, 13 * SQUARES))
    for kind in range(1, HELD + 1):
        number = held(p.hands, white, kind)
        if number:
            emit(KINDS * SQUARES + kind - 1, number)


@UNIT.entry(native)
def write_men2282(position, row):
    for i in range(2 * SIDE):
        row[i] = np.int32(0)
    p, emit = load(row_of(position)), count_emitter(row, 1)
    white = white_to_move(p)
    emit_side(p, white, side_to_view(p, white), emit)
    emit_side(p, not white, across(side_to_view(p, not white)), count_at(emit, SIDE))
    return 2 * SIDE


_UNITS = [1.0] * (KINDS * SQUARES) + [1 / MAX_MEN[kind] for kind in range(1, HELD + 1)]
OF_THE_BOARD = ("material", "promoted", "hand", "piece_square", "king_relative")
UNITS_OF_TERMS: dict[str, float] = {}
ENCODINGS = {
    "men2282": Encoding(
        "men2282",
        np.array(2 * _UNITS),
        True,
        write_men2282,
        f"1 at each man: 81 squares for each of {', '.join((*UNPROMOTED, 'king'))},"
        f" {', '.join(PROMOTED_MEN)}, from rank i to rank a, file 9 first, seen from the side to"
        " move; then the numbers in hand of pawn, lance, knight, silver, bishop, rook, gold; first"
        " ours, then theirs",
    )
}
