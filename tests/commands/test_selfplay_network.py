"""`tuner selfplay` of networks as people run it: what it leaves, that it resumes bit for bit, and
what it refuses."""

import json
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from games.record import find
from tests.commands.support import done, tuner
from tests.commands.test_selfplay import KILLED
from tests.games.support import REPOSITORY
from tests.tuner.core.support import read_records
from tuner.evaluation.networks.evaluation import network_evaluation

NEW = ("backgammon", "--hidden", 3)
GAME = find("backgammon")


def history(folder: Path) -> list[dict]:
    return read_records(folder)


def untimed(folder: Path) -> list[dict]:
    """The history without its times."""
    return [
        {key: value for key, value in line.items() if key != "cpu_seconds"}
        for line in history(folder)
    ]


@pytest.fixture(scope="module")
def learned(tmp_path_factory) -> Path:
    """A run of 300 games in six batches, measured twenty times at most."""
    folder = tmp_path_factory.mktemp("network") / "run"
    ran = done(
        "selfplay",
        *NEW,
        "--games",
        300,
        "--measure",
        "pubeval",
        "--measure-games",
        40,
        "--run",
        folder,
        "-o",
        folder.parent / "net.yaml",
        "--seed",
        4,
    )
    assert (
        f"learned from 300 games in {history(folder)[-1]['cpu_seconds']:.1f} CPU s:"
        f" {folder.parent / 'net.yaml'} and net.npz" in ran.out
    )
    assert re.search(
        r"-\d\.\d{3} \+/- 0\.\d{3} points a game against pubeval, 40 games in pairs with the same"
        r" dice",
        ran.out,
    )
    assert (
        f"see how strong it is: tuner match {folder.parent / 'net.yaml'} pubeval --games 2000"
        in ran.out
    )
    return folder


def test_a_run_leaves_a_network_that_plays_and_its_history(learned):
    out = learned.parent / "net.yaml"
    assert out.with_suffix(".npz").read_bytes() == (learned / "net.npz").read_bytes()
    evaluation = network_evaluation(out)
    assert (evaluation.encoding.name, evaluation.size_text, evaluation.file.points) == (
        "perspective196",
        "196-3-1",
        3,
    )
    assert evaluation.file.origin == "300 games of self-play from backgammon, points, seed 4"
    lines = history(learned)
    assert [line["games"] for line in lines] == [50, 100, 150, 200, 250, 300]
    assert all(
        sum(line["by_points"].values()) + line["broken_off"] == pytest.approx(1) for line in lines
    )
    assert lines[0]["rate"] == 1 and lines[1]["rate"] == pytest.approx(1 / (1 + 50 / 20_000))
    start, end = (
        network_evaluation(learned / name).network.flat() for name in ("start.yaml", "net.yaml")
    )
    assert abs(end - start).max() > 0.1
    found = json.loads(done("match", out, "random", "--games", 4, "--json").out)
    assert found["games"] == 4 and found["points_a_game"]["value"] is not None


@pytest.mark.long
def test_a_run_killed_at_any_moment_ends_with_the_same_bytes(learned, tmp_path):
    folder = tmp_path / "run"
    arguments = [
        *map(str, NEW),
        "--games",
        "300",
        "--measure",
        "pubeval",
        "--measure-games",
        "40",
        "--seed",
        "4",
        "--run",
        str(folder),
    ]
    for changes in (28, 12):  # of files, those of checkpoints among them
        ran = subprocess.run(
            [sys.executable, "-c", KILLED, str(folder), str(changes), "selfplay", *arguments],
            cwd=REPOSITORY,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        assert ran.returncode == -signal.SIGKILL
        arguments = ["--resume", str(folder)]
    assert 0 < len(history(folder)) < 6
    done("selfplay", "--resume", folder)
    assert untimed(folder) == untimed(learned)
    for name in ("net.npz", "start.npz", "net.yaml"):
        assert (folder / name).read_bytes() == (learned / name).read_bytes()


def test_learning_goes_on_from_a_network(learned, tmp_path):
    net = learned.parent / "net.yaml"
    done("selfplay", net, "--games", 20, "--seed", 9, "--run", tmp_path / "run")
    start, end = (np.load(tmp_path / "run" / name)["weights0"] for name in ("start.npz", "net.npz"))
    assert (start == np.load(net.with_suffix(".npz"))["weights0"]).all() and (start != end).any()


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (
            "selfplay backgammon",
            (
                "backgammon: a game; for a new network add --encoding or --hidden, for weights name"
                " a parameter"
            ),
        ),
        (
            "selfplay shogi --hidden 8 --encoding bitboard768",
            "--encoding bitboard768: shogi has men2282",
        ),
        (
            "selfplay backgammon/zero --hidden 8",
            "describe a new network, of a game; expected the name of a game instead of",
        ),
        (
            "selfplay net.yaml --encoding perspective196",
            "describe a new network, of a game; expected the name of a",
        ),
        ("selfplay net.yaml --activation relu", "--activation: describes a new network"),
        (
            "selfplay net.yaml --wins",
            "--wins: net.yaml learned points; leave it out, or begin with a new network",
        ),
        (
            "selfplay backgammon --encoding board",
            "--encoding board: backgammon has tesauro198, perspective196",
        ),
        (
            "selfplay backgammon --hidden 8,x",
            'hidden is "8,x", expected a list of 1 to 7 whole numbers from 1 to 4096',
        ),
        (
            "selfplay backgammon --hidden 8 --random-plies 2",
            "--random-plies: has no meaning for networks of games with dice",
        ),
        ("selfplay backgammon --hidden 8 --depth 1", "--depth: has no meaning for networks"),
        ("selfplay backgammon --hidden 8 --batch 8", "--batch: has no meaning for networks"),
        (
            "selfplay backgammon --hidden 8 --opponent past",
            "--opponent: has no meaning for networks",
        ),
        (
            "selfplay backgammon --hidden 8 --workers 2",
            "--workers 2: a network learns after every ply, in one thread; leave it out",
        ),
        (
            "selfplay backgammon --hidden 8 --cluster local:2",
            "--cluster local:2: a network learns after every ply, in one thread",
        ),
        (
            "selfplay backgammon --hidden 8 --measure gnubg:0",
            "--measure gnubg:0: expected random, pubeval, a parameter file or a",
        ),
        (
            "selfplay backgammon --hidden 8 --measure classic",
            "--measure classic: plays chess, the learner backgammon",
        ),
        ("selfplay backgammon --hidden 8 --measure nobody", "nobody: no such file"),
        (
            "selfplay backgammon --hidden 8 --measure-games 8",
            "--measure-games: is for --measure PLAYER; leave it out, or name the",
        ),
        (
            "selfplay backgammon --hidden 8 --measure random --measure-games 7",
            "measure-games is 7, expected an even number of 6",
        ),
        (
            "selfplay backgammon --hidden 8 --games 200 --learning-rate 1e30",
            "so large that nothing is learned any more; choose a",
        ),
        (
            "selfplay backgammon --hidden 8 -o net.txt",
            "net.txt: expected the name of a YAML file, such as net.yaml",
        ),
        (
            "selfplay net.yaml -o net.yaml",
            "net.yaml: is an input of this command and would be overwritten",
        ),
        (
            "selfplay backgammon --hidden 8 --run run",
            "run: contains a run already; continue it with --resume run",
        ),
        (
            "selfplay --resume run --workers 2",
            "--workers 2: a network learns after every ply, in one thread",
        ),
        (
            "selfplay --resume run --seed 3",
            "--seed: a resumed run keeps its settings; with --resume only",
        ),
        (
            "selfplay shogi/hand --wins",
            "--wins: games of shogi win one point, never more; leave it out",
        ),
        (
            "selfplay material --wins",
            "--wins: games of chess win one point, never more; leave it out",
        ),
        (
            "selfplay material --measure backgammon/classic",
            "--measure backgammon/classic: plays backgammon, the learner chess",
        ),
    ],
)
def test_mistakes_are_reported_in_one_line(learned, here, command, said):
    for suffix in (".yaml", ".npz"):
        shutil.copy(learned.parent / f"net{suffix}", f"net{suffix}")
    shutil.copytree(learned, "run")
    ran = tuner(*command.split())
    lines = ran.err.splitlines()
    assert (
        ran.status == 2 and said in lines[-1] and not any("Traceback" in line for line in lines)
    ), ran.err
