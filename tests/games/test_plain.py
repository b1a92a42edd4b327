"""With NUMBA_DISABLE_JIT=1 everything runs as plain Python, with the same results as compiled code.

Run as a script, this file prints what it finds, for the test to compare.
"""

import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
from numba.core import types

from games.chess.files.fen import fen, position
from games.chess.rules.perft import perft
from games.compile import jit
from tests.games.chess.mutation import mutate, originals
from tests.games.support import DATA, REPOSITORY, games_of_bytes, read, rows, unit_of


@unit_of(__file__).entry(
    types.int64(types.CPointer(types.uint64), types.CPointer(types.int64), types.int64)
)
def score(words, weights, sums):
    """Material for the side to move, in steps of 1/256 centipawn."""
    total = np.int64(0)
    for kind in range(1, 7):
        pieces = words[1 + kind]
        for square in range(64):
            here = np.uint64(1) << np.uint64(square)
            if pieces & here:
                total += weights[kind] if words[0] & here else -weights[kind]
    return -total if words[8] & np.uint64(1) else total


WEIGHTS = np.array([0, 100, 300, 310, 500, 900, 0], np.int64) * 256


def findings() -> dict:
    """Perft, games read from good and damaged text, and positions of every kind: all as plain
    numbers and text."""
    rng, texts = random.Random(71), originals(71, 12)
    content = b"".join(texts) + b"\n\n".join(mutate(rng, text) for text in texts)
    evaluation = (score, WEIGHTS) if jit.PLAIN else (score.address(), WEIGHTS.ctypes.data)
    found = {
        "perft": [
            perft(position(line.split(" ;")[0]), depth, bulk)
            for line in (DATA / "perft.epd").read_text().splitlines()
            for depth, bulk in ((2, False), (2, True))
        ]
    }
    with tempfile.TemporaryDirectory() as folder:
        found["games"] = [
            [game.start, game.moves, game.result, game.reason]
            for game in games_of_bytes(content, Path(folder))
        ]
        pgn, epd = Path(folder) / "games.pgn", Path(folder) / "games.epd"
        pgn.write_bytes(b"".join(texts[:4]))
        epd.write_text("".join(f"{game[0]} [0.5]\n" for game in found["games"] if game[0]))
        for name, path, options in [
            ("all", pgn, {"per_game": 5, "duplicates": "positions"}),
            ("quiet", pgn, {"skip_start": 5}),
            ("resolve", pgn, {"skip_start": 15}),
            ("all", epd, {}),
        ]:
            batches, report, _ = read(path, positions=name, evaluation=evaluation, **options)
            found[f"{name} {path.suffix}"] = [
                [fen(words), int(words[9])] for words in rows(batches)
            ]
            found[f"{name} {path.suffix} report"] = [
                int(report.used),
                int(report.positions),
                int(report.bad),
            ]
    return found


def plain(*arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=REPOSITORY,
        text=True,
        capture_output=True,
        timeout=1800,
        check=False,
        # pytest would leave out what passed as compiled code
        env=os.environ | {"NUMBA_DISABLE_JIT": "1", "EVALTUNE_PASSED": ""},
    )


@pytest.mark.long
def test_plain_python_finds_what_compiled_code_finds():
    finished = plain("-m", "tests.games.test_plain")
    assert finished.returncode == 0, finished.stderr
    ours = findings()
    assert json.loads(finished.stdout) == json.loads(json.dumps(ours))
    assert ours["perft"][:4] == [400, 400, 2039, 2039]
    assert len(ours["quiet .pgn"]) > 10
    assert finished.stderr == ""


@pytest.mark.long
@pytest.mark.parametrize("tests", [["test_bits.py", "test_hashset.py", "chess/test_fen.py"]])
def test_tests_of_compiled_code_pass_in_plain_python(tests):
    finished = plain(
        "-m",
        "pytest",
        "-q",
        "-x",
        "-p",
        "no:cacheprovider",
        *(f"tests/games/{name}" for name in tests),
    )
    assert finished.returncode == 0, finished.stdout


if __name__ == "__main__":
    print(json.dumps(findings()))
