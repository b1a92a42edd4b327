"""From games to weights, end to end, for a game that the tuner has no special code for."""

from pathlib import Path

import numpy as np
import pytest

from games.record import ReadOptions
from tests.games.tictactoe.support import random_games
from tests.support import file_with
from tuner.evaluation.loading import load_engine
from tuner.fit.fit import fit
from tuner.fit.setup import FitOptions
from tuner.learn.build import build
from tuner.learn.sources import sources_of

REPOSITORY = Path(__file__).resolve().parents[3]
OPENINGS = {"centre": ".../.x./... o", "corner": "x../.../... o", "edge": ".x./.../... o"}


def bundled(name):
    return load_engine(REPOSITORY / "tests/fixtures/params/tictactoe" / f"{name}.yaml")


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """The positions of random games; the last one of a game is its result, which no evaluation need
    guess."""
    folder = tmp_path_factory.mktemp("tictactoe")
    path = file_with(folder / "games.ttt", "\n".join(random_games(1, 3000)) + "\n")
    options = ReadOptions(positions="all", skip_start=0, skip_end=1)
    engine = bundled("zero")[0]
    games = sources_of([str(path)], engine.game)
    return build(engine, games, folder / "data", options, None, print)[0]


@pytest.mark.parametrize("start", ["zero", "classic"])
def test_the_learned_evaluation_predicts_held_out_games_better_than_its_start(data, start):
    engine, parameters = bundled(start)
    found = fit(data, parameters, FitOptions())
    assert found.held_out_games > 100
    assert found.held_out_after < found.held_out_before - 0.025
    assert found.held_out_after == pytest.approx(found.loss_after, abs=0.03)

    openings = np.array([engine.game.position(text) for text in OPENINGS.values()])
    centre, corner, edge = engine.evaluate(openings, found.parameters)
    assert centre > corner > edge

    weights = dict(zip(engine.layout.labels(), found.parameters.weights[0], strict=True))
    assert weights["lines.open[1]"] > weights["lines.open[0]"] > 0
    assert weights["lines.win"] > 50


def test_squares_have_the_highest_weight_in_the_centre_and_the_lowest_at_the_edge(data):
    engine, parameters = bundled("zero")
    found = fit(data, parameters, FitOptions(only=("squares",)))
    weights = dict(zip(engine.layout.labels(), found.parameters.weights[0], strict=True))
    assert weights["squares.centre"] > weights["squares.corner"] > weights["squares.edge"]


def test_tempo_is_collinear_with_the_sum_of_all_squares(data):
    """The mover has as many marks as the opponent, or one fewer: the null space has exactly one
    direction."""
    engine, parameters = bundled("zero")
    assert fit(data, parameters, FitOptions()).null_space.dimension == 1
