"""The order of moves against a plain selection sort of moves and scores."""

import numpy as np
from numba.core import types

from games.search.ordering import (
    LANES,
    MIN_WORD,
    bring_forward,
    greatest,
    list_type,
    move_of,
    pad,
    place_of,
    score_of,
    scored,
)
from tests.games.support import unit_of


@unit_of(__file__).entry(
    types.void(types.Array(types.int64, 1, "C"), types.Array(types.int64, 1, "C"), list_type)
)
def in_order(moves, scores, words):
    """Write the words of the moves to `words`, which is LANES longer, best first."""
    n = len(moves)
    for i in range(n):
        words[i] = scored(moves[i], i, scores[i])
    pad(words, n)
    for i in range(n):
        bring_forward(words, greatest(words, i, n), i)


def by_selection(moves: list[int], scores: list[int]) -> list[tuple[int, int]]:
    """Moves with their scores: the first of the best is swapped with the first move left, and so
    on."""
    pairs = list(zip(moves, scores, strict=True))
    for i in range(len(pairs)):
        best = max(range(i, len(pairs)), key=lambda k: (pairs[k][1], -k))
        pairs[i], pairs[best] = pairs[best], pairs[i]
    return pairs


def test_moves_come_in_the_order_of_a_selection_sort_ties_included():
    random = np.random.default_rng(3)
    for n in [*range(20), 31, 64, 100, 218, 593, 1024 - LANES]:
        for spread in (1, 3, 1 << 14, (1 << 29) - 1):
            moves = random.integers(1, 1 << 24, n)
            scores = random.integers(-spread, spread + 1, n)
            words = np.zeros(n + LANES, np.int64)
            in_order(moves, scores, words)
            found = [
                (int(move_of.py_func(word)), int(score_of.py_func(word))) for word in words[:n]
            ]
            assert found == by_selection(moves.tolist(), scores.tolist())
            assert (words[n:] == MIN_WORD).all()


def test_a_word_holds_move_place_and_score():
    for move, place, score in (
        (1, 0, 0),
        ((1 << 24) - 1, 1023, -(1 << 29)),
        (77, 128, 1 << 28),
        (5, 3, -1),
    ):
        word = scored.py_func(move, place, score)
        assert (move_of.py_func(word), place_of.py_func(word), score_of.py_func(word)) == (
            move,
            place,
            score,
        )
