"""The search of shogi: exact values are those of minimax; mates, repetitions, SEE, and moves that
give check."""

import random

import numpy as np
import pytest
from numba.core import types

cshogi = pytest.importorskip("cshogi")

from games.search.searcher import Limits  # noqa: E402
from games.shogi.files import sfen  # noqa: E402
from games.shogi.files import sfen as notation  # noqa: E402
from games.shogi.rules import movegen  # noqa: E402
from games.shogi.rules.movegen import aims_of, gives_check  # noqa: E402
from games.shogi.rules.position import load, words_type  # noqa: E402
from games.shogi.search import marks_of, see_reaches  # noqa: E402
from tests.games.shogi.against_cshogi import after  # noqa: E402
from tests.games.shogi.plain_search import lines, plain_value  # noqa: E402
from tests.games.shogi.support import loaded, searcher_of, unit_of  # noqa: E402

UNIT = unit_of(__file__)


@UNIT.entry(types.boolean(words_type, types.int64))
def checks(words, move):
    p = load(words)
    return gives_check(p, aims_of(p), move)


@UNIT.entry(types.boolean(words_type, types.int64, types.int64))
def reaches(words, move, threshold):
    return see_reaches(load(words), move, threshold)


@pytest.mark.parametrize(("depth", "n"), [(1, 90), (2, 36), (3, 6)])
def test_exact_values_are_those_of_plain_minimax(depth, n):
    searcher = searcher_of("hand", playing=False, megabytes=1)
    for line in lines(depth, n):
        assert searcher.search(line, Limits(depth=depth)).value == plain_value(
            searcher, line, depth
        ), sfen.text(line[-1])


def test_the_static_evaluation_of_the_leaf_is_the_value_of_the_root():
    engine, parameters = loaded("classic")
    searcher, met = searcher_of("classic", playing=False), 0
    for line in lines(7, 36):
        found = searcher.search(line, Limits(depth=3))
        words = line[-1]
        for move in found.pv:
            words = after(words, move)
        if found.win_in is None and found.value:
            sign = -1 if int(line[-1][13]) & 1 else 1
            assert engine.evaluate(words[None], parameters)[0] * sign == found.value
            met += 1
    assert met > 10


def test_moves_that_give_check_are_known_before_they_are_made():
    found = 0
    for line in lines(3, 30):
        for words in line[::3]:
            for move in movegen.moves_of(words):
                check = bool(int(after(words, move)[13]) & 2)
                assert checks(words, move) == check
                found += check
    assert found > 200


@pytest.mark.parametrize("playing", [False, True])
def test_mates_in_one_that_cshogi_finds_are_found(playing):
    searcher, rng, met = searcher_of("hand", playing), random.Random(4), 0
    while met < 4:
        words, board = sfen.position("startpos"), cshogi.Board()
        while (legal := movegen.moves_of(words)) and board.move_number < 200:
            if not board.is_check() and board.mate_move_in_1ply():
                assert searcher.search([words], Limits(depth=2)).win_in == 1
                met += 1
            move = rng.choice(legal)
            board.push_usi(notation.move_name(None, move))
            words = after(words, move)


def test_a_perpetual_check_is_no_draw_for_the_losing_side():
    """Black is far behind and could check for ever; the repetition loses, so that it sees no draw
    in it."""
    line = [sfen.position("7k1/9/9/9/9/9/9/9/4K3R b 2b4g4s 1")]
    for name in ("1i2i", "2a1a", "2i1i"):
        line.append(after(line[-1], notation.move_named(line[-1], name)))
    found = searcher_of("hand", playing=False).search(line, Limits(depth=2))
    assert notation.move_name(None, found.move) != "1a2a" or found.win_in == 1


@pytest.mark.parametrize(
    ("text", "move", "gain"),
    [
        ("4k4/9/9/9/4p4/4P4/9/9/4K4 b - 1", "5f5e", 210),
        ("4k4/9/9/4g4/4p4/4R4/9/9/4K4 b - 1", "5f5e", 210 - 2100),
        ("4k4/9/9/4p4/4s4/4S4/9/9/4K4 b - 1", "5f5e", 0),
        # the pawn recaptures, the lance takes it, and is not taken
        (
            "4k4/4l4/9/4p4/4s4/4S4/4L4/4R4/4K4 b - 1",
            "5f5e",
            210,
        ),
        ("4k4/9/9/9/4P4/9/9/9/4K4 b - 1", "5e5d", 0),
        ("4k4/9/9/4P4/9/9/9/9/4K4 b - 1", "5d5c+", 500),
    ],
)
def test_see(text, move, gain):
    words = sfen.position(text)
    number = notation.move_named(words, move)
    assert reaches(words, number, gain)
    assert not reaches(words, number, gain + 1)


def test_marks_of_positions_are_those_of_the_search():
    searcher = searcher_of("hand", playing=False)
    line = lines(5, 5)[-1]
    searcher.search(line, Limits(depth=1))
    records = searcher._memory.records
    found = records["marks"][0, : len(line)]
    assert np.array_equal(found, marks_of(np.array(line)))
