"""Perft: the number of move sequences of a given length, the standard check of a move generator;
for games without dice."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numba.core import types

MAX_DEPTH = 16
rows_type = types.Array(types.uint32, 2, "C")


def make_perft(
    inner: Callable, position_type: Any, generate: Callable, make: Callable, count_moves: Callable
) -> Callable:
    """Build perft(p, depth, bulk, rows of moves) of a game out of its rules, see
    `games.search.rules`; `count_moves` counts the legal moves without listing them."""

    @inner(types.int64(position_type, types.int64, types.boolean, rows_type))
    def perft(p, depth, bulk, moves):
        if bulk and depth == 1:
            return count_moves(p)
        if depth == 0:
            return 1
        row = moves[depth]
        total = 0
        for i in range(generate(p, False, row)):
            total += perft(make(p, np.int64(row[i])), depth - 1, bulk, moves)
        return total

    return perft


def count_sequences(perft: Callable, words: np.ndarray, depth: int, bulk: bool, most: int) -> int:
    """Call the compiled `perft(words, depth, bulk, rows of moves)` of a game with at most `most`
    legal moves."""
    if not 0 <= depth < MAX_DEPTH:
        raise ValueError(f"depth {depth} is outside 0..{MAX_DEPTH - 1}")
    return int(perft(words, depth, bulk, np.empty((MAX_DEPTH, most), np.uint32)))
