"""That it learns: a mate with a rook from nothing but piece values, as in the dissertation of
2019."""

from pathlib import Path

from games.search.searcher import Limits
from tuner.evaluation.loading import load_engine
from tuner.io.terminal import Display
from tuner.options.selfplay import SelfplaySettings
from tuner.parallel import OnThreads
from tuner.play.openings import Opening
from tuner.play.run import new_run
from tuner.play.selfplay.games import Plan, play_episode
from tuner.play.selfplay.learner import SELVES, spacing_at
from tuner.play.selfplay.weights import WeightsRun

ROOK_MATE = (  # 1. Ra5 Kc8 2. Ra8#, which a search of two plies does not see
    "1k6/8/2K5/3R4/8/8/8/8 w - - 0 1"
)
DEPTH = 2


def mates_at_once(params: str | Path, seed: int) -> bool:
    """Whether greedy play ends in three plies."""
    engine, parameters = load_engine(params)
    searcher = engine.searcher(parameters, playing=False, megabytes=1)
    start = Opening(engine.game.position(ROOK_MATE))
    episode = play_episode(
        engine.game, searcher, Plan(Limits(depth=DEPTH), plies=40), 0, seed, start
    )
    return len(episode.moves) == 3 and episode.outcome == 1


def test_the_mate_with_a_rook_is_learned_from_sixty_games(tmp_path):
    learned = 0
    for seed in range(1, 11):
        settings = SelfplaySettings(
            start="material",
            games=60,
            depth=DEPTH,
            random_plies=0,
            openings=ROOK_MATE,
            explore=0.3,
            plies=12,
            truncated="draw",
            rate=10.0,
            batch=1,
            lag=0,
            method="td-leaf",
            seed=seed,
        )
        new_run(
            WeightsRun(settings, None, Display()),
            tmp_path / str(seed),
            OnThreads(1),
            "tuner selfplay",
        )
        learned += mates_at_once(tmp_path / str(seed) / "params.yaml", seed)
    assert learned >= 9
    assert sum(mates_at_once("material", seed) for seed in range(10)) <= 3


def test_past_selves_thin_out_and_stay_where_they_were():
    for batches in range(0, 5000, 7):
        spacing = spacing_at(batches)
        assert batches // spacing <= SELVES and spacing % spacing_at(max(0, batches - 1)) == 0
