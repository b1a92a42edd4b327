"""That it learns: a mate with a rook from nothing but piece values, as in the dissertation of
2019."""

import shutil
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from games.record import CRASH, Forfeit, find
from games.search.searcher import Limits
from tests.commands.support import done, refused, tuner
from tests.games.chess.engines.contest import __file__ as contest
from tests.tuner.core.support import change_settings, read_checkpoint
from tuner.evaluation.engine import MovedPositions, counted_positions
from tuner.evaluation.evaluation import WeightsEvaluation, load_evaluation
from tuner.evaluation.loading import load_engine
from tuner.evaluation.networks.evaluation import network_evaluation
from tuner.findings.selfplay import (
    learned_network,
    learned_weights,
    played_values,
    values_of,
)
from tuner.io.run_folder import read_settings
from tuner.io.terminal import Display
from tuner.options.selfplay import SECTION, SelfplaySettings
from tuner.parallel import OnThreads
from tuner.play.openings import Opening
from tuner.play.run import new_run
from tuner.play.selfplay.games import FORFEITED, Plan, play_episode
from tuner.play.selfplay.learner import SELVES, new_learner, spacing_at
from tuner.play.selfplay.network import start_of
from tuner.play.selfplay.settings import MEGABYTES, plan_of
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


GAME = find("backgammon")


@pytest.mark.parametrize("method", ["td", "td-leaf"])
def test_a_gammon_is_learned_from_as_a_single_game(method):
    engine, parameters = load_engine("backgammon/zero")
    searcher = engine.searcher(parameters, False, 1, lean=False)
    plan, start = Plan(Limits(depth=1), plies=2000), Opening(GAME.start())
    games = [play_episode(GAME, searcher, plan, number, 3, start) for number in range(12)]
    assert len({abs(game.outcome) for game in games}) > 1
    single = [
        replace(game, outcome=np.sign(game.outcome) / 3, known=np.sign(game.known) / 3)
        for game in games
    ]
    settings = SelfplaySettings(
        start="backgammon/zero", games=12, depth=1, random_plies=0, method=method
    )

    def learned(wins: bool, played: list) -> np.ndarray:
        learner = new_learner(WeightsEvaluation(engine, parameters), replace(settings, wins=wins))
        learner.learn(played)
        return learner.weights

    assert (learned(True, games) == learned(False, single)).all()
    assert (learned(True, games) != learned(False, games)).any()


@pytest.mark.parametrize("method", ["td-leaf", "td", "rootstrap", "treestrap"])
def test_the_weights_are_the_same_to_a_millionth(tmp_path, method):
    for gradient in ("analytic", "finite-difference"):
        done(
            "selfplay",
            "--method",
            method,
            "--games",
            24,
            "--batch",
            4,
            "--depth",
            1,
            "--gradient",
            gradient,
            "--run",
            tmp_path / gradient,
        )
    one, other = (
        read_checkpoint(tmp_path / gradient)["weights"]
        for gradient in ("analytic", "finite-difference")
    )
    assert np.abs(one - other).max() < 1e-6 and np.abs(one).sum() > 0
    assert (np.abs(one - read_checkpoint(tmp_path / "analytic")["kept"][0]) > 1e-3).any()


def test_forward_differences_have_the_bias_of_theory(small_dataset):
    """h v'' / 2 for each weight: v'' = -2 scale^2 v (1 - v^2) x^2."""
    engine, parameters = load_engine("classic")
    rng, line = np.random.default_rng(1), [engine.game.start()]
    while len(line) < 80 and engine.game.result(line) is None:
        moves = engine.game.legal_moves(line[-1])
        line.append(engine.game.play(line[-1], moves[rng.integers(len(moves))]))
    positions, scale, step = np.array(line), parameters.scale, 1.0
    factors, rows = rng.normal(size=len(positions)), counted_positions(engine, positions, 2)
    analytic = rows.slopes(factors, scale, parameters.weights)
    forward = MovedPositions(engine, positions, step, False).slopes(
        factors, scale, parameters.weights
    )
    central = MovedPositions(engine, positions, 0.01, True).slopes(
        factors, scale, parameters.weights
    )
    np.testing.assert_allclose(central, analytic, rtol=0, atol=1e-6 * np.abs(analytic).max())
    v = np.tanh(scale * rows.evaluations(parameters.weights))
    dense = engine.coefficients(positions).dense(engine.layout.size)
    second = np.stack(
        [(share * dense.T) ** 2 @ (factors * -2 * scale * v * (1 - v**2)) for share in rows.shares]
    )
    np.testing.assert_allclose(
        forward - analytic,
        0.5 * step * second,
        rtol=0,
        atol=0.03 * np.abs(0.5 * step * second).max(),
    )


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        ("--step 2", "--step: is for finite differences; the gradient is analytic"),
        ("--method td --noisy", "--noisy: applies to rootstrap and treestrap"),
        ("--method treestrap --lambda 0.5", "--lambda: treestrap learns from searches"),
        (
            "--method treestrap --truncated draw",
            "--truncated: treestrap does not learn from results",
        ),
        ("--method rootstrap --blunders keep", "--blunders keep: applies to td and td-leaf"),
    ],
)
def test_options_that_the_method_does_not_use_are_refused(tmp_path, arguments, wanted):
    assert (
        wanted in refused("selfplay", *arguments.split(), "--run", tmp_path / "run")
        and not (tmp_path / "run").exists()
    )


ENGINES = Path(contest).parent


class Quitter:
    """A player that gives up before the game, or at its first move."""

    def __init__(self, when: str) -> None:
        self._when = when

    def begin(self, seed: str, start) -> None:
        if self._when == "begin":
            raise Forfeit(CRASH)

    def choose(self, line, moves, left):
        raise Forfeit(CRASH)


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("when", ["begin", "choose"])
def test_an_opponent_that_gives_up_loses(when, first):
    engine, parameters = load_engine("classic")
    episode = play_episode(
        engine.game,
        engine.searcher(parameters, megabytes=1),
        Plan(Limits(depth=1)),
        0,
        1,
        Opening(engine.game.start()),
        opponent=Quitter(when),
        first=first,
    )
    assert (episode.end, episode.outcome) == (FORFEITED, 1 - 2 * first)
    assert len(episode.moves) == len(episode.ply) == (when == "choose" and first == 0)


def test_games_lost_by_faults_teach_nothing_and_many_stop_the_run(tmp_path):
    fake = f"uci:{sys.executable} {ENGINES / 'fake_engine.py'} uci"
    run = tmp_path / "run"
    words = [
        "selfplay",
        "classic",
        "--games",
        "12",
        "--batch",
        "4",
        "--depth",
        "1",
        "--plies",
        "40",
        "--workers",
        "1",
    ]
    ran = tuner(*words, "--opponent", f"{fake} illegal 2", "--run", run)
    assert ran.status == 2
    assert "4 of 4 games were lost by faults of the opponent, such as illegal moves" in ran.err
    one = done(*words, "--opponent", f"{fake} crash 120", "--run", tmp_path / "other")
    assert "games that the opponent lost by faults, left out: 1\n" in one.out


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("played") / "run"
    done("selfplay", "backgammon/classic", "--games", 16, "--run", folder)
    return folder


def learned_of(folder):
    _, parameters = load_engine("backgammon/classic")
    return learned_weights(folder / "params.yaml", 16, parameters.weights, print)


def test_games_come_after_those_of_the_run_and_leave_out_what_the_rules_decide(run):
    found = played_values(learned_of(run), 12, Display())
    settings = read_settings(run, SECTION, SelfplaySettings)
    engine, parameters = load_engine(run / "params.yaml")
    searcher = engine.searcher(parameters, False, MEGABYTES, lean=False)
    start = engine.game.start()
    games = [
        play_episode(
            engine.game, searcher, plan_of(settings), 16 + k, settings.seed, Opening(start)
        )
        for k in range(12)
    ]
    # after a move; the evaluation does not see dice
    positions = np.concatenate([episode.line[1:-1] for episode in games])
    value = np.tanh(parameters.scale * engine.evaluate_many(positions, parameters, 1))
    result = np.repeat(
        [episode.outcome for episode in games], [len(episode.line) - 2 for episode in games]
    )
    assert found.games == 12 and found.broken_off == 0
    np.testing.assert_allclose(found.result, result)
    np.testing.assert_allclose(found.value, value, atol=1e-3)  # searches round weights
    classic = load_engine("backgammon/classic")[1]
    before = np.tanh(parameters.scale * engine.evaluate_many(positions, classic, 1))
    np.testing.assert_allclose(found.before, before, atol=1e-3)
    assert np.abs(found.before - found.value).max() > 0.01
    assert values_of([], 0.003).games == 0


def test_what_learned_from_wins_is_held_against_wins(run, tmp_path):
    """The games are the same for the same weights: values and results are those of wins."""
    shutil.copytree(run, tmp_path / "wins")
    change_settings(tmp_path / "wins", wins=True)
    points, wins = (
        played_values(learned_of(folder), 12, Display()) for folder in (run, tmp_path / "wins")
    )
    np.testing.assert_allclose(wins.value, np.clip(3 * points.value, -1, 1))
    np.testing.assert_allclose(wins.before, np.clip(3 * points.before, -1, 1))
    np.testing.assert_allclose(wins.result, np.sign(points.result))


@pytest.mark.parametrize("wins", [(), ("--wins",)], ids=["points", "wins"])
def test_values_of_a_network_are_those_of_its_evaluation(tmp_path, wins):
    done("selfplay", "backgammon", "--hidden", 3, "--games", 60, *wins, "--run", tmp_path)
    learned, evaluation = learned_network(tmp_path, 60), network_evaluation(tmp_path / "net.yaml")
    found, game = played_values(learned, 10, Display()), evaluation.game
    start = Opening(game.start())
    episodes = [
        play_episode(game, learned.searcher, learned.plan, 60 + k, learned.seed, start)
        for k in range(10)
    ]
    positions = np.concatenate([episode.line[1:-1] for episode in episodes])
    value = np.tanh(evaluation.scale * evaluation.values(positions))
    np.testing.assert_allclose(found.value, 3 * value if wins else value, atol=2e-4)
    results = np.repeat(
        [episode.outcome for episode in episodes], [len(episode.line) - 2 for episode in episodes]
    )
    np.testing.assert_allclose(found.result, np.sign(results) if wins else results)
    assert found.games == 10 and found.before is None
