"""What the tests of `tuner match` share: playing matches, and the games and pairs that they
left."""

import json
import re
import subprocess
import sys
from pathlib import Path

import chess
import chess.pgn

from tests.commands.support import done
from tests.games.support import REPOSITORY
from tests.tuner.core.support import read_records

PATIENCE = 600  # seconds, for a machine on which much else runs
PAIR = ("classic", "pesto", "--depth", "1")


def games_of(path: Path) -> list[chess.pgn.Game]:
    found = []
    with open(path) as stream:
        while game := chess.pgn.read_game(stream):
            assert game.errors == []
            found.append(game)
    return found


def comparable(path: Path) -> str:
    """A file of games without the time that moves took, nor the date: it may be midnight."""
    return re.sub(r"\d+\.\d{3}s|\[Date .*\]", "s", path.read_text())


def play(*arguments: object) -> dict:
    return json.loads(done("match", *arguments, "--json").out)


def start(folder: Path, *more: object) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-m", "tuner", "match", *map(str, more or ("--resume", folder))],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=REPOSITORY,
        text=True,
    )


def pairs_in(folder: Path) -> int:
    return len(read_records(folder))
