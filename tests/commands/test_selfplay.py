"""`tuner selfplay` as people run it: the files in its folder, and that the settings alone determine
what is learned."""

import random
import re
import signal
import subprocess
import sys
from pathlib import Path

import chess.pgn
import numpy as np
import pytest
import yaml

from tests.commands.support import done, refused
from tests.games.support import REPOSITORY
from tests.tuner.core.support import read_checkpoint, read_records
from tuner.evaluation.loading import load_parameters, parameter_path
from tuner.parameters.writer import write_parameters

SHORT = ("--depth", 1, "--batch", 4, "--plies", 60)


# a run that is killed before the n-th change to a file in its folder
KILLED = """
import sys
from tests.commands.killed import kill_before
from tuner.cli import main
kill_before(sys.argv[1], int(sys.argv[2]))
main(sys.argv[3:])
"""


def learned(folder: Path) -> dict[str, np.ndarray]:
    """What a checkpoint says of the learner."""
    return read_checkpoint(folder)


def same(a: Path, b: Path) -> bool:
    first, second = learned(a), learned(b)
    return (
        first.keys() == second.keys()
        and all((first[name] == second[name]).all() for name in first)
        and (undated(a / "games.pgn") == undated(b / "games.pgn"))
    )


def undated(path: Path) -> str:
    """A file of games without their date: it may be midnight."""
    return re.sub(r"\[Date .*\]", "", path.read_text())


def test_a_run_leaves_a_playable_file_its_history_and_its_games(tmp_path):
    ran = done(
        "selfplay",
        "material",
        "--games",
        10,
        *SHORT,
        "--run",
        tmp_path / "run",
        "-o",
        tmp_path / "out.yaml",
        "--workers",
        2,
    )
    assert (
        "learned from 10 games" in ran.out and "pawn 1.00" in ran.out and "tuner match" in ran.out
    )
    history = read_records(tmp_path / "run")
    assert [line["games"] for line in history] == [4, 8, 10]
    assert list(history[0]["values"]) == ["pawn", "knight", "bishop", "rook", "queen"]
    assert {"draws", "broken_off", "plies", "static", "drift", "squares"} <= history[0].keys()
    weights = load_parameters(tmp_path / "run" / "params.yaml").weights
    assert (weights == load_parameters(tmp_path / "out.yaml").weights).all()
    moved = np.abs(weights - load_parameters("material").weights) > 0
    assert moved.mean() > 0.3
    with open(tmp_path / "run" / "games.pgn") as stream:
        games = list(iter(lambda: chess.pgn.read_game(stream), None))
    assert len(games) == 10 and not any(game.errors for game in games)
    assert [game.headers["Round"] for game in games] == [str(number) for number in range(1, 11)]
    for game in games:
        board = game.end().board()
        assert (
            board.outcome(claim_draw=True) is not None
            or game.headers["Result"] == "*"
            and board.ply() == 60
        )


@pytest.mark.parametrize(
    "more",
    [
        (
            "--opponent",
            "self",
            "--opponent",
            "past",
            "--opponent",
            "random",
            "--method",
            "td-leaf",
            "--blunders",
            "keep",
        ),
        ("--method", "td", "--lag", 0),
        ("--method", "td-leaf", "--learner", "sgd"),
        ("--method", "treestrap", "--noisy", "--learner", "coherence"),
        ("--nodes", 60, "--learner", "adagrad", "--balanced"),
        ("--explore", 0.1, "--noise", 2, "--truncated", "draw"),
    ],
    ids=lambda more: " ".join(map(str, more)),
)
def test_the_number_of_workers_changes_nothing(tmp_path, more):
    start = [option for option in SHORT if "--nodes" not in more or option not in ("--depth", 1)]
    for workers in (1, 3):
        done(
            "selfplay",
            "material",
            "--games",
            14,
            *start,
            *more,
            "--run",
            tmp_path / str(workers),
            "--workers",
            workers,
        )
    assert same(tmp_path / "1", tmp_path / "3")
    assert (learned(tmp_path / "1")["weights"] != load_parameters("material").weights).any()


@pytest.mark.long
def test_a_run_killed_at_any_moment_ends_with_the_same_weights(tmp_path):
    settings = ["--games", "80", *map(str, SHORT), "--workers", "2"]
    done("selfplay", "material", *settings, "--run", tmp_path / "whole")
    folder, dice = tmp_path / "killed", random.Random(4)
    # the second checkpoint is about to be written
    arguments, changes = ["material", *settings, "--run", str(folder)], 22
    for _ in range(6):
        ran = subprocess.run(
            [sys.executable, "-c", KILLED, str(folder), str(changes), "selfplay", *arguments],
            cwd=REPOSITORY,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        assert ran.returncode == -signal.SIGKILL
        arguments, changes = ["--resume", str(folder), "--workers", "1"], dice.randint(4, 10)
    done("selfplay", "--resume", folder)
    assert same(tmp_path / "whole", folder)
    before = (folder / "games.pgn").read_text()
    done("selfplay", "--resume", folder, "--games", 84)
    assert (folder / "games.pgn").read_text().startswith(before) and len(
        learned(folder)["kept"]
    ) >= 2
    assert yaml.safe_load((folder / "config.yaml").read_text())["selfplay"]["games"] == 84


def test_a_fixed_number_stays_and_bounds_hold(tmp_path):
    text = (
        Path("params/chess/material.yaml").read_text()
        + "bounds:\n  material.queen: [1199.5, 1200.5]\n"
    )
    (tmp_path / "mine.yaml").write_text(text)
    done(
        "selfplay",
        tmp_path / "mine.yaml",
        "--games",
        12,
        *SHORT,
        "--run",
        tmp_path / "run",
        "--fixed",
        "material.pawn",
    )
    weights = load_parameters(tmp_path / "run" / "params.yaml").weights
    assert (weights[:, 0] == 100).all() and (np.abs(weights[:, 4] - 1200) <= 0.5).all()
    assert (weights[:, 1] != 400).any()


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("selfplay nowhere", "nowhere: no such file"),
        ("selfplay tictactoe/classic", "tictactoe has no search"),
        ("selfplay --lambda 2", "lambda is 2, expected a number from 0 to 1"),
        (
            "selfplay --method treestrap --nodes 100",
            "--method treestrap: needs searches of fixed depth",
        ),
        (
            "selfplay --method rootstrap --blunders keep",
            "--blunders keep: applies to td and td-leaf",
        ),
        ("selfplay --fixed * --run new", "every parameter is fixed"),
        ("selfplay tied.yaml --run new", "tied.yaml: `tied` names material.pawn, but"),
        (
            "selfplay --openings nonsense --run new",
            "--openings nonsense: neither a file nor a position",
        ),
        ("selfplay --opponent uci:nobody --games 2 --run new", "nobody: no such program"),
        ("selfplay --resume new", "new: no such folder"),
        (
            "selfplay --resume new --depth 3",
            "--depth: a resumed run keeps its settings; with --resume only",
        ),
    ],
)
def test_mistakes_are_reported_in_one_line(here, command, said):
    if "tied.yaml" in command:
        p = load_parameters(parameter_path("material"))
        tied = p.with_weights(p.weights[[0, 0]], tied=("material.pawn",))
        write_parameters(here / "tied.yaml", tied)
    text = refused(*command.split())
    assert said in text and "Traceback" not in text


def test_a_folder_that_holds_a_run_is_not_begun_anew(tmp_path):
    done("selfplay", "--games", 4, *SHORT, "--run", tmp_path / "run")
    assert "contains a run already" in refused(
        "selfplay", "--games", 4, *SHORT, "--run", tmp_path / "run"
    )
