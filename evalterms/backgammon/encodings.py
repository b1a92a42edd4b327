"""Inputs of networks: counts of the raw board, of both sides instead of their
difference.

An input is a count times its unit. `tesauro198` is that of TD-Gammon: both players, then who rolls
next; outputs are for the first player. `perspective196` has the side that rolls next and its
opponent; outputs are for the side that rolls next."""

from pathlib import Path

import numpy as np
from numba.core import types

from evalterms.backgammon.points import count_points, points
from evalterms.backgammon.view import CORE, WORDS, across, first_side, second_side, side_type
from evalterms.framework.emit import count_at, count_emitter, count_emitter_type, sources_of
from evalterms.framework.encoding import Encoding, native
from evalterms.term import row_function
from games.compile import jit

UNIT = jit.Unit("encodings-backgammon", lambda: sources_of(Path(__file__).parent), salt=CORE.name)
SIDE = points.size
UNITS = np.tile([1, 1, 1, 0.5], 24).tolist() + [0.5, 1 / 15]  # of a side
row_of = row_function(WORDS)
ABOUT = (
    "for each point, as the side numbers them: 1 with a checker, 1 with two, 1 with three, and"
    " those beyond three; checkers on the bar; checkers off"
)


@UNIT.inner(types.void(side_type, side_type, count_emitter_type))
def both(us, them, emit):
    """Count the checkers of two sides, each from its own point of view."""
    count_points(us, across(them), count_at(emit, 0))
    count_points(them, across(us), count_at(emit, SIDE))


@UNIT.entry(native)
def write_tesauro198(position, row):
    words = row_of(position)
    for i in range(2 * SIDE + 2):
        row[i] = np.int32(0)
    first, second = first_side(words), second_side(words)
    both(first, second, count_emitter(row, 1))
    row[2 * SIDE + (0 if first.to_move else 1)] = np.int32(1)
    return 2 * SIDE + 2


@UNIT.entry(native)
def write_perspective196(position, row):
    words = row_of(position)
    for i in range(2 * SIDE):
        row[i] = np.int32(0)
    first, second = first_side(words), second_side(words)
    if first.to_move:
        both(first, second, count_emitter(row, 1))
    else:
        both(second, first, count_emitter(row, 1))
    return 2 * SIDE


OF_THE_BOARD = ("points",)
UNITS_OF_TERMS: dict[str, float] = {
    "race.crossovers": 1 / 16,
    "race.gaps": 1 / 4,
    "race.wasted": 1 / 4,
    "safety.shots": 1 / 16,
    "structure.stacked": 1 / 4,
}
ENCODINGS = {
    each.name: each
    for each in (
        Encoding(
            "tesauro198",
            np.array(2 * UNITS + [1, 1]),
            False,
            write_tesauro198,
            f"{ABOUT}; of the first player, then of the second; then 1 if the first player rolls"
            " next, 1 if the second does",
        ),
        Encoding(
            "perspective196",
            np.array(2 * UNITS),
            True,
            write_perspective196,
            f"{ABOUT}; of the side that rolls next, then of its opponent",
        ),
    )
}
