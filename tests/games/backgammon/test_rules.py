"""The rules against those of gnubg, and against a second derivation in plain Python."""

from itertools import product

import numpy as np
import pytest

from games.backgammon.rules import play as rules
from games.backgammon.rules.board import (
    contact,
    counts_of,
    dice_of,
    packed,
    pips,
    ply_of,
    start,
    turn_of,
    with_dice,
)
from tests.games.backgammon.support import gnubg_board, random_board, rolls_of_games
from tests.support import refusal

PAIRS = 1200


def afterstates_equal(words: np.ndarray) -> None:
    gnubg = pytest.importorskip("gnubg_nn", reason="needs gnubg-nn")
    after, moves = rules.afterstates(words)
    found = [gnubg.key_of_board(gnubg_board(each)[::-1]) for each in after]
    assert len(set(found)) == len(found)
    assert set(found if moves[0] else []) == set(gnubg.moves(gnubg_board(words), *dice_of(words)))


@pytest.mark.parametrize("highest", [25, 6, 12])
def test_afterstates_are_those_of_gnubg(highest):
    random = np.random.default_rng(highest)
    first = start if highest == 25 else lambda: random_board(random, highest)
    for words in rolls_of_games(1, PAIRS, first=first):
        afterstates_equal(words)


def test_afterstates_of_boards_that_no_game_reaches_are_those_of_gnubg():
    random = np.random.default_rng(5)
    for _ in range(PAIRS):
        afterstates_equal(with_dice(random_board(random), tuple(random.integers(1, 7, 2).tolist())))


def brute_force(words: np.ndarray) -> set:
    """Afterstates as tuples of counts, from the text of the rules: every order of every step, and
    the longest of them."""
    counts, turn, (a, b) = counts_of(words), turn_of(words), dice_of(words)
    found: dict = {}

    def moves(own, other, die):
        for place in range(1, 26):
            if not own[place] or own[25] and place != 25:
                continue
            to = place - die
            if to <= 0 and (sum(own[7:]) or to < 0 and sum(own[place + 1 :])):
                continue
            if to > 0 and other[25 - to] > 1:
                continue
            mine, theirs = list(own), list(other)
            mine[place] -= 1
            mine[max(to, 0)] += 1
            if to > 0 and theirs[25 - to]:
                theirs[25 - to] -= 1
                theirs[25] += 1
            yield tuple(mine), tuple(theirs)

    def follow(own, other, dice, used):
        found.setdefault(used, set()).add((own, other))
        for k, die in enumerate(dice):
            for after in moves(own, other, die):
                follow(*after, dice[:k] + dice[k + 1 :], (*used, die))

    follow(
        tuple(counts[turn].tolist()),
        tuple(counts[1 - turn].tolist()),
        (a, b) if a != b else (a,) * 4,
        (),
    )
    most = max(map(len, found))
    kept = [used for used in found if len(used) == most]
    if most == 1 and a != b:
        kept = [used for used in kept if used == max(kept)]
    return set().union(*(found[used] for used in kept))


def test_afterstates_are_those_of_the_text_of_the_rules():
    random = np.random.default_rng(7)
    for _ in range(60):
        words = with_dice(random_board(random), tuple(random.integers(1, 7, 2).tolist()))
        turn = turn_of(words)
        after = [counts_of(each) for each in rules.afterstates(words)[0]]
        assert {
            (tuple(each[turn].tolist()), tuple(each[1 - turn].tolist())) for each in after
        } == brute_force(words)


def test_steps_lead_to_the_afterstate():
    for words in rolls_of_games(3, 300):
        turn = turn_of(words)
        for after, move in zip(*rules.afterstates(words), strict=True):
            counts = counts_of(words)
            for place, die in rules.steps_of(move):
                counts[turn, place] -= 1
                counts[turn, max(place - die, 0)] += 1
            assert (counts_of(after)[turn] == counts[turn]).all()
            assert counts_of(after).sum(1).tolist() == [15, 15]
            assert (turn_of(after), ply_of(after), dice_of(after)) == (
                1 - turn,
                ply_of(words) + 1,
                (0, 0),
            )


def test_counts_pips_and_contact():
    words = start()
    assert [pips(words, side) for side in range(2)] == [167, 167]
    assert contact(words)
    random = np.random.default_rng(2)
    for _ in range(300):
        words = random_board(random, int(random.integers(2, 26)))
        counts = counts_of(words)
        assert (packed(counts, bool(turn_of(words))) == words).all()
        assert [pips(words, side) for side in range(2)] == (counts @ np.arange(26)).tolist()
        rear = [max((p for p in range(1, 26) if counts[side, p]), default=0) for side in range(2)]
        assert contact(words) == (sum(rear) > 25)


@pytest.mark.parametrize(
    "off, place, expected", [(0, 24, 3), (0, 25, 3), (0, 19, 3), (0, 18, 2), (0, 1, 2), (1, 24, 1)]
)
def test_points_of_a_won_game(off, place, expected):
    counts = np.zeros((2, 26), np.int64)
    counts[0, 0] = 15
    counts[1, 0], counts[1, place] = off, 15 - off
    assert rules.points(packed(counts)) == expected
    assert rules.points(packed(counts[::-1])) == -expected
    assert len(rules.afterstates(with_dice(packed(counts), (2, 1)))[0]) == 0


def test_afterstates_need_dice():
    assert "have not been rolled" in refusal(rules.afterstates, start(), error=ValueError)


def test_most_afterstates_fit():
    """Fifteen checkers on points of their own: the most choices that a double can have."""
    counts = np.zeros((2, 26), np.int64)
    counts[0, range(10, 25)] = 1
    counts[1, 0] = 14
    counts[1, 1] = 1
    for dice in product(range(1, 7), repeat=2):
        words = with_dice(packed(counts), dice)
        turn = turn_of(words)
        after = [counts_of(each) for each in rules.afterstates(words)[0]]
        if dice[0] != dice[1]:
            assert {
                (tuple(each[turn].tolist()), tuple(each[1 - turn].tolist())) for each in after
            } == brute_force(words)
        assert len(after) <= 3060
