"""Networks that learn in self-play from batches of games, in games without dice."""

import json
import shutil
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest

from evalterms.framework.encoding import encoding_named
from games.record import Dice, find
from games.search.searcher import Limits
from tests.commands.support import done, refused, tuner
from tests.games.support import REPOSITORY
from tests.support import file_with
from tests.tuner.core.support import read_records
from tests.tuner.evaluation.networks.support import network
from tuner.evaluation.evaluation import load_evaluation
from tuner.evaluation.networks.evaluation import evaluation_of
from tuner.evaluation.networks.files import NetworkFile
from tuner.options.selfplay import SelfplaySettings
from tuner.play.openings import Opening
from tuner.play.selfplay.folder import read_keys
from tuner.play.selfplay.games import Plan, play_episode
from tuner.play.selfplay.learner import new_learner

SHORT = ("--hidden", "8", "--depth", 1, "--batch", 4, "--plies", 40)
SHAPES = {
    "chess": ("bitboard768", [(7, "relu"), (1, "sigmoid")]),
    "backgammon": ("tesauro198", [(6, "tanh"), (5, "relu"), (1, "tanh")]),
}


def random_line(game: str, plies: int) -> np.ndarray:
    """Positions of a random game."""
    rules, random = find(game), np.random.default_rng(3)
    line, dice = [rules.start()], Dice(1, 1)
    if rules.has_dice:
        line = [rules.rolled(line[0], dice)]
    while len(line) < plies and rules.result(line) is None:
        moves = rules.legal_moves(line[-1])
        line.append(rules.play(line[-1], moves[random.integers(len(moves))]))
        if rules.has_dice:
            line[-1] = rules.rolled(line[-1], dice)
    return np.array(line)


@pytest.mark.parametrize("game", SHAPES)
def test_gradients_of_values_are_those_of_differences_and_of_autograd(game):
    """In backgammon of a network of wins alone, whose value of 1 is a third of the points."""
    encoding, layers = SHAPES[game]
    made = network(encoding_named(game, encoding).size, layers)
    evaluation = evaluation_of(NetworkFile(game, encoding, made, 1, "a test", 0.00255))
    line, random = random_line(game, 40), np.random.default_rng(5)
    rows, weights, factors = evaluation.positions(line), made.flat(), random.normal(size=len(line))

    def total(w: np.ndarray) -> float:
        return float(factors @ np.tanh(evaluation.scale * rows.evaluations(w)))

    found = rows.slopes(factors, evaluation.scale, weights)
    np.testing.assert_allclose(rows.evaluations(weights), evaluation.values(line), atol=0.01)
    for i in random.choice(np.flatnonzero(found), 60, replace=False):
        step = np.zeros(len(weights))
        step[i] = 1e-5
        slope = (total(weights + step) - total(weights - step)) / 2e-5
        assert found[i] == pytest.approx(slope, abs=1e-6)

    first, one = evaluation.positions(line[:1]), factors[:1]  # a matrix of one row
    other = np.concatenate([one, np.zeros(len(line) - 1)])
    np.testing.assert_allclose(
        first.slopes(one, evaluation.scale, weights),
        rows.slopes(other, evaluation.scale, weights),
        atol=1e-12,
    )

    autograd = pytest.importorskip("autograd", reason="needs autograd")
    inputs = rows.inputs.toarray().astype(float)

    def by_autograd(flat):
        import autograd.numpy as anp

        out, at = inputs, 0
        for layer, (_, activation) in zip(made.layers, layers, strict=True):
            rows_, width = layer.weights.shape
            sums = anp.dot(out, flat[at : at + rows_ * width].reshape(rows_, width))
            sums = sums + flat[at + rows_ * width : at + (rows_ + 1) * width]
            at += (rows_ + 1) * width
            out = {
                "relu": lambda x: anp.maximum(x, 0),
                "tanh": anp.tanh,
                "sigmoid": lambda x: anp.tanh(x / 2),  # as a value from -1 to 1
            }[activation](sums)
        return evaluation.share * anp.dot(factors * rows.signs, out[:, 0])

    np.testing.assert_allclose(found, autograd.grad(by_autograd)(weights), atol=1e-9)


@pytest.fixture(scope="module")
def learned(tmp_path_factory):
    """The folder of a run of 24 games."""
    folder = tmp_path_factory.mktemp("network") / "run"
    done("selfplay", "chess", *SHORT, "--games", 24, "--workers", 1, "--run", folder)
    return folder


def assert_same(folder, other):
    """What two runs learned and played."""
    for name in ("start.npz", "net.npz"):
        a, b = np.load(folder / name), np.load(other / name)
        assert all((a[key] == b[key]).all() for key in a.files)
    plain = [
        [
            {key: value for key, value in line.items() if key != "cpu_seconds"}
            for line in read_records(each)
        ]
        for each in (folder, other)
    ]
    assert plain[0] == plain[1]
    assert read_keys(folder) == read_keys(other)


@pytest.mark.long
def test_a_killed_run_goes_on_to_the_same_network_with_any_number_of_threads(learned, tmp_path):
    folder = tmp_path / "run"
    words = [sys.executable, "-m", "tuner", "selfplay", "chess", *map(str, SHORT)]
    words += ["--games", "24", "--workers", "2", "--run", str(folder)]
    process = subprocess.Popen(words, cwd=REPOSITORY, stderr=subprocess.DEVNULL)
    while process.poll() is None and not read_records(folder):
        time.sleep(0.01)
    process.kill()
    process.wait()
    done("selfplay", "--resume", folder, "--workers", 2)
    assert_same(learned, folder)


def test_what_was_learned_plays_evaluates_is_reported_and_learns_on(learned, tmp_path):
    net = learned / "net.yaml"
    start, end = load_evaluation(learned / "start.yaml"), load_evaluation(net)
    line = random_line("chess", 30)
    assert (start.values(line) != end.values(line)).all()
    done("match", net, "random", "--games", 2, "--depth", 1, "--plies", 20)
    done("report", shutil.copytree(learned, tmp_path / "copy"))
    text = (tmp_path / "copy" / "report.html").read_text()
    assert "bitboard768" in text and "768-8-1" in text
    on, out = tmp_path / "on", tmp_path / "o.yaml"
    done("selfplay", net, *SHORT[2:], "--games", 4, "--run", on, "-o", out)
    before, after = (np.load(path)["weights0"] for path in (learned / "net.npz", on / "start.npz"))
    assert (before == after).all()
    assert out.with_suffix(".npz").read_bytes() == (on / "net.npz").read_bytes()


def test_games_are_played_against_past_selves(tmp_path):
    past = ("--opponent", "self", "--opponent", "past")
    done("selfplay", "chess", *SHORT, "--games", 12, *past, "--run", tmp_path / "run")
    assert "opponent" in (tmp_path / "run" / "games.pgn").read_text()


def test_a_rate_that_is_too_large_is_named_with_a_smaller_one(tmp_path):
    ran = tuner(
        *("selfplay", "chess", *SHORT, "--games", 400, "--learner", "sgd", "--learning-rate", 1e4),
        *("--run", tmp_path / "run"),
    )
    line = ran.err.splitlines()[-1]
    assert ran.status == 2 and line.startswith("tuner: --learning-rate 10000: in batch 2 ")
    assert line.endswith("such as 0.01")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--fixed", "material.*"), "--fixed material.*: the weights of a network have no names"),
        (
            ("--gradient", "finite-difference"),
            "finite-difference: networks backpropagate",
        ),
        (("--measure", "pubeval"), "--measure"),
        (("-o", "net.txt"), "net.txt: expected the name of a YAML file, such as net.yaml"),
    ],
)
def test_what_networks_have_not_is_refused(here, words, said):
    assert said in refused("selfplay", "chess", *SHORT, "--games", 4, *words)


@pytest.mark.long
@pytest.mark.parametrize("seed", [1, 2])
def test_it_plays_better_than_before(tmp_path, seed):
    """64 rectified units by TD-Leaf from nothing, as in the dissertation."""
    folder = tmp_path / "run"
    done(
        *("selfplay", "chess", "--hidden", 64, "--method", "td-leaf", "--depth", 2),
        *("--games", 500, "--seed", seed, "--run", folder),
    )
    ran = done(
        *("match", folder / "net.yaml", folder / "start.yaml", "--depth", 2, "--games", 200),
        *("--plies", 160, "--json"),
    )
    assert json.loads(ran.out)["elo"]["low"] > 0


def test_cross_entropy_is_descended_along_its_gradient():
    """By TD(1), towards the results: of a network, by differences of the loss."""
    encoding, layers = SHAPES["chess"]
    made = network(encoding_named("chess", encoding).size, layers)
    evaluation = evaluation_of(NetworkFile("chess", encoding, made, 1, "a test", 0.00255))
    searcher, plan = evaluation.searcher(False, 1), Plan(Limits(depth=1), 4, plies=30)
    start = Opening(evaluation.game.start())
    games = [play_episode(evaluation.game, searcher, plan, k, 3, start) for k in range(3)]
    games = [replace(game, outcome=z) for game, z in zip(games, (1, 0, -1), strict=True)]
    settings = SelfplaySettings(
        start="chess",
        method="td",
        lambda_=1.0,
        learner="sgd",
        learning_rate=1.0,
        loss="cross-entropy",
    )
    learner = new_learner(evaluation, settings)
    learner.learn(games)
    positions = np.concatenate([game.positions for game in games])
    rows = evaluation.positions(positions)
    q = np.repeat([(1 + game.outcome) / 2 for game in games], [len(game.ply) for game in games])

    def loss(weights: np.ndarray) -> float:
        p = (1 + np.tanh(evaluation.scale * rows.evaluations(weights))) / 2
        return -float((q * np.log(p) + (1 - q) * np.log(1 - p)).sum())

    moved, weights = learner.weights - evaluation.weights, evaluation.weights
    for i in np.random.default_rng(1).choice(np.flatnonzero(moved), 40, replace=False):
        step = np.zeros(len(weights))
        step[i] = 1e-5
        slope = (loss(weights + step) - loss(weights - step)) / 2e-5
        assert moved[i] == pytest.approx(-slope, abs=1e-6)


def test_options_without_use_are_refused_and_the_start_is_not_needed_again(learned, tmp_path):
    terms = file_with(tmp_path / "terms.py", "")
    line = refused("selfplay", "chess", *SHORT, "--games", 4, "--terms", terms)
    assert "a network has no terms" in line
    line = refused("selfplay", "material", "--activation", "relu", "--games", 4)
    assert "--activation: describes a new network" in line
    for name in ("net.yaml", "net.npz"):
        shutil.copy(learned / name, tmp_path / name)
    run = tmp_path / "run"
    done("selfplay", tmp_path / "net.yaml", *SHORT[2:], "--games", 4, "--run", run)
    (tmp_path / "net.yaml").unlink()
    done("selfplay", "--resume", run, "--games", 8, "-o", tmp_path / "out.yaml")
    assert load_evaluation(tmp_path / "out.yaml").weights.any()
