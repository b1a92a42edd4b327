"""Searches to a fixed depth find what they found before: nodes, values and moves. A change that is meant to make the search
faster leaves these numbers alone; one that is meant to make it better replaces them."""

from __future__ import annotations

import pytest

from games.chess.bench import SEARCHED
from games.chess.fen import position
from games.search.searcher import Limits
from tuner.engine.loading import load_engine

# for each position of the benchmark: nodes, value in steps of 1/256 centipawn, move
EXPECTED = {
    ("classic", 4, False): [(2150, 3584, 5835), (10164, -13568, 6899), (9661, 23808, 10450), (14887, 1962, 39715),
                            (7387, 1024, 16640), (940, 14634, 51033)],
    ("classic", 6, True): [(3150, 3584, 5835), (6670, -8704, 11134), (3299, 26112, 10450), (6689, -5398, 113164),
                           (5256, 6656, 10645), (3764, 9088, 51033)],
    ("pesto", 4, False): [(2190, 0, 9542), (8252, -11776, 15101), (9395, 13888, 10450), (16043, 1664, 39715),
                          (7286, 1088, 10645), (867, 21248, 51033)],
    ("pesto", 6, True): [(5005, 0, 9542), (3326, -8960, 11134), (5655, 15616, 10450), (8809, -2432, 39715),
                         (4119, 3968, 10645), (3405, 21162, 51033)],
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
