"""Names of moves, both ways."""

import numpy as np
import pytest

from games.backgammon.files.notation import parse_move, position, steps_text
from games.backgammon.rules.board import counts_of, packed, start, turn_of, with_dice
from games.backgammon.rules.play import afterstates
from tests.games.backgammon.support import random_board, rolls_of_games
from tests.support import refusal


def test_every_move_is_found_by_its_name():
    random = np.random.default_rng(3)
    boards = [
        *rolls_of_games(3, 300),
        *(
            with_dice(random_board(random), tuple(random.integers(1, 7, 2).tolist()))
            for _ in range(300)
        ),
    ]
    for words in boards:
        after, moves = afterstates(words)
        names = [steps_text(words, move) for move in moves]
        assert len(set(names)) == len(names)
        assert [parse_move(words, name) for name in names] == list(range(len(names)))


@pytest.mark.parametrize(
    "dice, text, name",
    [
        ((3, 1), "8/5 6/5", "8/5 6/5"),
        ((3, 1), "8/5, 6/5", "8/5,6/5"),
        ((6, 5), "24/18/13", "24/13"),
        ((6, 5), "24/13", "24/13"),
        ((2, 1), "24/23 13/11", "24/23 13/11"),
        ((4, 4), "24/20(2) 13/9(2)", "24/20(2) 13/9(2)"),
        ((4, 4), "24/16(2)", "24/16(2)"),
        ((5, 3), "8/3 6/3", "8/3 6/3"),
    ],
)
def test_names_as_people_write_them(dice, text, name):
    words = with_dice(start(), dice)
    found = afterstates(words)
    k = parse_move(words, text)
    after = found[0][k]
    assert parse_move(words, steps_text(words, int(found[1][k]))) == k
    counts = counts_of(after)[turn_of(words)]
    again = counts_of(found[0][parse_move(words, name)])[turn_of(words)]
    assert (counts == again).all()


def test_hits_decide_between_ways():
    counts = np.zeros((2, 26), np.int64)
    counts[0, 13], counts[0, 6] = 1, 14
    counts[1, 25 - 11], counts[1, 25 - 12], counts[1, 6] = 1, 1, 13
    words = with_dice(packed(counts), (2, 1))
    names = {steps_text(words, move) for move in afterstates(words)[1]}
    assert {"13/11*/10", "13/12*/10"} & names or {"13/11* 11/10", "13/12* 12/10"} <= names
    hit_11, hit_12 = parse_move(words, "13/11*/10"), parse_move(words, "13/12*/10")
    assert hit_11 != hit_12
    assert parse_move(words, "13/11 11/10") == hit_11  # as in files that mark no hits
    assert parse_move(words, "12/10 13/12") == hit_12
    for k, place in ((hit_11, 11), (hit_12, 12)):
        assert counts_of(afterstates(words)[0][k])[1, 25 - place] == 0


@pytest.mark.parametrize(
    "text, message",
    [
        ("24/17", "'24/17' is not a legal move of 31"),
        ("", "no move is given, but 31 can be played"),
        ("13/x", "'13/x' is not a step such as"),
        ("5/8", "'5/8' does not move towards point 1"),
        ("26/25", "26 is not a point, expected 1 to 24, bar or off"),
        ("bar/22", "'bar/22' is not a legal move of 31"),
        ("8/5 6/5(9)", "'6/5(9)' is not a step"),
    ],
)
def test_what_is_not_a_move_is_named(text, message):
    assert message in refusal(parse_move, with_dice(start(), (3, 1)), text, error=ValueError)


def test_a_pass_has_a_name():
    words = position("XGID=aBBBBBB-------------------:0:0:-1:65:0:0:0:0:10")
    assert turn_of(words) == 0
    after, moves = afterstates(words)
    assert [steps_text(words, move) for move in moves] == ["cannot move"]
    assert parse_move(words, "Cannot Move") == parse_move(words, "") == 0
    assert (counts_of(after[0]) == counts_of(words)).all() and turn_of(after[0]) == 1
