"""Boards as text and as pictures."""

from xml.etree import ElementTree

import numpy as np

from games.backgammon.files.draw import COLOURS, draw, picture
from games.backgammon.rules.board import counts_of, dice_of, packed, pips, start, turn_of
from tests.games.backgammon.support import random_board, rolls_of_games


def test_the_start_as_text():
    assert draw(start()).splitlines() == [
        "+13 14 15 16 17 18 +---+19 20 21 22 23 24 +",
        "| X  .  .  .  O  . |   | O  .  .  .  .  X |",
        "| X  .  .  .  O  . |   | O  .  .  .  .  X |",
        "| X  .  .  .  O  . |   | O  .  .  .  .  . |",
        "| X  .  .  .  .  . |   | O  .  .  .  .  . |",
        "| X  .  .  .  .  . |   | O  .  .  .  .  . |",
        "|                  |BAR|                  |",
        "| O  .  .  .  .  . |   | X  .  .  .  .  . |",
        "| O  .  .  .  .  . |   | X  .  .  .  .  . |",
        "| O  .  .  .  X  . |   | X  .  .  .  .  . |",
        "| O  .  .  .  X  . |   | X  .  .  .  .  O |",
        "| O  .  .  .  X  . |   | X  .  .  .  .  O |",
        "+12 11 10  9  8  7 +---+ 6  5  4  3  2  1 +",
        "X: bar 0, off 0, 167 pips",
        "O: bar 0, off 0, 167 pips",
        "X to roll",
    ]


def test_stacks_bars_and_dice_as_text():
    counts = np.zeros((2, 26), np.int64)
    counts[0, [25, 6, 0]] = 2, 9, 4
    counts[1, [1, 3]] = 1, 14
    text = draw(packed(counts, True, (2, 5)))
    assert " 9 " in text and "14 " in text
    assert "X: bar 2, off 4, 104 pips" in text and text.endswith("O to play 52")


def test_pictures_have_every_checker():
    random = np.random.default_rng(2)
    for words in [start(), *rolls_of_games(1, 60), *(random_board(random) for _ in range(60))]:
        counts = counts_of(words)
        tree = ElementTree.fromstring(picture(words))
        circles = [each.get("fill") for each in tree.iter() if each.tag.endswith("circle")]
        turn = COLOURS[turn_of(words)]
        for side in range(2):
            assert (
                circles.count(COLOURS[side]) - (turn == COLOURS[side])
                == np.minimum(counts[side], 5).sum()
            )
        more = [
            int(each.text)
            for each in tree.iter()
            if each.tag.endswith("text") and each.get("font-size") == "11"
        ]
        assert sorted(more) == sorted(counts[counts > 5].tolist())
        words_of = [each.text for each in tree.iter() if each.tag.endswith("text")]
        assert [int(text) for text in words_of if text.isdecimal()].count(24) >= 1
        larger, smaller = dice_of(words)
        name = "XO"[turn_of(words)]
        assert (f"{name} to play {larger} {smaller}" if larger else f"{name} to roll") in words_of
        assert f"X light, {pips(words, 0)} pips; O dark, {pips(words, 1)} pips" in words_of
