"""Declaration of a win by 27 points (rules of the CSA): the king has entered the enemy camp with
enough men."""

import numpy as np
from numba.core import types

from games.record import Line
from games.shogi.rules import entry, inner
from games.shogi.rules.attacks import BISHOP, PAWN, ROOK
from games.shogi.rules.movegen import ZONE_OF_BLACK, ZONE_OF_WHITE, has_moves
from games.shogi.rules.position import (
    CHECK,
    HANDS,
    HELD,
    KEY,
    SIDE,
    STATE,
    held,
    in_check,
    kinds_of,
    load,
    position_type,
    white_to_move,
    words_type,
)
from games.shogi.rules.squares import popcount

LARGE = 5  # points of a bishop or rook; other men have one, kings none
BLACK_POINTS, WHITE_POINTS = 28, 27
MEN = 10  # in the camp, besides the king


@inner(types.boolean(position_type))
def may_declare(p):
    """Whether the side to move wins by declaration."""
    white = np.int64(1) if white_to_move(p) else np.int64(0)
    inside = p.white & ZONE_OF_WHITE if white else p.black & ZONE_OF_BLACK
    kinds = kinds_of(p)
    if not (kinds.kings & inside) or in_check(p):
        return False
    men = popcount(inside) - 1
    if men < MEN:
        return False
    points = men + (LARGE - 1) * popcount((kinds.bishops | kinds.rooks) & inside)
    for kind in range(PAWN, HELD):
        points += held(p.hands, white, kind) * (LARGE if kind == BISHOP or kind == ROOK else 1)
    return points >= (WHITE_POINTS if white else BLACK_POINTS)


@entry(types.boolean(words_type))
def declares(words):
    """Whether the side to move wins by declaration, of a position (15,)."""
    return may_declare(load(words))


MATE, DECLARATION, REPETITION, PERPETUAL_CHECK = (
    "mate",
    "declaration",
    "repetition",
    "perpetual check",
)
OCCURRENCES = 4  # of a position that end the game


def ending(line: Line) -> tuple[int, str] | None:
    """Return Black's result of a line of positions and how it came about; None while the game
    continues."""
    words = line[-1]
    mover = -1 if int(words[STATE]) & int(SIDE) else 1
    if not has_moves(words):
        return -mover, MATE
    if declares(words):
        return mover, DECLARATION
    rows = np.asarray(line)
    same = np.flatnonzero(
        (rows[:, : HANDS + 1] == words[: HANDS + 1]).all(axis=1) & (rows[:, KEY] == words[KEY])
    )
    if len(same) < OCCURRENCES:
        return None
    checks = rows[same[0] + 1 :, STATE] & CHECK != 0  # after each move since the first occurrence
    if checks[1::2].all():  # the side to move has been in check all the time
        return mover, PERPETUAL_CHECK
    return (-mover, PERPETUAL_CHECK) if checks[::2].all() else (0, REPETITION)


def result(line: Line) -> int | None:
    """Return Black's result of a line of positions; None while the game continues."""
    end = ending(line)
    return None if end is None else end[0]
