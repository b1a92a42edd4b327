"""The openings of pairs: by order and seed from a book, or random, balanced and never twice."""

import numpy as np
import pytest

from games.record import Openings
from games.search.searcher import Limits
from tests.support import refusal
from tests.tuner.play.match.support import CHESS, TICTACTOE
from tuner.evaluation.loading import load_engine
from tuner.play import openings
from tuner.play.openings import Book, Generator, start_of


@pytest.fixture(scope="module")
def searcher():
    engine, parameters = load_engine("classic")
    return engine.searcher(parameters, megabytes=1)


def generator(searcher, plies=8, seed=1, note=pytest.fail):
    return Generator(CHESS, plies, seed, searcher, note)


def last_of(opening, game=CHESS) -> np.ndarray:
    words = opening.start
    for move in opening.moves:
        assert move in game.legal_moves(words)
        words = game.play(words, move)
    return words


def test_random_openings_are_balanced_and_all_different(searcher):
    made = generator(searcher)
    ends = [last_of(made.opening(pair)) for pair in range(200)]
    assert len({int(words[-1]) for words in ends}) == 200
    assert all(len(made.opening(pair).moves) == 8 for pair in range(200))
    values = []
    for words in ends:
        searcher.clear()
        values.append(searcher.search([words], Limits(depth=4)).value)
    # the generator has also seen the moves before, which may come back
    assert np.mean(np.abs(values) <= 50) > 0.97
    assert np.std(values) > 10


def test_random_openings_depend_on_seed_and_pair_alone(searcher):
    made, again, other = generator(searcher), generator(searcher), generator(searcher, seed=2)
    backwards = [again.opening(pair).moves for pair in range(29, -1, -1)][::-1]
    assert [made.opening(pair).moves for pair in range(30)] == backwards
    assert sum(made.opening(pair).moves == other.opening(pair).moves for pair in range(30)) == 0


def test_what_an_earlier_run_found_need_not_be_searched_again(searcher):
    made = generator(searcher)
    places = {pair: list(made.opening(pair).place) for pair in range(40)}
    # pairs that were under way
    kept = {pair: place for pair, place in places.items() if pair not in (7, 8, 33)}
    calls = []

    class Counting:
        def clear(self):
            searcher.clear()

        def choose_by(self, seed):
            searcher.choose_by(seed)

        def search(self, *arguments):
            calls.append(1)
            return searcher.search(*arguments)

    resumed = generator(Counting())
    resumed.known(kept)
    assert [resumed.opening(pair)[1:] for pair in range(50)] == [
        made.opening(pair)[1:] for pair in range(50)
    ]
    assert len(calls) < 60


def test_few_openings_come_again_with_a_note(searcher, monkeypatch):
    monkeypatch.setattr(openings, "PATIENCE", 300)
    notes = []
    made = generator(searcher, plies=1, note=notes.append)
    names = [made.opening(pair).moves[0] for pair in range(45)]
    assert len(set(names)) <= 20 and len(notes) == (44 // len(set(names)))
    assert "are repeated" in notes[0]
    resumed = generator(searcher, plies=1, note=notes.append)
    resumed.known({pair: list(made.opening(pair).place) for pair in range(45) if pair != 30})
    assert [resumed.opening(pair).moves[0] for pair in range(45)] == names


def test_too_many_random_plies_are_an_error():
    assert "choose fewer" in refusal(Generator(TICTACTOE, 9, 1, None, print).opening, 0)


def test_another_game_has_random_openings_too():
    made = Generator(TICTACTOE, 2, 1, None, pytest.fail)
    assert len({last_of(made.opening(pair), TICTACTOE).tobytes() for pair in range(72)}) == 72


def book(order, seed=1, n=5):
    return Book(Openings(np.arange(10 * n, dtype=np.uint64).reshape(n, 10)), order, seed)


def test_a_book_is_used_in_its_order_or_at_random_and_again_when_it_ends():
    sequential = [int(book("sequential").opening(pair).start[0]) // 10 for pair in range(12)]
    assert sequential == [0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 1]
    drawn = [int(book("random").opening(pair).start[0]) // 10 for pair in range(10)]
    assert sorted(drawn[:5]) == sorted(drawn[5:]) == [0, 1, 2, 3, 4] and drawn != sequential[:10]
    assert drawn[7] == int(book("random").opening(7).start[0]) // 10
    assert drawn != [int(book("random", 2).opening(pair).start[0]) // 10 for pair in range(10)]


def test_the_initial_position_is_an_opening():
    assert (start_of(CHESS).opening(3).start == CHESS.start()).all() and start_of(CHESS).opening(
        3
    ).moves == []
