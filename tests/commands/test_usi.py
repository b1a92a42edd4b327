"""`tuner usi` as shogi programs use it: a process that cshogi drives, and sessions as text."""

import random
import shlex
import subprocess
import sys
from collections.abc import Iterator

import pytest

from tests.commands.support import done, refused, tuner
from tests.games.support import REPOSITORY
from tuner.cli import COMMANDS

PATIENCE = 120.0  # seconds: the first run on a machine compiles
MATED = "4k4/4G4/4P4/9/9/9/9/9/4K4 w - 1"


@pytest.fixture(scope="module")
def engine(tmp_path_factory) -> Iterator:
    """An engine as cshogi starts it: a program without arguments."""
    usi = pytest.importorskip("cshogi.usi")
    script = tmp_path_factory.mktemp("usi") / "engine"
    folder, python = shlex.quote(str(REPOSITORY)), shlex.quote(sys.executable)
    script.write_text(f"#!/bin/sh\ncd {folder}\nexec {python} -m tuner usi shogi/hand\n")
    script.chmod(0o755)
    engine = usi.Engine(str(script))
    engine.setoption("USI_Hash", 4)
    engine.isready()
    yield engine
    engine.quit()


def test_it_plays_a_whole_game_by_the_clock_and_cshogi_knows_its_moves(engine):
    cshogi = pytest.importorskip("cshogi")
    rng = random.Random(1)
    board, moves = cshogi.Board(), []
    engine.usinewgame()
    for ply in range(300):
        if board.is_game_over():
            break
        if ply % 2:  # the other side plays at random, so that the game ends
            move = board.move_from_usi(cshogi.move_to_usi(rng.choice(list(board.legal_moves))))
        else:
            engine.position(moves=moves)
            best, ponder = engine.go(btime=1000, wtime=1000, binc=10, winc=10)
            if best in ("resign", "win"):
                break
            move = board.move_from_usi(best)
            assert board.is_legal(move)
        board.push(move)
        moves.append(cshogi.move_to_usi(move))
    assert 10 < len(moves) < 300
    assert board.is_game_over() and len(moves) % 2  # it mates


def test_parameters_of_other_games_are_refused():
    assert tuner("usi", "nowhere.yaml", stdin=b"usi\nisready\n").status == 2
    assert "an evaluation of chess, expected shogi" in refused("usi", "classic", stdin=b"isready\n")
    assert "an evaluation of shogi, expected chess" in refused(
        "uci", "shogi/hand", stdin=b"isready\n"
    )


def test_bytes_that_are_no_text_between_commands_never_harm():
    rng = random.Random(7)
    text = b"usi\n"
    for _ in range(200):
        noise = bytes(
            rng.choice(b"\xff\xc3\x28\x00\r\t go") for _ in range(rng.randrange(200))
        ).strip()
        text += (noise if not noise.startswith(b"go") else b"x" + noise) + b"\n"
    text += b"y" * 1_000_000 + b"\nposition startpos moves 7g7f\n"
    ran = done("usi", "shogi/hand", stdin=text + b"\ngo depth 2\nquit\ngo depth 2\n")
    assert "info string a line of more than" in ran.out
    assert len([line for line in ran.out.splitlines() if line.startswith("bestmove")]) == 1


def test_usi_is_among_the_commands_and_its_answer_needs_no_library():
    assert "usi" in COMMANDS
    code = (
        "import io, sys; from tuner.cli import main; sys.stdin ="
        " io.TextIOWrapper(io.BytesIO(b'usi\\nsetoption name USI_Hash value 3\\nquit\\n'));"
        " main(['usi']); print([name for name in ('numpy', 'numba', 'yaml') if name in"
        " sys.modules])"
    )
    out = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        cwd=REPOSITORY,
    )
    assert out.stdout.splitlines()[-2:] == ["usiok", "[]"], out.stderr
