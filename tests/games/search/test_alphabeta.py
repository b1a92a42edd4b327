"""The search against plain minimax, and the guarantees of its exact mode."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats

from games.chess.fen import position
from games.record import find
from games.search.searcher import Limits
from tests.games.search.leaves import violations
from tests.games.search.plain_search import lines, plain_value
from tuner.engine.loading import load_engine

CHESS = find("chess")


@pytest.fixture(scope="module")
def classic():
    return load_engine("classic")


def searcher(classic, playing: bool, megabytes: int = 1):
    engine, parameters = classic
    return engine.searcher(parameters, playing, megabytes)


@pytest.mark.parametrize(("depth", "n"), [(1, 120), (2, 90), pytest.param(3, 20, marks=pytest.mark.long)])
def test_the_exact_value_is_that_of_plain_minimax(classic, depth, n):
    exact = searcher(classic, playing=False)
    for line in lines(depth, n):
        assert exact.search(line, Limits(depth=depth)).value == plain_value(exact, line, depth)


@pytest.mark.parametrize("params", ["classic", "pesto"])  # of which the search leaves out the terms without weights
def test_the_static_value_of_the_leaf_is_the_exact_value_of_the_root(params):
    assert violations(*load_engine(params), seed=5, n=400) == []


def test_the_size_of_the_table_and_what_is_in_it_do_not_change_exact_values(classic):
    """The smallest table keeps next to nothing; one that is never cleared has entries of every depth and game."""
    small, large = searcher(classic, playing=False, megabytes=0), searcher(classic, playing=False, megabytes=32)
    for line in lines(9, 150):
        depth = 1 + len(line) % 4
        small.clear()
        assert small.search(line, Limits(depth=depth)).value == large.search(line, Limits(depth=depth)).value


@pytest.mark.parametrize("playing", [False, True])
def test_a_search_after_clearing_is_the_same_search(classic, playing):
    first, second = searcher(classic, playing), searcher(classic, playing)
    for line in lines(10, 30):
        results = []
        for one in (first, second):
            one.clear()
            found = one.search(line, Limits(depth=5))
            results.append((found.value, found.pv, found.nodes))
        assert results[0] == results[1]


def test_a_limit_of_nodes_is_kept_but_for_the_last_quiescence(classic):
    for playing in (False, True):
        one = searcher(classic, playing)
        for nodes in (1, 50, 400, 5000):
            one.clear()
            found = one.search([CHESS.start()], Limits(nodes=nodes))
            assert found.nodes <= nodes + 200 or found.depth == 1  # which is always finished: there must be a move
            assert found.move in CHESS.legal_moves(CHESS.start())


MATES = [
    ("6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1", 1, "d1d8"),
    ("r5rk/5p1p/5R2/4B3/8/8/7P/7K w - - 0 1", 5, "f6a6"),
]


@pytest.mark.parametrize("playing", [False, True])
@pytest.mark.parametrize(("fen", "plies", "move"), MATES)
def test_a_forced_win_is_found_with_its_length(classic, fen, plies, move, playing):
    words = position(fen)
    found = searcher(classic, playing).search([words], Limits(depth=plies + (4 if playing else 1)))
    assert found.win_in == plies
    assert CHESS.move_name(words, found.move) == move


def test_no_legal_move_gives_no_move(classic):
    for playing in (False, True):
        for fen, win_in in (("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", None), ("R6k/8/6K1/8/8/8/8/8 b - - 0 1", 0)):
            found = searcher(classic, playing).search([position(fen)], Limits(depth=3))
            assert (found.move, found.win_in) == (None, win_in)
            assert found.value == 0 if win_in is None else found.value < -10_000


def test_other_weights_can_be_bound_while_the_memory_stays(classic):
    engine, parameters = classic
    one = searcher(classic, playing=False)
    before = one.search([CHESS.start()], Limits(depth=3)).value
    zero = np.zeros_like(one.weights)
    one.bind(engine.evaluation(zero)[0], zero.ctypes.data)
    assert one.search([CHESS.start()], Limits(depth=3)).value == 0 != before


def test_a_seed_chooses_among_equals_and_changes_no_value(classic):
    engine, zero = load_engine("zero")
    nothing = engine.searcher(zero, playing=False, megabytes=0)
    counts: dict[int, int] = {}
    for seed in range(1, 801):
        nothing.clear()
        nothing.choose_by(seed)
        move = nothing.search([CHESS.start()], Limits(depth=2)).move
        counts[move] = counts.get(move, 0) + 1
    assert len(counts) == 20 and scipy.stats.chisquare(list(counts.values())).pvalue > 1e-3
    exact = searcher(classic, playing=False)
    for line in lines(13, 40):
        values = set()
        for seed in (0, 1, 2):
            exact.clear()
            exact.choose_by(seed)
            values.add(exact.search(line, Limits(depth=3)).value)
        assert len(values) == 1
