"""Expectimax against plain loops in Python; the dice of the record; pubeval as a player."""

import numpy as np
import pytest

from games.record import Dice, find
from games.search.searcher import Limits
from tests.support import refusal
from tuner.evaluation.loading import load_engine

GAME = find("backgammon")
KEPT, MARGIN = 8, 0.16 / 3  # of the filter, in v


@pytest.fixture(scope="module")
def engine():
    return load_engine("backgammon/classic")


def positions(number: int, seed: int = 3) -> list[np.ndarray]:
    """Positions with dice of random games, among them some at the end."""
    found, random, game = [], np.random.default_rng(seed), 0
    while len(found) < number:
        words = GAME.rolled(GAME.start(), Dice(seed, game))
        game += 1
        line = []
        while GAME.result([words]) is None:
            line.append(words)
            words = GAME.after(words, int(random.choice(GAME.legal_moves(words))), Dice(seed, game))
        found += [line[i] for i in random.permutation(len(line))[:3]] + line[-1:]
    return found[:number]


def plain(engine, words: np.ndarray, depth: int) -> tuple[float, list[int]]:
    """The value for the side to move and the moves that have it."""
    game, (own, parameters) = GAME, engine
    moves = game.legal_moves(words)
    sign = -1 if game.second_to_move(words) else 1
    after = [game.play(words, move) for move in moves]
    rewards = [game.result([each]) for each in after]
    statics = np.tanh(parameters.scale * own.evaluate(np.array(after), parameters))
    values = np.array(
        [
            sign * (v if reward is None else reward)
            for v, reward in zip(statics, rewards, strict=True)
        ]
    )
    if depth > 1:
        order = [
            k for k in np.argsort(-values, kind="stable") if values[k] >= values.max() - MARGIN
        ][:KEPT]
        deep = np.full(len(values), -2.0)
        for k in order:
            deep[k] = values[k]
            if rewards[k] is None:
                rolls, chances = game.chance.rolls(after[k])
                deep[k] = -sum(
                    chance * plain(engine, roll, depth - 1)[0]
                    for roll, chance in zip(rolls, chances, strict=True)
                )
        values = deep
    return values.max(), [
        move for move, value in zip(moves, values, strict=True) if value > values.max() - 1e-12
    ]


@pytest.mark.parametrize(("depth", "number"), [(1, 60), (2, 6)])
def test_values_and_moves_are_those_of_plain_loops(engine, depth, number):
    searcher, scale = engine[0].searcher(engine[1], False, lean=False), engine[1].scale
    for words in positions(number):
        found = searcher.search([words], Limits(depth=depth))
        value, best = plain(engine, words, depth)
        assert found.move in best
        assert (
            np.tanh(scale * found.value) if found.reward is None else found.reward
        ) == pytest.approx(value, abs=1e-8)


def test_equal_moves_are_chosen_at_random_by_the_seed():
    zero = load_engine("backgammon/zero")
    searcher, words = zero[0].searcher(zero[1]), GAME.rolled(GAME.start(), Dice(1, 1))
    chosen = []
    for seed in range(400):
        searcher.choose_by(seed)
        chosen.append(searcher.search([words], Limits(depth=1)).move)
        assert chosen[-1] == searcher.search([words], Limits(depth=1)).move
    moves = GAME.legal_moves(words)
    counts = np.array([chosen[1:].count(move) for move in moves])
    assert counts.min() > 0 and counts.max() < 4 * 400 / len(moves) + 12


def test_values_of_rolls_are_those_of_searches_for_the_first_player(engine):
    searcher, scale = engine[0].searcher(engine[1], False, lean=False), engine[1].scale
    some = np.array(positions(20))
    for words, value in zip(some, searcher.best_values(some), strict=True):
        found = searcher.search([words], Limits(depth=1))
        own = np.tanh(scale * found.value) if found.reward is None else found.reward
        assert value == pytest.approx(-own if GAME.second_to_move(words) else own, abs=1e-9)


@pytest.mark.parametrize(
    "limits", [Limits(depth=4), Limits(depth=1, nodes=100), Limits(depth=1, seconds=1.0)]
)
def test_other_limits_than_a_depth_are_refused(engine, limits):
    assert "limited by a depth of 1 to 3 alone" in refusal(
        engine[0].searcher(engine[1]).search, [positions(1)[0]], limits, error=ValueError
    )


def test_a_whole_game_has_the_rolls_of_the_record(engine):
    """The compiled dice are those of `games.backgammon.rules.dice`, from the first roll on."""
    searcher = engine[0].searcher(engine[1], False, lean=False)
    for number in range(5):
        found, dice = searcher.play(GAME.start(), 7, number, 2000), Dice(7, number)
        words = GAME.start()
        for here, after, move in zip(found.line, found.after, found.moves, strict=True):
            assert np.array_equal(here, GAME.chance.roll(words, dice))
            words = GAME.play(here, move)
            assert np.array_equal(after, words)
        assert GAME.result([words]) is not None
