"""What tests with external engines share: fake engines, positions, and the engines of others that
are installed here."""

import shlex
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

from games.record import find

FAKE = f"{shlex.quote(sys.executable)} -S {shlex.quote(str(Path(__file__).with_name('fake.py')))}"
CHESS = find("chess")
START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
FENS = [
    START,
    "4k3/8/8/8/8/8/PP6/4K3 w - - 0 1",
    "4k3/pp6/n7/8/8/8/8/4K3 b - - 3 9",
    "r3k3/2p5/8/3N4/8/4P3/5PP1/4KB2 b - - 0 20",
    "4k3/8/8/8/8/8/P7/R3K3 b - - 0 1",
]
CHECK = "4k3/8/8/8/8/8/8/K3R3 b - - 0 1"
MATED = "7k/6Q1/6K1/8/8/8/8/8 b - - 0 1"
STALEMATE = "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1"


def positions(*fens: str) -> np.ndarray:
    return np.array([CHESS.position(text) for text in fens])


def installed(name: str) -> str:
    """The path of an engine of others; the test is skipped without it."""
    path = shutil.which(name)
    if path is None:
        pytest.skip(f"no {name}; install the Debian package {name}")
    return path
