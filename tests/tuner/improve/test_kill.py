"""A loop that is killed at any moment goes on to the same patch, and leaves no process."""

import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.games.support import REPOSITORY
from tests.tuner.improve.small import write_small

KILLS = 20
HOW = ("killed", "status")
SHARE = 0.12  # of the time of a whole loop, after which it is killed at the latest
PLAN = {
    "games": 40,
    "match": {"games": 20, "pool_games": 4, "verdict_games": 20},
    "rounds": 1,
    "play": {"plies": 120, "workers": 1},
    "learn": {"lambda": 1, "prior": 200},
}


def driven(folder: Path, moments: list[float], **more: str) -> tuple[Path, list[list[str]]]:
    """Loop in a folder; return that of the run, and what the driver printed."""
    plan = write_small(folder, **PLAN, **more)
    words = [sys.executable, "-m", "tests.tuner.improve.killed", plan, folder / "run"]
    done = subprocess.run(
        [*map(str, words), *map(str, moments)],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
    )
    lines = [line.rsplit(" ", 2) for line in done.stdout.splitlines() if line[:6] in HOW]
    assert lines[-1][0] == "status 0", done.stderr
    return folder / "run", lines


@pytest.mark.long
@pytest.mark.parametrize("more", [{}, {"evals": "./myengine evals"}], ids=["rows", "evals"])
@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="this system is not Linux")
def test_a_loop_that_is_killed_at_random_moments_ends_in_the_same_patch(tmp_path, more):
    begun = time.monotonic()
    whole, _ = driven(tmp_path / "whole", [], **more)
    most = SHARE * (time.monotonic() - begun)
    dice = random.Random(1)
    killed, lines = driven(
        tmp_path / "killed", [dice.uniform(0, most) for _ in range(KILLS)], **more
    )
    assert all(left == "0" for _, _, left in lines)
    # how often, and in how many steps, depends on how busy the machine was meanwhile
    assert len(lines) > 3 and len({steps for _, steps, _ in lines}) > 2
    for name in ("improve.patch", "learned.yaml"):
        assert (killed / name).read_bytes() == (whole / name).read_bytes()
