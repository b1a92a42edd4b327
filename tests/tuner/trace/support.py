"""What the tests of rows from engines share: the small engines, compiled with faults or without,
and their parameter file."""

import io
import json
import shutil
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import chess.pgn
import numpy as np
import pytest
import yaml
import zstandard

from tests.games.support import REPOSITORY
from tests.tools import tool
from tuner.parameters.parameters import Layout, Parameters, Place
from tuner.trace.languages import LANGUAGES

ENGINES = Path(__file__).parent / "engines"
SAMPLES = REPOSITORY / "games" / "samples" / "stockfish400.pgn.zst"
FAULTS = ("perspective", "swapped", "doubled", "missing")
PHASES = 24
# by language: the compiler and its Debian package, the source of the numbers and its map, whether
# its tables have rank 8 first
COMPILERS = {"c": (("g++", "c++"), "g++"), "rust": (("rustc",), "rustc")}
NUMBERS = {"c": ("eval.h", "eval.h.yaml", True), "rust": ("eval.rs", "eval.rs.yaml", False)}


@cache
def mini_parameters() -> Parameters:
    """The parameters of mini.yaml, read by PyYAML."""
    text = yaml.safe_load((ENGINES / "mini.yaml").read_text())
    places, weights, first = [], [], 0
    for term, names in text["weights"].items():
        for name, stages in names.items():
            values = np.array([stages[stage] for stage in text["stages"]], dtype=float)
            if values.ndim == 3:
                values = values[:, ::-1]  # files have the last row on top
            places.append(Place(term, name, values.shape[1:], first))
            first += places[-1].size
            weights.append(values.reshape(len(values), -1))
    return Parameters(
        text["game"], Layout(tuple(places)), tuple(text["stages"]), np.concatenate(weights, axis=1)
    )


@dataclass(frozen=True)
class Mini:
    """A compiled engine."""

    program: Path

    def answers(self, command: str, fens: list[str]) -> list[str]:
        """Return its answers, one for each position."""
        ran = subprocess.run(
            [self.program, command],
            input="\n".join(fens) + "\n",
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert ran.returncode == 0 and not ran.stderr, ran.stderr
        lines = ran.stdout.splitlines()
        assert len(lines) == len(fens)
        return lines

    def rows(self, fens: list[str]) -> list[dict]:
        return [json.loads(line) for line in self.answers("trace", fens)]


def compiler_of(language: str) -> str:
    """Return the compiler of a language; skips the test if there is none."""
    names, package = COMPILERS[language]
    found = tool(*names)
    if found is None:
        pytest.skip(f"no {names[0]}; install the Debian package {package}")
    return found


def folder_of(language: str, folder: Path, trace: bool = True) -> Path:
    """Copy the sources of an engine into a folder, with the file that prints rows."""
    ending = "cpp" if language == "c" else "rs"
    for name in (f"mini.{ending}", NUMBERS[language][0]):
        shutil.copy(ENGINES / name, folder)
    text = LANGUAGES[language](mini_parameters().layout, "mini.yaml")
    (folder / ("tracerows.h" if language == "c" else "tracerows.rs")).write_text(text)
    return folder


def known_to_rustc(*names: str) -> list[str]:
    """Return the options that make conditions known to rustc: it warns of others from 1.80 on, and
    has no such options before."""
    version = subprocess.run(
        [compiler_of("rust"), "--version"], capture_output=True, text=True, check=True
    ).stdout.split()[1]
    if tuple(map(int, version.split(".")[:2])) < (1, 80):
        return []
    return [word for name in names for word in ("--check-cfg", f"cfg({name})")]


def compile_mini(language: str, folder: Path, *faults: str, trace: bool = True) -> Mini:
    """Compile an engine whose sources are in a folder, warnings being errors."""
    compiler, program = compiler_of(language), folder / "-".join(("mini", *faults))
    if language == "c":
        options = [
            "-std=c++14",
            "-O0",
            "-Wall",
            "-Wextra",
            "-Wpedantic",
            "-Werror",
            *(["-DEVALTUNE_TRACE"] if trace else []),
            *(f"-D{fault.upper()}" for fault in faults),
            "mini.cpp",
        ]
    else:
        options = [
            "--edition",
            "2021",
            "-C",
            "opt-level=0",
            "--deny",
            "warnings",
            *known_to_rustc('feature, values("evaltune_trace")', *FAULTS),
            *(["--cfg", 'feature="evaltune_trace"'] if trace else []),
            *(word for fault in faults for word in ("--cfg", fault)),
            "mini.rs",
        ]
    ran = subprocess.run(
        [compiler, *options, "-o", program], cwd=folder, capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stderr
    return Mini(program)


@cache
def sample_fens(games: int = 30) -> list[str]:
    """FENs of every third position of some bundled games."""
    with open(SAMPLES, "rb") as stream:
        text = io.TextIOWrapper(
            zstandard.ZstdDecompressor().stream_reader(stream), encoding="utf-8"
        )
        found = []
        for _ in range(games):
            game = chess.pgn.read_game(text)
            assert game is not None
            board = game.board()
            for k, move in enumerate(game.mainline_moves()):
                board.push(move)
                if k % 3 == 0:
                    found.append(board.fen())
    return found


@cache
def columns() -> dict[str, int]:
    """The column of each number of mini.yaml."""
    return {label: i for i, label in enumerate(mini_parameters().layout.labels())}


def evaluation(p: Parameters, row: dict) -> float:
    """The evaluation of a row: rest and the tapered sum of counts and weights."""
    mg, eg = (
        sum(count * p.weights[s, columns()[name]] for name, count in row["counts"].items())
        for s in (0, 1)
    )
    share = row["phase"] / PHASES
    return row.get("rest", 0) + share * mg + (1 - share) * row.get("scale", 1) * eg
