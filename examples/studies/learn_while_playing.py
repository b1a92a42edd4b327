"""An engine that learns while it plays: `tuner uci --learn` against engines of Debian

after EXchess (2000) and KnightCap, which rose from 1650 to 2150 in 308 games on a chess server. The
learner searches to depth 3 and plays six games in turn with each of four opponents, 312 in all.
"""

import os
import shlex
import shutil
import sys

import numpy as np
from study import Study, two_at_a_time

# the engine and its depth
OPPONENTS = (
    ("uci:toga2", 1),
    ("uci:toga2", 2),
    ("uci:gnuchess --uci", 1),
    ("xboard:fairymax", 2),
)
# a bundled file, or the values of pieces in a file without other terms; and the step in centipawns
STARTS = {"material": ((), 0.4), "all pieces 300": ((100, 300, 300, 300, 300), 3)}
QUARTERS = ((0, 3), (3, 6), (6, 9), (9, 13))  # of 13 rounds of 24 games
POINTS = np.array([0, 0.25, 0.5, 0.75, 1])  # of a pair, by its result


def play(study: Study, name: str, seed: int) -> np.ndarray:
    """Return the pairs (rounds, opponents, 5) of a run, by their result."""
    folder = study.new(f"{name.split()[0]}-{seed}")
    folder.mkdir()
    values, step = STARTS[name]
    if values:
        file = study.material(f"{folder.name}/my", *values)
    else:
        file = study.load(name).save(folder / "my.yaml")
    words = (sys.executable, "-m", "tuner", "uci", file.resolve(), "--learn")
    me = shlex.join(map(str, (*words, "--learning-rate", step)))
    rounds, games = (1, 2) if study.quick else (13, 6)
    found = np.zeros((rounds, len(OPPONENTS), 5))
    for i in range(rounds):
        for j, (opponent, depth) in enumerate(OPPONENTS):
            match = study.tuner(
                *("match", f"uci:{me}", opponent, "--depth-a", 3, "--depth-b", depth),
                *("--games", games, "--plies", 200, "--workers", 1),
                *("--seed", 1000 * seed + 10 * i + j),
            )
            found[i, j] = match["pentanomial"]
    return found


def score(pairs: np.ndarray) -> tuple[float, float]:
    """Return the mean score over opponents, in %, and half its 95 % interval, of pairs (rounds,
    opponents, 5)."""
    counts = pairs.sum(axis=0)
    share = counts / counts.sum(axis=1, keepdims=True)
    means = share @ POINTS
    variance = (share @ POINTS**2 - means**2) / counts.sum(axis=1)
    return 100 * means.mean(), 196 * np.sqrt(variance.sum()) / len(means)


def text(value: float, error: float, sign: str = "") -> str:
    """Return a number with its interval."""
    return f"{value:{sign}.0f} ± {error:.0f}"


def main() -> None:
    study = Study(__doc__)
    os.environ["PATH"] += ":/usr/games"  # of Debian
    commands = {command.split(":")[1].split()[0] for command, _ in OPPONENTS}
    missing = sorted(command for command in commands if not shutil.which(command))
    if missing:
        sys.exit(f"not installed: {', '.join(missing)}; they are packages of Debian")
    seeds = [1] if study.quick else [1, 2, 3]
    runs = [(name, seed) for name in STARTS for seed in seeds]
    rows, lines = [], {}
    for (name, seed), pairs in zip(
        runs, two_at_a_time(lambda run: play(study, *run), runs), strict=True
    ):
        quarters = [score(pairs[low:high]) for low, high in QUARTERS if low < len(pairs)]
        half = len(pairs) // 2
        first, second = score(pairs[: half or 1]), score(pairs[-(half or 1) :])
        change = text(second[0] - first[0], np.hypot(first[1], second[1]), "+")
        rows.append((name, seed, *(text(*each) for each in quarters), change))
        lines[f"{name}, seed {seed}"] = [
            (24 * high, value, value - error, value + error)
            for (_, high), (value, error) in zip(QUARTERS, quarters, strict=False)
        ]
    study.picture("games", "score in %, with 95 % interval", lines)
    columns = ("1 to 72", "73 to 144", "145 to 216", "217 to 312")[: len(rows[0]) - 3]
    study.finish(
        ("start", "seed", *columns, "second half less first"),
        rows,
        "Score in % against the four opponents, with 95 % intervals from pairs of games.",
    )


if __name__ == "__main__":
    main()
