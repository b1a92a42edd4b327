"""The search against plain minimax, and the guarantees of its exact mode."""

import numpy as np
import pytest
import scipy.stats

from games.chess.files.fen import position
from games.chess.game import GAME, after, moves_of, result
from games.record import find
from games.search.alphabeta_searcher import search_root_moves
from games.search.context import CONSTANTS
from games.search.searcher import Found, Limits, Searcher
from tests.benchmarks.speed.chess import SEARCHED
from tests.games.search.leaves import violations
from tests.games.search.plain_search import lines, plain_value
from tuner.evaluation.loading import load_engine

CHESS = find("chess")


@pytest.fixture(scope="module")
def classic():
    return load_engine("classic")


def searcher(classic, playing: bool, megabytes: int = 1):
    engine, parameters = classic
    return engine.searcher(parameters, playing, megabytes)


@pytest.mark.parametrize(
    ("depth", "n"), [(1, 120), (2, 90), pytest.param(3, 20, marks=pytest.mark.long)]
)
def test_the_exact_value_is_that_of_plain_minimax(classic, depth, n):
    exact = searcher(classic, playing=False)
    for line in lines(depth, n):
        assert exact.search(line, Limits(depth=depth)).value == plain_value(exact, line, depth)


@pytest.mark.parametrize(
    "params", ["classic", "pesto"]
)  # of which the search leaves out the terms without weights
def test_the_static_value_of_the_leaf_is_the_exact_value_of_the_root(params):
    assert violations(*load_engine(params), seed=5, n=400) == []


def test_the_size_of_the_table_and_what_is_in_it_do_not_change_exact_values(classic):
    """The smallest table keeps next to nothing; one that is never cleared has entries of every
    depth and game."""
    small, large = (
        searcher(classic, playing=False, megabytes=0),
        searcher(classic, playing=False, megabytes=32),
    )
    for line in lines(9, 150):
        depth = 1 + len(line) % 4
        small.clear()
        assert (
            small.search(line, Limits(depth=depth)).value
            == large.search(line, Limits(depth=depth)).value
        )


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
            # which is always finished: there must be a move
            assert found.nodes <= nodes + 200 or found.depth == 1
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
        for fen, win_in in (
            ("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", None),
            ("R6k/8/6K1/8/8/8/8/8 b - - 0 1", 0),
        ):
            found = searcher(classic, playing).search([position(fen)], Limits(depth=3))
            assert (found.move, found.win_in) == (None, win_in)
            assert found.value == 0 if win_in is None else found.value < -10_000


def test_other_weights_can_be_bound_while_the_memory_stays(classic):
    engine, parameters = classic
    one = searcher(classic, playing=False)
    before = one.search([CHESS.start()], Limits(depth=3)).value
    zero = np.zeros_like(one.weights)
    one.bind(engine.composition.glue.score.address(), zero.ctypes.data)
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


MIDDLEGAME = "r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 3"
MATE_IN_ONE = "6k1/5ppp/8/8/8/8/8/R6K w - - 0 1"


@pytest.fixture(scope="module")
def searcher_of() -> Searcher:
    engine, parameters = load_engine("classic")
    return engine.searcher(parameters, playing=False, megabytes=1)


def among(
    searcher_of: Searcher, fen: str, names: list[str], limits: Limits, stopping=lambda: False
) -> tuple[Found, list[Found]]:
    words, reports = GAME.position(fen), []
    moves = [GAME.move_named(words, name) for name in names] or moves_of(words)
    found = search_root_moves(
        searcher_of,
        [words],
        moves,
        after,
        lambda line: result(line) == 0,
        limits,
        lambda best, *others: reports.append(best),
        stopping,
    )
    return found, reports


def test_among_all_moves_the_value_is_that_of_the_whole_search(searcher_of):
    words = GAME.position(MIDDLEGAME)
    for depth in (2, 3):
        found, reports = among(searcher_of, MIDDLEGAME, [], Limits(depth=depth))
        assert (found.value, found.depth) == (
            searcher_of.search([words], Limits(depth=depth)).value,
            depth,
        )
        assert [report.depth for report in reports] == list(range(2, depth + 1))
        assert reports[-1].pv == found.pv


def test_only_the_moves_given_are_chosen_from(searcher_of):
    found, reports = among(searcher_of, MATE_IN_ONE, ["a1a7", "h1g1"], Limits(depth=4))
    words = GAME.position(MATE_IN_ONE)
    assert {GAME.move_name(words, report.move) for report in [found, *reports]} <= {"a1a7", "h1g1"}
    assert found.win_in is None or found.win_in > 1


def test_a_mate_is_as_far_away_as_it_is(searcher_of):
    found, _ = among(searcher_of, MATE_IN_ONE, ["h1g1", "a1a8"], Limits(depth=4))
    assert (found.win_in, len(found.pv)) == (1, 1)


def test_a_loss_is_counted_in_plies_from_here(searcher_of):
    found, _ = among(searcher_of, "7k/8/8/8/8/1r6/r7/6K1 w - - 0 1", ["g1f1"], Limits(depth=4))
    assert (found.value < 0, found.win_in) == (True, -2)


def test_it_stops_when_asked_and_still_names_a_move(searcher_of):
    found, reports = among(
        searcher_of, MIDDLEGAME, ["g8f6", "d7d6"], Limits(), stopping=lambda: True
    )
    assert found.move is not None and len(reports) <= 1


def test_nodes_are_those_of_all_moves_together(searcher_of):
    found, reports = among(searcher_of, MIDDLEGAME, [], Limits(nodes=5000))
    assert 5000 <= found.nodes < 5100
    assert found.depth - reports[-1].depth in (0, 1)  # a better move of a depth broken off counts


def test_a_move_that_ends_the_game_in_a_draw_has_value_zero(searcher_of):
    found, _ = among(searcher_of, "7k/8/8/8/8/8/r7/K5Q1 w - - 99 80", ["a1b1"], Limits(depth=3))
    assert (found.value, found.win_in, len(found.pv)) == (0.0, None, 1)


# for each position of the benchmark: nodes, value in steps of 1/256 centipawn, move
EXPECTED = {
    ("classic", 4, False): [
        (2150, 3584, 5835),
        (10164, -13568, 6899),
        (9661, 23808, 10450),
        (14887, 1962, 39715),
        (7387, 1024, 16640),
        (940, 14634, 51033),
    ],
    ("classic", 6, True): [
        (3150, 3584, 5835),
        (6670, -8704, 11134),
        (3299, 26112, 10450),
        (6689, -5398, 113164),
        (5256, 6656, 10645),
        (3764, 9088, 51033),
    ],
    ("pesto", 4, False): [
        (2190, 0, 9542),
        (8252, -11776, 15101),
        (9395, 13888, 10450),
        (16043, 1664, 39715),
        (7286, 1088, 10645),
        (867, 21248, 51033),
    ],
    ("pesto", 6, True): [
        (5005, 0, 9542),
        (3326, -8960, 11134),
        (5655, 15616, 10450),
        (8809, -2432, 39715),
        (4119, 3968, 10645),
        (3405, 21162, 51033),
    ],
}


@pytest.mark.parametrize(("params", "depth", "playing"), EXPECTED)
def test_nodes_values_and_moves_are_the_same_as_ever(params, depth, playing):
    engine, parameters = load_engine(params)
    searcher, found = engine.searcher(parameters, playing, 1), []
    for text in SEARCHED:
        searcher.clear()
        result = searcher.search([position(text)], Limits(depth=depth))
        found.append((result.nodes, round(result.value * 256), result.move))
    assert found == EXPECTED[params, depth, playing]


def test_the_usual_constants_search_as_if_none_was_given_and_each_other_one_otherwise(classic):
    """Every constant changes how many nodes a search of some positions takes at one of its
    limits."""
    found = [line for line in lines(24, 30) if len(line) > 8][:6]

    def nodes(values: dict[str, int]) -> list[int]:
        playing = searcher(classic, playing=True)
        playing.set_constants(values)
        return [playing.search(line, Limits(depth=8)).nodes for line in found]

    usual = nodes({})
    assert nodes({constant.name: constant.value for constant in CONSTANTS}) == usual
    for constant in CONSTANTS:
        assert constant.low <= constant.value <= constant.high and constant.step > 0
        others = [nodes({constant.name: limit}) for limit in (constant.low, constant.high)]
        assert any(other != usual for other in others), constant.name


def test_constants_that_are_not_given_again_are_the_usual_ones(classic):
    playing = searcher(classic, playing=True)
    line = next(line for line in lines(24, 30) if len(line) > 8)
    usual = playing.search(line, Limits(depth=6)).nodes
    playing.set_constants({"Search.LmrDivisor": 800})
    playing.set_constants({})
    playing.clear()
    assert playing.search(line, Limits(depth=6)).nodes == usual
