"""Pubeval against gnubg's copy, and its choice of a move."""

import numpy as np
import pytest

from games.backgammon.files.notation import position
from games.backgammon.rules.board import contact, counts_of, turn_of, with_dice
from games.backgammon.rules.play import afterstates, points, pubeval, pubeval_move
from games.backgammon.rules.pubeval import CONTACT, INPUTS, RACE
from tests.games.backgammon.support import gnubg_board, random_board, rolls_of_games


def by_definition(words: np.ndarray) -> float:
    """The score of the side that has moved, from all 122 inputs."""
    counts, moved = counts_of(words), 1 - turn_of(words)
    own, other = counts[moved], counts[1 - moved]
    inputs = []
    for place in range(24, 0, -1):
        n = own[place] - other[25 - place]
        inputs += [n == -1, n == 1, n >= 2, n == 3, (n - 3) / 2 if n >= 4 else 0]
    inputs += [-other[25] / 2, own[0] / 15]
    assert len(inputs) == INPUTS
    return float(np.dot(inputs, CONTACT if contact(words) else RACE))


def some_boards():
    random = np.random.default_rng(1)
    yield from (random_board(random, int(random.integers(3, 26))) for _ in range(2000))
    yield from (with_dice(words, (0, 0)) for words in rolls_of_games(1, 2000))


def test_scores_are_those_of_the_definition():
    for words in some_boards():
        assert abs(pubeval(words) - by_definition(words)) < 1e-9


def test_scores_are_those_of_gnubg():
    gnubg = pytest.importorskip("gnubg_nn", reason="needs gnubg-nn")
    for words in some_boards():
        assert abs(pubeval(words) - gnubg.pub_eval_score(gnubg_board(words))) < 1e-4


def test_all_checkers_off_is_best():
    """Even where the weights prefer to hit."""
    words = with_dice(position("gAgCRAgAAAAAAA"), (6, 5))
    after, _ = afterstates(words)
    assert sorted(points(state) for state in after) == [0, 1]
    won = after[pubeval_move(words, after)]
    assert points(won) == 1 and pubeval(won) == 99_999_999


def test_moves_are_those_of_gnubg():
    gnubg = pytest.importorskip("gnubg_nn", reason="needs gnubg-nn")
    same = 0
    for words in rolls_of_games(2, 500):
        after, moves = afterstates(words)
        found = after[pubeval_move(words, after)]
        board, turn = np.array(gnubg_board(words)), turn_of(words)
        steps = gnubg.pub_best_move(
            [list(map(int, side)) for side in board], int(words[4]) >> 1 & 7, int(words[4]) >> 4 & 7
        )
        counts = counts_of(words)[turn]
        for source, target in zip(steps[::2], steps[1::2], strict=True):
            counts[source + 1] -= 1
            counts[max(target + 1, 0)] += 1
        same += bool((counts_of(found)[turn] == counts).all())
    assert same >= 498, same  # equal scores may be broken otherwise
