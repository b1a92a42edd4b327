"""What mypy finds in programs of users, who have the types of the package by py.typed; and what
setup.cfg leaves unchecked."""

import os
import re
import subprocess
import sys
from configparser import ConfigParser
from importlib.util import find_spec

import pytest

import tuner
from tests.games.support import REPOSITORY

MYPY = find_spec("mypy") is not None
USER = """
from pathlib import Path

import chess
import numpy as np
from numpy.typing import NDArray

import tuner


def study(games: Path, folder: Path) -> str:
    evaluation: tuner.Evaluation = tuner.load("classic", terms=[folder / "own.py"])
    score: float = evaluation.evaluate(chess.STARTING_FEN)
    expected: float = evaluation.expected_score(chess.Board())
    scores: NDArray[np.float64] = evaluation.evaluate([chess.Board(), chess.STARTING_FEN])
    packed = np.stack([evaluation.position(chess.Board())])
    scores += evaluation.evaluate(packed) + evaluation.expected_score((chess.STARTING_FEN,))
    pawn: NDArray[np.float64] = evaluation["material.pawn"]["mg"]
    names: list[str] = [name for name in evaluation if name in evaluation]
    try:
        data: tuner.Dataset = tuner.build_dataset([games], folder / "data", evaluation,
            positions="quiet")
        learned: tuner.Tuned = tuner.tune(evaluation, tuner.open_dataset(folder / "data").path,
            output=folder / "a.yaml",
                                          run=folder / "run", depth=2)
    except tuner.InputError as problem:
        return str(problem)
    learned.save(folder / "learned.yaml")
    match: tuner.MatchResult = tuner.play_match(learned.evaluation, "classic", games=10,
        sprt=(0.0, 5.0), run=folder / "match")
    own: tuner.OwnGames = tuner.play_games(evaluation, folder / "own", games=10, noise=5.0)
    page: Path = tuner.write_report(folder / "run", matches=[folder / "match"])
    better: tuner.Improved = tuner.improve_engine(folder / "improve.yaml", folder / "loop")
    network: tuner.Network = tuner.load_network(folder / "net.yaml")
    against: tuner.MatchResult = tuner.play_match(network, evaluation, games=4)
    field: tuner.Standings = tuner.play_tournament([evaluation, "classic", network], games=4)
    taught: tuner.SelfPlayed = tuner.learn_by_selfplay(evaluation, games=8, lambda_=0.7)
    seen: NDArray[np.float64] = network.evaluate([chess.Board()])
    best: tuner.Optimized = tuner.optimize_numbers("classic", options=folder / "numbers.txt",
        nodes=2000, opponent="zero")
    wins: int = match.wins - match.losses
    chances: tuner.Wdl = tuner.fit_wdl(folder / "match" / "games.pgn", held_out=0.2)
    net: tuner.TrainedNetwork = tuner.train_network(evaluation, games, folder / "n.yaml",
        hidden=(8,))
    counts: tuner.CommandResult = tuner.measure_counts(games, folder / "counts", "plan.yaml")
    rows: tuner.Dataset = tuner.build_rows(games, folder / "rows", evaluation, engine="./mine")
    header: tuner.CommandResult = tuner.write_trace(evaluation, folder / "rows.h", language="c")
    tuner.read_from_source(evaluation, folder / "eval.c", folder / "of-source.yaml")
    differ: object = tuner.write_into_source(evaluation, [folder / "eval.c"], check=True).result
    text = f"{chances}{net.network}{rows}{differ}"
    text += f"{data} {score} {expected} {scores} {pawn} {names} {wins} {page} {learned.run} {own}"
    text += f"{better.patch} {best.better} {against} {seen} {field.ratings}{taught.learned}"
    return text + evaluation.compare(learned.evaluation)
"""
# each line after the first is a mistake, of the kind that follows it
MISUSE = """import tuner
tuner.load(3)  # arg-type
tuner.open_dataset()  # call-arg
tuner.load("classic").evaluate(3)  # call-overload
text: str = tuner.load("classic").evaluate("8/8/8/8/8/2k5/2p5/2K5 w - - 0 1")  # assignment
tuner.play_match("classic", "zero", depth="4")  # arg-type
tuner.teach("classic", "games.pgn")  # attr-defined
"""


@pytest.mark.long
@pytest.mark.skipif(not MYPY, reason="mypy is not installed; pip install '.[test]'")
def test_programs_of_users_are_checked_against_the_public_interface(tmp_path):
    (tmp_path / "user.py").write_text(USER)
    (tmp_path / "misuse.py").write_text(MISUSE)
    ran = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--config-file=", "user.py", "misuse.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env=os.environ,
    )
    found = re.findall(r"^(\S+):(\d+): error: .*\[([a-z-]+)\]$", ran.stdout, re.MULTILINE)
    expected = [
        ("misuse.py", str(number), line.rpartition("# ")[2])
        for number, line in enumerate(MISUSE.splitlines(), 1)
        if "#" in line
    ]
    assert found == expected, ran.stdout + ran.stderr


def test_that_program_uses_every_public_name():
    assert set(re.findall(r"\btuner\.(\w+)", USER)) == set(tuner.__all__)


def test_exceptions_of_mypy_name_modules_that_exist():
    settings = ConfigParser()
    settings.read(REPOSITORY / "setup.cfg")
    named = [
        name.removesuffix(".*")
        for section in settings.sections()
        if section.startswith("mypy-")
        for name in section.removeprefix("mypy-").split(",")
    ]
    ours = [name for name in named if name.split(".")[0] in ("games", "evalterms", "tuner")]
    assert len(set(ours)) == len(ours) > 0
    assert not [name for name in ours if find_spec(name) is None]
