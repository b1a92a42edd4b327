"""IDs of positions and matches both ways, against gnubg's."""

import random

import numpy as np
import pytest

from games.backgammon.files.ids import (
    BITS,
    MatchState,
    from_match_id,
    from_position_id,
    from_xgid,
    match_id,
    position_id,
    text_of,
)
from games.backgammon.files.notation import position
from games.backgammon.rules.board import counts_of, dice_of, ply_of, start, turn_of, with_dice
from tests.games.backgammon.support import gnubg_board, random_board, rolls_of_games, xgid
from tests.support import refusal

MUTATED = 1000
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/:=-DRé \n"


def some_positions():
    random_generator = np.random.default_rng(4)
    for words in rolls_of_games(6, 300):
        yield words
        yield with_dice(words, (0, 0))
    for _ in range(300):
        yield random_board(random_generator)


def test_position_ids_are_those_of_gnubg():
    gnubg = pytest.importorskip("gnubg_nn", reason="needs gnubg-nn")
    for words in some_positions():
        assert position_id(words) == gnubg.position_id(gnubg_board(words))
        assert (
            from_position_id(position_id(words), turn_of(words), dice_of(words), ply_of(words))
            == words
        ).all()


def test_texts_of_positions_are_read_again():
    assert text_of(start()) == "4HPwATDgc/ABMA:MAEAAAAAAAAA"
    for words in some_positions():
        assert (position(text_of(words)) == words).all()
        assert (position(xgid(words))[:4] == words[:4]).all()
        found = from_xgid(xgid(words))  # XGIDs have no plies
        assert (turn_of(found), dice_of(found), ply_of(found)) == (
            turn_of(words),
            dice_of(words),
            0,
        )


@pytest.mark.parametrize(
    "xg, board, match",
    [  # as gnubg 1.07 shows them after `set xgid`
        ("XGID=-b----E-C---eE---c-e----B-:1:1:1:52:3:4:0:7:10", "4HPwATDgc/ABMA", "UYnqAEAAGAAE"),
        ("XGID=-b----E-C---eE---c-e----B-:0:0:-1:00:0:0:0:0:10", "4HPwATDgc/ABMA", "MAEAAAAAAAAA"),
    ],
)
def test_ids_of_one_position_agree_with_gnubg(xg, board, match):
    words, state = from_xgid(xg), from_match_id(match)
    assert position_id(words) == board
    assert (state.on_roll, (state.larger, state.smaller)) == (turn_of(words), dice_of(words))
    assert match_id(state) == match


def test_match_ids_of_the_manual_of_gnubg():
    state = from_match_id("QYkqASAAIAAA")
    assert state == MatchState(
        score0=2, score1=4, length=9, cube=1, owner=0, on_roll=1, turn=1, larger=5, smaller=2
    )
    assert match_id(state) == "QYkqASAAIAAA"


def test_match_states_are_read_again():
    chance = random.Random(3)
    for _ in range(300):
        state = MatchState(*(chance.randrange(1 << bits) for bits in BITS))
        state = state._replace(
            owner=chance.choice([0, 1, 3]),
            state=chance.randrange(5),
            larger=5,
            smaller=chance.randint(1, 5),
        )
        assert from_match_id(match_id(state)) == state


@pytest.mark.parametrize(
    "text, message",
    [
        ("4HPwATDgc/ABM", "'4HPwATDgc/ABM' is not a position ID, expected 14 letters of base 64"),
        (
            "4HPwATDgc/ABMA:cAkAAAAAAAA",
            "'cAkAAAAAAAA' is not a match ID, expected 12 letters of base 64",
        ),
        ("4HPwATDgc/ABMA:cAnwAQAAAAAE", "has the dice 4 and 0, expected 1 to 6"),
        ("/////////////w", "checkers of one side, expected at most 15"),
        ("AAAAAAAAAAAAAA", "has no checkers"),
        ("4HPwATDgc/ABMA:MAEAAAAAAAAA -3", "'-3' after the IDs is not a number of plies"),
        ("AACAQQAAAAAAgA", "more than 25 places for each side"),
        (
            "XGID=-b----E-C---eE---c-e----B-:0:0:1:00:0:0:0:0",
            "has 9 fields, expected 10 with colons between them",
        ),
        ("XGID=-b----E-C---eE---c-e----Z-:0:0:1:00:0:0:0:0:10", "does not begin with 26 places"),
        ("XGID=-b----E-C---eE---c-e---BB-:0:0:1:00:0:0:0:0:10", "has 17 checkers of one side"),
        ("XGID=-b----E-C---eE---c-e----B-:0:0:0:00:0:0:0:0:10", "has turn 0, expected 1 or -1"),
        ("XGID=-b----E-C---eE---c-e----B-:0:0:1:60:0:0:0:0:10", "has the dice 6 and 0"),
        (
            "XGID=-b----E-C---eE---c-e----B-:0:0:1:71:0:0:0:0:10",
            "has dice '71', expected two numbers",
        ),
        ("XGID=-b----E-C---eE---c-e----B-:99:0:1:00:0:0:0:0:10", "has cube 99, expected 0 to 15"),
        (
            "XGID=-b----E-C---eE---c-e----B-:x:0:1:00:0:0:0:0:10",
            "has 'x' where a number is expected",
        ),
    ],
)
def test_what_is_not_a_position_is_named(text, message):
    assert message in refusal(position, text, error=ValueError)


def test_mutated_ids_are_read_or_refused_in_one_line():
    chance, read = random.Random(1), 0
    texts = [
        text
        for words in rolls_of_games(9, 40)
        for text in (position_id(words), text_of(words), xgid(words))
    ]
    for _ in range(MUTATED):
        text = list(chance.choice(texts))
        for _ in range(chance.randint(1, 3)):
            at = chance.randrange(len(text))
            text[at : at + chance.randrange(2)] = chance.choice(LETTERS) * chance.randrange(3)
        try:
            words = position("".join(text))
        except ValueError as problem:
            assert "\n" not in str(problem)
            continue
        counts = counts_of(words)
        assert (counts >= 0).all() and counts.sum(1).tolist() == [15, 15]
        assert (position(text_of(words)) == words).all()
        read += 1
    assert read > MUTATED // 50
