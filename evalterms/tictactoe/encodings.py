"""What networks see of a position: the squares of both sides."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numba.core import types

from evalterms.framework.emit import count_at, count_emitter, count_emitter_type
from evalterms.framework.encoding import Encoding, native, sources_of
from evalterms.term import row_function
from evalterms.tictactoe.view import CORE, WORDS, first_side, second_side, second_to_move
from games.bits import lowest, without_lowest
from games.compile import jit

UNIT = jit.Unit("encodings-tictactoe", lambda: sources_of(Path(__file__).parent), salt=CORE.name)
SQUARES = 9
row_of = row_function(WORDS)


@UNIT.inner(types.void(types.uint64, count_emitter_type))
def emit_marks(marks, emit):
    while marks:
        emit(lowest(marks), 1)
        marks = without_lowest(marks)


@UNIT.entry(native)
def write_squares18(position, row):
    words = row_of(position)
    for i in range(2 * SQUARES):
        row[i] = np.int32(0)
    us, them = first_side(words), second_side(words)
    if second_to_move(words):
        us, them = them, us
    emit = count_emitter(row, 1)
    emit_marks(us.marks, emit)
    emit_marks(them.marks, count_at(emit, SQUARES))
    return 2 * SQUARES


ENCODINGS = {
    "squares18": Encoding(
        "squares18",
        np.ones(2 * SQUARES),
        True,
        write_squares18,
        "1 on each of the squares 1 to 9 that the side to move has, then those of the other",
    )
}
