"""The example of a game: its three folders on PYTHONPATH, and no other line changed."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.games.support import REPOSITORY

EXAMPLE = REPOSITORY / "examples" / "othello"
PERFT = [4, 12, 56, 244, 1396, 8200, 55092]  # as published
CHECK = """
from tests.conformance import Evaluation, check_game
from games.record import find
from tuner.evaluation.loading import load_engine

game = find("othello")

def count(words, depth):
    after = [game.play(words, move) for move in game.legal_moves(words)] if depth else []
    return sum(count(each, depth - 1) for each in after) if depth else 1

print([count(game.start(), depth) for depth in range(1, 8)])
passes = [game.position(row + "." * (64 - len(row)) + " o 50") for row in ("oxxxxxx.", "xo")]
print([[game.move_text(words, move) for move in game.legal_moves(words)] for words in passes])
print([game.result([game.position(board + "." * 62 + " o 60")]) for board in ("xx", "oo", "..")])
engine, parameters = load_engine("othello/classic")
bound = engine.evaluation(parameters)
check_game(game, lambda: Evaluation(
    *bound, lambda positions: engine.evaluate(positions, parameters),
    lambda positions: engine.coefficients(positions).phase, engine.phases))
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Where commands run, one after another."""
    return tmp_path_factory.mktemp("othello")


def run(folder: Path, *words: object) -> str:
    ran = subprocess.run(
        [sys.executable, *map(str, words)],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=600,
        env=os.environ | {"PYTHONPATH": f"{REPOSITORY}{os.pathsep}{EXAMPLE}"},
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


@pytest.mark.long
def test_it_keeps_the_rules_and_the_contract_of_a_game(folder):
    perft, moves, results = run(folder, "-c", CHECK).splitlines()
    assert perft == str(PERFT)
    assert moves == "[['h1'], ['pass']]"  # White turns a whole row; has no move where Black has one
    assert results == "[1, -1, 0]"


@pytest.mark.long
def test_the_commands_of_its_page_run_in_this_environment(tmp_path):
    page = (EXAMPLE / "README.md").read_text()
    lines = [line.strip() for line in page.split("\n") if line.startswith("    ")]
    assert [line.split()[:2] for line in lines] == [
        ["export", "PYTHONPATH=$PWD/examples/othello"],
        *(["tuner", word] for word in ["match", "tune", "selfplay", "match", "report"]),
    ]
    script = re.sub(r"--games \d+", "--games 40", "\n".join(lines)).replace(
        "--depth 2", "--depth 1"
    )
    (tmp_path / "examples").symlink_to(REPOSITORY / "examples")
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    programs = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"
    ran = subprocess.run(
        ["sh", "-ec", script],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=600,
        env=environment | {"PATH": programs},
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "Games: 40, Wins: " in ran.stdout
    assert len((tmp_path / "games.oth").read_text().splitlines()) == 40
    assert "x_square" in (tmp_path / "tuned.yaml").read_text()
    assert (tmp_path / "run" / "report.html").stat().st_size > 10_000


def test_it_is_short():
    files = [path for path in EXAMPLE.rglob("*") if path.suffix in (".py", ".yaml")]
    assert len(files) == 8 and sum(len(path.read_text().splitlines()) for path in files) < 450


def test_the_examples_of_the_tutorial_are_true(folder):
    run(folder, "-m", "doctest", REPOSITORY / "games" / "README.md")
