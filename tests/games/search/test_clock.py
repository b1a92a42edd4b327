"""Time management: never more than is left, and more if more is left."""

import itertools

import numpy as np
import pytest
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
from games.search.searcher import SHORTEST, Clock, Limits, limits_of, limits_of_move
from tests.games.support import unit_of

REMAINING = (-1.0, 0.0, 0.001, 0.02, 0.1, 1.0, 10.0, 60.0, 7200.0, 1e15)
INCREMENTS = (0.0, 0.01, 2.0, 1e15)
MOVES = (None, 1, 2, 29, 30, 31, 1000)
OVERHEADS = (0.0, 0.01, 5.0)
CASES = list(itertools.product(REMAINING, INCREMENTS, MOVES, OVERHEADS))


def test_a_move_takes_no_more_than_is_left_and_usually_less_than_at_most():
    for remaining, increment, moves, overhead in CASES:
        limits = limits_of(Clock(remaining, increment, moves), overhead)
        assert (
            SHORTEST <= limits.soft_seconds <= limits.seconds <= max(SHORTEST, remaining - overhead)
        )
        assert (limits.depth, limits.nodes) == (Limits().depth, Limits().nodes)


def test_more_time_is_never_used_worse():
    for more in (0.01, 1.0, 100.0):
        for remaining, increment, moves, overhead in CASES:
            less, rich = (
                limits_of(Clock(r, increment, moves), overhead)
                for r in (remaining, remaining + more)
            )
            assert less.soft_seconds <= rich.soft_seconds and less.seconds <= rich.seconds
            rich = limits_of(Clock(remaining, increment + more, moves), overhead)
            assert less.soft_seconds <= rich.soft_seconds and less.seconds <= rich.seconds


def test_the_last_move_before_a_time_control_takes_most_of_the_time_and_the_first_of_many_little():
    last, first = limits_of(Clock(10.0, 0.0, 1), 0.0), limits_of(Clock(10.0, 0.0, 40), 0.0)
    assert last.soft_seconds > 5 and first.soft_seconds < 0.5


@pytest.mark.parametrize(
    "base, increment, control",
    [
        (1.0, 0.01, None),
        (0.1, 0.01, None),
        (60.0, 0.0, None),
        (10.0, 0.1, None),
        (5.0, 0.0, 40),
        (1.0, 0.0, 10),
        (0.5, 0.02, 1),
    ],
)
def test_no_game_is_lost_on_time_even_if_every_move_takes_the_most_it_may(base, increment, control):
    """The overhead allowed for is 10 ms, the real one is 4."""
    clock, most = base, 300 if increment or control else 100
    for move in range(most):
        left = control and control - move % control
        clock -= limits_of(Clock(clock, increment, left), 0.01).seconds + 0.004
        assert clock > 0, move
        clock += increment + (base if left == 1 else 0)


def test_a_game_at_the_usual_pace_uses_most_of_its_time():
    clock = 60.0
    for _ in range(60):
        clock -= limits_of(Clock(clock), 0.01).soft_seconds * 1.5
    assert 3 < clock < 30


@pytest.mark.parametrize(
    "seconds, overhead, wanted",
    [(1.0, 0.01, 0.99), (0.01, 0.01, 0.005), (0.0, 0.01, SHORTEST), (1e15, 0.0, 1e15)],
)
def test_a_time_for_one_move_is_used_up_less_the_overhead(seconds, overhead, wanted):
    limits = limits_of_move(seconds, overhead)
    assert (limits.seconds, limits.soft_seconds) == (pytest.approx(wanted), None)


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
