"""The rules against published counts, by brute force."""

import re
from collections import Counter
from functools import cache
from itertools import product

import pytest

from games.record import available, find
from games.tictactoe.game import GAME
from tests.games.tictactoe.support import all_positions
from tests.support import refusal


def result_of(text: str) -> int | None:
    return GAME.result([GAME.position(text)])


@cache
def games_from(text: str) -> Counter:
    """How many games go on from a position, by result."""
    if not all_positions()[text]:
        return Counter({result_of(text): 1})
    return sum((games_from(after) for after in all_positions()[text]), Counter())


@cache
def value(text: str) -> int:
    """The result for x under perfect play."""
    best = max if text.endswith("x") else min
    return best(map(value, all_positions()[text]), default=result_of(text))


def test_the_game_is_found_by_its_name():
    assert "tictactoe" in available()
    assert find("tictactoe") is GAME


def test_there_are_255168_games():
    assert games_from(GAME.text(GAME.start())) == {1: 131_184, -1: 77_904, 0: 46_080}


def test_there_are_5478_positions_and_958_of_them_end_the_game():
    positions = all_positions()
    assert len(positions) == 5478
    assert all((result_of(text) is None) == bool(after) for text, after in positions.items())
    ends = {text.split()[0] for text, after in positions.items() if not after}
    assert len(ends) == 958
    assert Counter(result_of(text) for text, after in positions.items() if not after) == {
        1: 626,
        -1: 316,
        0: 16,
    }


def test_perfect_play_is_a_draw():
    assert value(GAME.text(GAME.start())) == 0


def test_the_text_of_a_position_is_accepted_exactly_where_a_game_leads_to_it():
    accepted = set()
    for cells in product("xo.", repeat=9):
        board = "".join(cells)
        for mover in "xo":
            text = f"{board[:3]}/{board[3:6]}/{board[6:]} {mover}"
            try:
                words = GAME.position(text)
            except ValueError as problem:
                assert text in str(problem)
            else:
                assert GAME.text(words) == text
                accepted.add(text)
    assert accepted == set(all_positions())


@pytest.mark.parametrize(
    "text", ["", "x.o/.x./...", "x.o/.x./... O", "x.o/.x./..  o", "x.o.x.... o", "... o"]
)
def test_a_text_of_another_form_is_refused_with_an_example(text):
    assert re.search(
        r"is not a position, expected .* such as 'x\.o/\.x\./\.\.\. o'",
        refusal(GAME.position, text, error=ValueError),
    )


def test_rows_are_listed_from_the_top_and_squares_named_from_the_bottom_left():
    words = GAME.start()
    for name in ("a1", "c3", "b2"):
        moves = {GAME.move_text(words, move): move for move in GAME.legal_moves(words)}
        words = GAME.play(words, moves[name])
    assert GAME.text(words) == "..o/.x./x.. o"
    assert GAME.draw(words) == "..o\n.x.\nx.."
