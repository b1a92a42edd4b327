"""Every game conforms to `games.record`, and violations are reported."""

import functools
import re
from dataclasses import replace

import numpy as np
import pytest

from games.record import Game, ReadReport, available, find
from tests.conformance import Evaluation, Fault, check_game, checks_of
from tests.support import refusal
from tuner.evaluation.loading import load_engine

GAMES = available()
TICTACTOE = find("tictactoe")
kept_alive = []  # weights, which evaluations refer to by address


@functools.cache
def evaluation_of(name: str) -> Evaluation:
    """The bundled classic evaluation."""
    engine, parameters = load_engine(f"{name}/classic")
    bound = engine.evaluation(parameters)
    kept_alive.append(bound)
    return Evaluation(
        *bound,
        lambda positions: engine.evaluate(positions, parameters),
        lambda positions: engine.coefficients(positions).phase,
        engine.phases,
    )


def all_checks() -> list:
    return [
        check
        for name in GAMES
        for check in checks_of(find(name), functools.partial(evaluation_of, name))
    ]


@pytest.mark.parametrize("check", all_checks(), ids=lambda check: check.__name__)
def test_every_game_conforms(check):
    check()


def test_games_that_can_be_searched_and_written_are_checked_for_that():
    names = {check.__name__ for check in all_checks()}
    assert {
        "chess-search",
        "chess-openings",
        "chess-phases",
        "tictactoe-phases",
        "tictactoe-written_games",
    } <= names
    assert "tictactoe-search" not in names  # it has none


def in_place(words, move):
    words[:] = TICTACTOE.play(words, move)
    return words


def reader(change):
    def read(source, options, report, note):
        for batch in TICTACTOE.files.read(source, options, report, note):
            yield change(batch)

    return read


def swallowing(source, options, report, note):
    yield from list(TICTACTOE.files.read(source, options, ReadReport(), note))


def with_files(**changes):
    return replace(TICTACTOE, files=replace(TICTACTOE.files, **changes))


BROKEN: dict[str, tuple[Game, str]] = {
    "start of another type": (
        replace(TICTACTOE, start=lambda: np.zeros(2)),
        "start.. has shape .2,. of float64",
    ),
    "text without the side": (
        replace(
            TICTACTOE, texts=lambda positions: [text[:-2] for text in TICTACTOE.texts(positions)]
        ),
        "not a position",
    ),
    "a position of rubbish": (
        replace(
            TICTACTOE,
            position=lambda text: TICTACTOE.position(text) if "/" in text else TICTACTOE.start(),
        ),
        "position.''. gives",
    ),
    "one name for all": (
        replace(TICTACTOE, move_name=lambda words, move: "a1"),
        "two moves have one name",
    ),
    "another move by that name": (
        replace(TICTACTOE, move_named=lambda words, name: 8 - TICTACTOE.move_named(words, name)),
        "move_named.*expected",
    ),
    "any name is a move": (
        replace(
            TICTACTOE,
            move_named=lambda words, name: (
                TICTACTOE.move_named(words, name) if len(name) == 2 else 4
            ),
        ),
        "move_named.*expected ValueError",
    ),
    "plies of two": (
        replace(TICTACTOE, plies=lambda positions: 2 * TICTACTOE.plies(positions)),
        "plies are",
    ),
    "play in place": (replace(TICTACTOE, play=in_place), "changes"),
    "no draws": (
        replace(TICTACTOE, result=lambda line: TICTACTOE.result(line) or None),
        "there is no legal move",
    ),
    "a win is two": (
        replace(
            TICTACTOE, result=lambda line: None if (z := TICTACTOE.result(line)) is None else 2 * z
        ),
        "result is -?2, expected",
    ),
    "nothing to see": (replace(TICTACTOE, draw=lambda words: ""), "draw gives nothing"),
    "a picture of text": (with_files(picture=TICTACTOE.text), "picture is no XML"),
    "always the first": (
        replace(TICTACTOE, second_to_move=lambda words: False),
        "second_to_move is False, as before",
    ),
    "a batch's dtype": (
        with_files(
            read=reader(lambda batch: replace(batch, outcomes=batch.outcomes.astype(float)))
        ),
        "outcomes are float64",
    ),
    "games that start late": (
        with_files(read=reader(lambda batch: replace(batch, first=batch.first + 1))),
        "first positions",
    ),
    "wins for the other": (
        with_files(read=reader(lambda batch: replace(batch, outcomes=-batch.outcomes))),
        "outcome .*expected",
    ),
    "all games alike": (
        with_files(
            read=reader(lambda batch: replace(batch, identities=batch.identities & np.uint64(0)))
        ),
        "1 identities of",
    ),
    "nothing reported": (with_files(read=swallowing), "the report has 0 games"),
    "a file of nothing": (with_files(game_text=lambda game: "# lost\n"), "0 of 12 games were read"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_violation_is_reported(name):
    game, complaint = BROKEN[name]
    assert re.search(f"^tictactoe: .*{complaint}", refusal(check_game, game, error=Fault))


def test_a_fault_names_the_position():
    assert re.search(
        r"^tictactoe: draw gives nothing; position '[xo./]+ [xo]'$",
        refusal(check_game, replace(TICTACTOE, draw=lambda words: ""), error=Fault),
    )


def searched(changed) -> None:
    """Check chess with a search that is changed."""
    chess = find("chess")
    (check,) = (
        check
        for check in checks_of(
            replace(chess, contest=replace(chess.contest, searcher=changed)),
            lambda: evaluation_of("chess"),
        )
        if check.__name__ == "chess-search"
    )
    check()


def test_a_search_that_is_not_minimax_is_reported():
    chess = find("chess")

    class Shallow:
        """Searches one ply, however deep it is asked."""

        def __init__(self, *given) -> None:
            self._searcher = chess.contest.searcher(*given)

        def search(self, line, limits):
            return self._searcher.search(line, replace(limits, depth=1))

    assert re.search("chess: depth 2: .*; position ", refusal(searched, Shallow, error=Fault))
    other = evaluation_of("chess")
    assert re.search(
        "the search returns .* the end of its PV has",
        refusal(
            searched,
            lambda function, weights, *more: chess.contest.searcher(
                other.function, zeros.ctypes.data, *more
            ),
            error=Fault,
        ),
    )


zeros = np.zeros(2048, np.int64)  # weights of another evaluation
