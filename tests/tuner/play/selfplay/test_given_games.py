"""Self-play that begins inside given games, and the bound on its steps."""

from dataclasses import replace

import numpy as np
import pytest

from games.record import Openings
from games.search.searcher import Limits
from tests.commands.support import refused
from tests.support import file_with
from tests.tuner.core.support import read_checkpoint
from tuner.evaluation.evaluation import WeightsEvaluation
from tuner.evaluation.loading import load_engine
from tuner.io.terminal import Display
from tuner.options.selfplay import SelfplaySettings
from tuner.parallel import OnThreads
from tuner.play.openings import Opening
from tuner.play.run import new_run
from tuner.play.selfplay.games import GivenGames, Plan, play_episode
from tuner.play.selfplay.learner import new_learner
from tuner.play.selfplay.settings import openings_of
from tuner.play.selfplay.weights import WeightsRun, texts_of

LENGTHS = 3, 12, 80, 10, 31


def openings() -> Openings:
    """Games that differ in their first position, whose moves are 0, 1, 2, ..."""
    moves = np.concatenate([np.arange(length, dtype=np.uint32) for length in LENGTHS])
    return Openings(np.arange(len(LENGTHS), dtype=np.uint64)[:, None], moves, np.cumsum(LENGTHS))


def test_games_are_left_at_plies_in_the_range_and_before_their_ends():
    games = GivenGames(openings(), "games.pgn", 10, 50, 1)
    assert games.left_out == 2  # 3 and 10 plies
    found = [games.opening(number) for number in range(3000)]
    plies: dict[int, set[int]] = {}
    for opening in found:
        assert opening.moves == list(range(len(opening.moves)))
        plies.setdefault(int(opening.start[0]), set()).add(len(opening.moves))
    assert plies == {1: {10, 11}, 2: set(range(10, 51)), 4: set(range(10, 31))}
    assert {int(opening.start[0]) for opening in found[:3]} == {1, 2, 4}  # each game in turn


@pytest.mark.parametrize("name", ["material", "shogi/hand"])
def test_games_that_end_on_the_board_are_left_before_their_ends(tmp_path, name):
    """Games of a search against itself, most of which end in mate."""
    engine, parameters = load_engine(name)
    game, searcher = engine.game, engine.searcher(parameters, playing=False, megabytes=1)
    plan, start = Plan(Limits(depth=1), 12, plies=400), Opening(game.start())
    played = [play_episode(game, searcher, plan, number, 1, start) for number in range(12)]
    ended = [episode for episode in played if episode.outcome is not None]
    assert len(ended) > 5
    path = file_with(
        tmp_path / f"games{game.files.suffixes[0]}", texts_of(game, ended, "2026.11.30")
    )
    settings = SelfplaySettings(start=name, openings=str(path), from_ply=(0, 400), depth=1)
    notes: list[str] = []
    opening = openings_of(game, settings, notes.append)
    given = {tuple(episode.moves) for episode in ended}
    for number in range(len(ended)):
        moves = tuple(opening(number).moves)
        given.remove(next(line for line in given if line[: len(moves)] == moves != line))
    assert notes == []
    assert all(
        game.result(list(replay(game, opening(number)))) is None for number in range(3 * len(ended))
    )


def replay(game, opening):
    """Yield the positions of an opening."""
    words = opening.start
    yield words
    for move in opening.moves:
        words = game.play(words, move)
        yield words


def test_an_opening_depends_on_its_number_and_the_seed_alone():
    one, two, other = (GivenGames(openings(), "games.pgn", 0, 50, seed) for seed in (1, 1, 2))
    assert [len(one.opening(i).moves) for i in range(50)] == [
        len(two.opening(i).moves) for i in reversed(range(50))
    ][::-1]
    assert [len(one.opening(i).moves) for i in range(50)] != [
        len(other.opening(i).moves) for i in range(50)
    ]


def test_no_weight_moves_further_than_the_largest_step(tmp_path):
    settings = SelfplaySettings(
        start="material",
        games=8,
        depth=1,
        random_plies=4,
        batch=8,
        lag=0,
        plies=40,
        learning_rate=1000.0,
        learner="sgd",
    )
    engine, parameters = load_engine("material")
    before = parameters.weights
    moved = []
    for largest in (None, 7.5):
        run = WeightsRun(replace(settings, largest_step=largest), None, Display())
        new_run(run, tmp_path / str(largest), OnThreads(1), "tuner selfplay")
        moved.append(read_checkpoint(tmp_path / str(largest))["weights"] - before)
    assert np.abs(moved[0]).max() > 100  # the gradients ask for more
    free = new_learner(WeightsEvaluation(engine, parameters), settings).free
    np.testing.assert_allclose(
        moved[1], np.where(free, np.clip(moved[0], -7.5, 7.5), 0.0), rtol=1e-6, atol=1e-6
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--from-ply", "10:20"],
            "--from-ply: leaves given games at a random ply; name their file with --openings",
        ),
        (
            ["--from-ply", "20:10", "--openings", "x.pgn"],
            'from-ply is "20:10", expected FIRST:LAST, two numbers of plies in order',
        ),
        (
            ["--from-ply", "10:20", "--openings", "8/8/8/8/8/8/8/8 w - - 0 1"],
            "not a file; --from-ply expects a file of games",
        ),
        (["--largest-step", "0"], "largest-step is 0, expected"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(tmp_path, arguments, message):
    assert message in refused("selfplay", "material", "--run", tmp_path / "run", *arguments)
    assert not (tmp_path / "run").exists()
