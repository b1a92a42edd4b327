"""How a game of shogi ends: without a legal move, by declaration, by repetition or perpetual check."""

from __future__ import annotations

import numpy as np

from games.record import Line
from games.shogi.declaration import declares
from games.shogi.movegen import has_moves
from games.shogi.position import CHECK, HANDS, KEY, SIDE, STATE

MATE, DECLARATION, REPETITION, PERPETUAL_CHECK = "mate", "declaration", "repetition", "perpetual check"
OCCURRENCES = 4  # of a position that end the game


def ending(line: Line) -> tuple[int, str] | None:
    """Return Black's result of a line of positions and how it came about; None while the game continues."""
    words = line[-1]
    mover = -1 if int(words[STATE]) & int(SIDE) else 1
    if not has_moves(words):
        return -mover, MATE
    if declares(words):
        return mover, DECLARATION
    rows = np.asarray(line)
    same = np.flatnonzero((rows[:, :HANDS + 1] == words[:HANDS + 1]).all(axis=1) & (rows[:, KEY] == words[KEY]))
    if len(same) < OCCURRENCES:
        return None
    checks = rows[same[0] + 1:, STATE] & CHECK != 0  # after each move since the first occurrence
    if checks[1::2].all():  # the side to move has been in check all the time
        return mover, PERPETUAL_CHECK
    return (-mover, PERPETUAL_CHECK) if checks[::2].all() else (0, REPETITION)


def result(line: Line) -> int | None:
    """Return Black's result of a line of positions; None while the game continues."""
    found = ending(line)
    return None if found is None else found[0]
