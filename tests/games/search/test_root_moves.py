"""A search of some of the root moves finds, move by move, what a search of the positions after them finds."""

from __future__ import annotations

import pytest

from games.chess.game import GAME, after, moves_of, result
from games.search.root_moves import search_root_moves
from games.search.searcher import Found, Limits, Searcher
from tuner.engine.loading import load_engine

MIDDLEGAME = "r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 3"
MATE_IN_ONE = "6k1/5ppp/8/8/8/8/8/R6K w - - 0 1"


@pytest.fixture(scope="module")
def searcher() -> Searcher:
    engine, parameters = load_engine("classic")
    return engine.searcher(parameters, playing=False, megabytes=1)


def among(searcher: Searcher, fen: str, names: list[str], limits: Limits, stopping=lambda: False) -> tuple[Found, list[Found]]:
    words, reports = GAME.position(fen), []
    moves = [GAME.move_named(words, name) for name in names] or moves_of(words)
    found = search_root_moves(searcher, [words], moves, after, lambda line: result(line) == 0, limits, reports.append, stopping)
    return found, reports


def test_among_all_moves_the_value_is_that_of_the_whole_search(searcher):
    words = GAME.position(MIDDLEGAME)
    for depth in (2, 3):
        found, reports = among(searcher, MIDDLEGAME, [], Limits(depth=depth))
        assert (found.value, found.depth) == (searcher.search([words], Limits(depth=depth)).value, depth)
        assert [report.depth for report in reports] == list(range(2, depth + 1))
        assert reports[-1].pv == found.pv


def test_only_the_moves_given_are_chosen_from(searcher):
    found, reports = among(searcher, MATE_IN_ONE, ["a1a7", "h1g1"], Limits(depth=4))
    words = GAME.position(MATE_IN_ONE)
    assert {GAME.move_name(words, report.move) for report in [found, *reports]} <= {"a1a7", "h1g1"}
    assert found.win_in is None or found.win_in > 1


def test_a_mate_is_as_far_away_as_it_is(searcher):
    found, _ = among(searcher, MATE_IN_ONE, ["h1g1", "a1a8"], Limits(depth=4))
    assert (found.win_in, len(found.pv)) == (1, 1)


def test_a_loss_is_counted_in_plies_from_here(searcher):
    found, _ = among(searcher, "7k/8/8/8/8/1r6/r7/6K1 w - - 0 1", ["g1f1"], Limits(depth=4))
    assert (found.value < 0, found.win_in) == (True, -2)


def test_it_stops_when_asked_and_still_names_a_move(searcher):
    found, reports = among(searcher, MIDDLEGAME, ["g8f6", "d7d6"], Limits(), stopping=lambda: True)
    assert found.move is not None and len(reports) <= 1


def test_nodes_are_those_of_all_moves_together(searcher):
    found, reports = among(searcher, MIDDLEGAME, [], Limits(nodes=5000))
    assert 5000 <= found.nodes < 5100
    assert found.depth - reports[-1].depth in (0, 1)  # a better move of a depth broken off counts


def test_a_move_that_ends_the_game_in_a_draw_has_value_zero(searcher):
    found, _ = among(searcher, "7k/8/8/8/8/8/r7/K5Q1 w - - 99 80", ["a1b1"], Limits(depth=3))
    assert (found.value, found.win_in, len(found.pv)) == (0.0, None, 1)
