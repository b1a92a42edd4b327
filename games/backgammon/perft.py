"""Count the afterstates of all rolls of positions: the move generator alone, without writing moves for Python."""

from __future__ import annotations

import numpy as np
from numba.core import types

from games.addresses import address_of
from games.backgammon.afterstates import MOST, STRIDE, afterstates_of
from games.backgammon.board import TURN, WORDS, words_type
from games.backgammon.unit import entry

ROLLS = 6


@entry(types.int64(words_type, types.int64, words_type, words_type))
def _counted(positions, n, out, scratch):
    total = 0
    for k in range(n):
        turn = 2 * np.int64(positions[WORDS * k + 4] & TURN)
        for larger in range(1, ROLLS + 1):
            for smaller in range(1, larger + 1):
                for i in range(4):
                    out[i] = positions[WORDS * k + ((i + turn) & 3)]
                total += afterstates_of(address_of(out), address_of(scratch), larger, smaller)
    return total


def counted(positions: np.ndarray) -> int:
    """Return the number of afterstates of all 21 rolls of positions (n, 5), a pass counted as one."""
    out, scratch = np.empty(MOST * STRIDE, np.uint64), np.empty(MOST * STRIDE, np.uint64)
    return int(_counted(np.ascontiguousarray(positions).ravel(), len(positions), out, scratch))
