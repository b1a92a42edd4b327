"""Small engines in several languages that evaluate alike, and what their numbers count."""

import functools
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import chess
import numpy as np
import pytest

from tests.tools import tool
from tuner.measured.measure import Measurement, measurement_in
from tuner.measured.plan import EvalsPlan, SourceFiles

ENGINES = Path(__file__).parent / "engines"
PACKAGES = {
    "gcc": "gcc",
    "g++": "g++",
    "javac": "default-jdk-headless",
    "go": "golang-go",
    "rustc": "rustc",
}
# by language: the compiler, the file with numbers, others, the build and the program
SMALL = {
    "C": ("gcc", "small.c", ["body.h"], "gcc small.c -o small", "./small evals"),
    "C++": (
        "g++",
        "small.cpp",
        ["body.h"],
        "g++ -std=c++17 -O1 small.cpp -o small",
        "./small evals",
    ),
    "Java": ("javac", "Small.java", [], "javac Small.java", "java -Xshare:auto -cp . Small"),
    "Go": ("go", "small.go", [], "go build -o small small.go", "./small"),
    "Rust": ("rustc", "small.rs", [], "rustc -o small small.rs", "./small"),
}


def needs(program: str) -> None:
    """Skip a test without a program."""
    found = shutil.which(program) if program == "go" else tool(program)
    if found is None:
        pytest.skip(f"no {program}; install the Debian package {PACKAGES[program]}")


def small_plan(folder: Path, language: str = "C", **changes: object) -> EvalsPlan:
    """Copy a small engine to a folder; return its plan."""
    compiler, source, others, build, evals = SMALL[language]
    needs(compiler)
    folder.mkdir(parents=True, exist_ok=True)
    for name in (source, *others):
        shutil.copy(ENGINES / name, folder)
    if language == "Java":
        evals = evals.replace("-cp .", "-cp ./")
    files = SourceFiles(files=[source], folder=str(folder))
    return EvalsPlan(**{"evals": evals, "source": files, "build": build, **changes})


@functools.cache
def positions(n: int = 300) -> list[str]:
    """Positions of random games."""
    dice, found = random.Random(5), list[str]()
    while len(found) < n:
        board = chess.Board()
        for ply in range(dice.randrange(10, 200)):
            moves = list(board.legal_moves)
            if not moves:
                break
            taking = [move for move in moves if board.is_capture(move)]
            board.push(dice.choice(taking if taking and ply % 3 == 0 else moves))
            if ply % 9 == 8:
                found.append(board.fen())
    return found[:n]


def measure(folder: Path, plan: EvalsPlan, note: Callable[[str], None] = print) -> Measurement:
    """Return the numbers of an engine and the programs that measure them, in a folder."""
    return measurement_in(folder, plan, positions(), 2, note)


def expected(fen: str) -> dict[str, float]:
    """What the weights of the small engines count, White's view; others than `extra` and `few`."""
    board = chess.Board(fen)
    kinds = {
        p: (chess.PAWN, chess.KNIGHT, chess.BISHOP, chess.ROOK, chess.QUEEN)[p] for p in range(5)
    }
    own = {
        color: [len(board.pieces(kind, color)) for kind in kinds.values()]
        for color in (chess.WHITE, chess.BLACK)
    }
    phase = sum(n[1] + n[2] + 2 * n[3] + 4 * n[4] for n in own.values())
    share = min(phase, 24) / 24
    found: dict[str, float] = {}

    def add(name: str, value: float) -> None:
        found[name] = found.get(name, 0.0) + value

    for color, n in own.items():
        sign = 1 if color else -1
        for k in range(5):
            add(f"mg[{k}]", sign * n[k] * share)
            add(f"eg[{k}]", sign * n[k] * (1 - share))
        add("pair", sign * (n[2] > 1))
        add("no pawns", -sign * (n[0] < 3) * (1 - share))
        add(f"attack[{min(n[1] + 2 * n[4], 15)}]", sign * share)
        for square in board.pieces(chess.PAWN, color):
            add(f"pawn[{square if color else square ^ 56}]", sign)
    add("tempo", 1 if board.turn else -1)
    return found


def as_columns(texts: list[str]) -> dict[str, np.ndarray]:
    """The same as arrays (n,) by name."""
    rows = [expected(fen) for fen in texts]
    names = {name for row in rows for name in row}
    return {name: np.array([row.get(name, 0.0) for row in rows]) for name in names}
