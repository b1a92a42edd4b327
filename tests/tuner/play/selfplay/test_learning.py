"""That it learns: a mate with a rook from nothing but piece values, as in the dissertation of
2019."""

from pathlib import Path
from typing import Any

import pytest

from games.search.searcher import Limits
from tuner.evaluation.evaluation import load_evaluation
from tuner.io.terminal import Display
from tuner.options.selfplay import SelfplaySettings
from tuner.parallel import OnThreads
from tuner.play.openings import Opening
from tuner.play.run import new_run
from tuner.play.selfplay.games import Plan, play_episode
from tuner.play.selfplay.learner import SELVES, spacing_at
from tuner.play.selfplay.network import start_of
from tuner.play.selfplay.weights import WeightsRun

ROOK_MATE = (  # 1. Ra5 Kc8 2. Ra8#, which a search of two plies does not see
    "1k6/8/2K5/3R4/8/8/8/8 w - - 0 1"
)
DEPTH = 2


def mates_at_once(name: str | Path, seed: int) -> bool:
    """Whether greedy play ends in three plies."""
    evaluation = load_evaluation(name)
    searcher, game = evaluation.searcher(playing=False, megabytes=1), evaluation.game
    start = Opening(game.position(ROOK_MATE))
    episode = play_episode(game, searcher, Plan(Limits(depth=DEPTH), plies=40), 0, seed, start)
    return len(episode.moves) == 3 and episode.outcome == 1


def learned(folder: Path, seed: int, start: str = "material", **more: Any) -> bool:
    """Whether a run of self-play from the mate with a rook has learned it."""
    settings = SelfplaySettings(
        start=start,
        depth=DEPTH,
        random_plies=0,
        openings=ROOK_MATE,
        explore=0.3,
        truncated="draw",
        batch=1,
        half_life=200,  # batches, as the command has it
        lag=0,
        seed=seed,
        **more,
    )
    given = {"hidden": (), "seed": seed} if start == "chess" else {}
    run = WeightsRun(settings, None, Display(), start_of(start, given))
    new_run(run, folder / str(seed), OnThreads(1), "tuner selfplay")
    return mates_at_once(folder / str(seed) / run.learned, seed)


@pytest.mark.long
def test_the_mate_with_a_rook_is_learned_from_sixty_games(tmp_path):
    how = {"method": "td-leaf", "games": 60, "plies": 12, "learning_rate": 10.0}
    assert sum(learned(tmp_path, seed, **how) for seed in range(1, 11)) >= 9
    assert sum(mates_at_once("material", seed) for seed in range(10)) <= 3


@pytest.mark.long
@pytest.mark.parametrize(
    "how",
    [
        {"method": "td", "games": 300, "plies": 4, "lambda_": 1.0, "average": 0.0},
        {"method": "td-leaf", "games": 600, "plies": 12, "average": 0.9},
    ],
    ids=["td", "td-leaf"],
)
def test_one_neuron_learns_the_mate_with_a_rook(tmp_path, how):
    """From random weights; 10 and 9 of the seeds 1 to 10 do."""
    seeds = range(1, 6)
    assert sum(learned(tmp_path, seed, "chess", learning_rate=0.1, **how) for seed in seeds) >= 4


def test_past_selves_thin_out_and_stay_where_they_were():
    for batches in range(0, 5000, 7):
        spacing = spacing_at(batches)
        assert batches // spacing <= SELVES and spacing % spacing_at(max(0, batches - 1)) == 0
