"""Single games: what comes after a verdict is not written, and a game depends on its number
alone."""

import io
import random
from dataclasses import replace

import chess.pgn
import pytest

from games.record import PLIES, RESIGN_RULE, RULES, Control
from tuner.evaluation.evaluation import load_evaluation
from tuner.options.games import GamesSettings
from tuner.play.own_games.play import (
    BY_SCORES,
    GameTask,
    OwnPlayers,
    play_game,
    random_opening,
    recipe_of,
)

SETTINGS = GamesSettings(
    start="classic", depth=1, plies=200, draw=("movenumber=30", "movecount=3", "score=20")
)


@pytest.fixture(scope="module")
def recipe():
    return recipe_of(load_evaluation("classic"), SETTINGS, None)


@pytest.fixture(scope="module")
def games(recipe):
    """Games to the verdict, and the same games played on."""
    both = []
    for share in (0.0, 1.0):
        own = replace(recipe, settings=replace(SETTINGS, play_on=share))
        seat = OwnPlayers(own, lambda: False)
        both.append([play_game(seat, GameTask(number, None)) for number in range(24)])
    return both


def test_games_that_are_played_on_are_written_as_if_they_had_ended(games):
    ended, on = games
    assert [game.text for game in ended] == [game.text for game in on]
    assert [(game.outcome, game.plies, game.end) for game in ended] == [
        (game.outcome, game.plies, game.end) for game in on
    ]
    assert not any(game.checked for game in ended)
    for game in on:
        assert (game.checked is not None) == (game.end in BY_SCORES)
        if game.checked:
            assert game.checked[:2] == (game.end, game.outcome) and game.checked.end in (-1, 0, 1)
    assert {game.end for game in on} >= {RULES, RESIGN_RULE}
    assert sum(game.checked.end == game.outcome for game in on if game.checked) > 8


def test_the_order_of_games_changes_nothing(recipe, games):
    seat = OwnPlayers(recipe, lambda: False)
    again = [play_game(seat, GameTask(number, None)) for number in (23, 3, 20)]
    assert [game.text for game in again] == [games[0][number].text for number in (23, 3, 20)]


def test_own_results_follow_the_colours(games):
    for game in games[0]:
        read = chess.pgn.read_game(io.StringIO(game.text))
        names = read.headers["White"], read.headers["Black"]
        assert names.index("classic") == game.number % 2
        assert names[1 - game.number % 2] == f"classic copy {game.number // 2 + 1}"
        assert game.own == (-game.outcome if game.number % 2 else game.outcome)
        assert read.headers["Result"] == {1: "1-0", 0: "1/2-1/2", -1: "0-1"}[game.outcome]


def test_an_opening_does_not_depend_on_the_game_before():
    """Nor on the seed by which that chose among equal moves: in this one a candidate is nearly
    balanced."""
    engine, parameters = load_evaluation("classic")
    searcher, settings = engine.searcher(parameters, megabytes=1), replace(SETTINGS, seed=3)
    alone = random_opening(engine.game, settings, 31, searcher).moves
    for seed in range(200):
        searcher.choose_by(random.Random(seed).getrandbits(63) | 1)
        assert random_opening(engine.game, settings, 31, searcher).moves == alone


def test_a_game_ends_as_a_draw_at_its_greatest_length(recipe):
    short = replace(recipe, settings=replace(SETTINGS, plies=12))
    game = play_game(OwnPlayers(short, lambda: False), GameTask(0, None))
    assert (game.outcome, game.end, game.plies) == (0, PLIES, 12)


def test_a_game_that_is_stopped_is_nothing(recipe):
    assert play_game(OwnPlayers(recipe, lambda: True), GameTask(0, None)) is None


def test_limits_are_drawn_around_those_of_the_control():
    dice = random.Random(1)
    nodes = [Control(nodes=1000, vary=0.1).drawn(dice).nodes for _ in range(4000)]
    assert min(nodes) >= 900 and max(nodes) <= 1100 and abs(sum(nodes) / 4000 - 1000) < 5
    assert len(set(nodes)) > 150
    depths = [Control(depth=6, vary=0.25).drawn(dice).depth for _ in range(4000)]
    assert set(depths) == {5, 6} and 850 < depths.count(5) < 1150
    assert {Control(depth=1, vary=0.5).drawn(dice).depth for _ in range(99)} == {1, 2}
    assert Control(depth=6).drawn(dice) == Control(depth=6)
    assert Control(nodes=7).drawn(dice) == Control(nodes=7)
