"""Learning from the moves of games: positions after the move that was played, and after others."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.special import log_softmax

import tuner
from games.record import PositionBatch, ReadOptions, ReadReport
from games.search.searcher import Limits
from tests.games.backgammon.support import rolls_of_games
from tests.games.support import REPOSITORY
from tests.support import refusal
from tuner.evaluation.explain import leaf_of
from tuner.evaluation.loading import load_engine
from tuner.fit.choices import usual_temperature
from tuner.learn.methods import resolved
from tuner.learn.moves import NEAR, played_choices
from tuner.learn.searches import Making
from tuner.learn.sources import sources_of
from tuner.learn.targets import Start
from tuner.options.tune import TuneSettings
from tuner.parallel import OnThreads
from tuner.parameters.parameters import shares_of

SAMPLE = REPOSITORY / "games" / "samples" / "pubeval.mat.zst"


def batches(game, path, number):
    read = game.files.read(str(path), ReadOptions(positions="moves"), ReadReport(), print)
    return [batch for _, batch in zip(range(number), read, strict=False)]


def choices(engine, parameters, batch, **options):
    settings = TuneSettings(method="moves", **options)
    start = Start(engine, engine.game, parameters, sources_of([str(SAMPLE)], engine.game))
    chosen = resolved(settings, start)
    made = Making(start, chosen, Path(), lambda: None, OnThreads(1))
    return list(played_choices(made)(batch))


def test_a_choice_in_a_game_with_dice_is_among_all_moves_of_the_roll():
    engine, classic = load_engine("backgammon/classic")
    game = engine.game
    batch = batches(game, SAMPLE, 1)[0]
    found = iter(choices(engine, classic, batch))
    compared = 0

    def value(words):
        return np.tanh(classic.scale * engine.evaluate(words[None], classic)[0])

    for before, after in zip(batch.positions[:-1], batch.positions[1:], strict=True):
        played = game.before_roll(after)
        view = -1.0 if game.second_to_move(before) else 1.0
        others = [game.play(before, move) for move in game.legal_moves(before)]
        near = [
            tuple(other.tolist())
            for other in others
            if (other != played).any()
            and game.result([other]) is None
            and view * (value(other) - value(played)) >= -NEAR
        ]
        if near and game.result([played]) is None:
            choice = next(found)
            assert choice.view == view and choice.game == 0
            assert (choice.positions[choice.targets == 1] == played).all()
            assert choice.targets.sum() == 1
            rest = choice.positions[choice.targets == 0].tolist()
            assert sorted(map(tuple, rest)) == sorted(set(near))
            compared += 1
    assert compared > 30 and next(found, None) is None


def test_choices_of_a_searched_game_are_at_the_leaves_of_its_searches():
    engine, classic = load_engine("shogi/classic")
    game = engine.game
    batch = batches(game, SAMPLE.with_name("fairy400.csa.zst"), 1)[0]
    found = choices(engine, classic, batch, per_game=3)
    assert 1 <= len(found) <= 3
    searcher = engine.searcher(classic, False, 1)
    leaves = {
        leaf_of(game, words, searcher.search([words], Limits(depth=0))).words.tobytes()
        for words in batch.positions[1:]
    }
    for choice in found:
        assert choice.targets.sum() == 1 and set(choice.targets.tolist()) == {0.0, 1.0}
        assert choice.positions[choice.targets == 1][0].tobytes() in leaves


def test_the_temperature_is_that_of_the_lowest_loss():
    """Of a grid, by SciPy's softmax."""
    engine, classic = load_engine("backgammon/classic")
    batch = batches(engine.game, SAMPLE, 1)[0]
    found = choices(engine, classic, batch)

    evaluated = [each.view * engine.evaluate(each.positions, classic) for each in found]

    def loss(unit):
        return -sum(
            log_softmax(values / unit)[choice.targets == 1][0]
            for values, choice in zip(evaluated, found, strict=True)
        )

    grid = np.exp(np.linspace(1, 4, 151))
    best = grid[np.argmin([loss(unit) for unit in grid])]
    rows = engine.coefficients(np.concatenate([choice.positions for choice in found]))
    data = SimpleNamespace(
        matrix=lambda: rows.matrix(engine.layout.size),
        shares=lambda stages: shares_of(np.arange(engine.phases + 1), engine.phases, stages),
        phase=rows.phase,
        outcome=np.concatenate([choice.targets for choice in found]),
    )
    sizes = [len(choice.targets) for choice in found]
    group = np.repeat(np.arange(len(found)), sizes)
    view = np.repeat([choice.view for choice in found], sizes)
    assert usual_temperature(data, classic.weights, group, view) == pytest.approx(best, rel=0.02)
    assert usual_temperature(data, 0 * classic.weights, group, view) is None


@pytest.mark.long
def test_the_moves_of_a_player_teach_its_choices(tmp_path):
    """Games of `classic` teach `zero` to choose as `classic` does, far more often than it would."""
    tuner.play_match(
        "backgammon/classic", "backgammon/classic", games=40, pgn=tmp_path / "g.mat", seed=3
    )
    learned = tuner.tune("backgammon/zero", tmp_path / "g.mat", method="moves")
    engine, classic = load_engine("backgammon/classic")
    game, agree, chance = engine.game, [], []
    for rolled in rolls_of_games(5, 400):
        after = game.successors(rolled)
        if len(after) > 1:
            sign = -1 if game.second_to_move(rolled) else 1
            theirs = int(np.argmax(sign * engine.evaluate(after, classic)))
            ours = int(np.argmax(sign * engine.evaluate(after, learned.evaluation.parameters)))
            agree.append(ours == theirs)
            chance.append(1 / len(after))
    assert np.mean(agree) > 0.5 > 2 * np.mean(chance)
    assert "% of the moves are rated best" in str(learned)


@pytest.mark.parametrize(
    ("mistake", "said"),
    [
        ({"run": "there", "output": "a.yaml"}, "which --method moves does not learn"),
        ({"lambda_": 0.5}, "--lambda 0.5"),
        ({"positions": "all"}, "moves are those of whole games"),
        ({"depth": 2}, "the positions after the moves of a roll are not searched"),
        ({"rounds": 2}, "the positions after the moves of a roll are not searched"),
    ],
)
def test_options_that_have_no_use_are_refused_in_one_line(mistake, said, here):
    assert said in refusal(tuner.tune, "backgammon/classic", SAMPLE, method="moves", **mistake)


def test_a_game_without_a_move_has_no_choice():
    engine, classic = load_engine("backgammon/classic")
    one = np.zeros(1, np.int64)
    batch = PositionBatch(engine.game.start()[None], np.zeros(1), one, one, one, one)
    assert choices(engine, classic, batch) == []
