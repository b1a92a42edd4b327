"""What the local model reaches on simulated strength, beside SPSA as fishtest publishes it:
`python -m tests.benchmarks.regret [SEEDS] [GAMES]` (hours for 50 seeds and 100,000 games).

Regret is the Elo between the best values and the optimum; the given values lose 60 (and more where
they lie beyond a cliff). Means over seeds, with 95 % intervals; coverage is the share of 95 %
intervals that hold the truth: of optima, of what each number is worth, of the gain."""

import sys

import numpy as np

from tests.tuner.optimize.simulation import KINDS, optimised, published_spsa, strength
from tuner.optimize.local import Local

SIZES = (1, 2, 5, 10, 20)
GAMES = (1_000, 10_000, 100_000)


def mean_text(numbers):
    return f"{np.mean(numbers):7.2f} ± {1.96 * np.std(numbers) / len(numbers) ** 0.5:5.2f}"


def main(seeds=50, most=GAMES[-1]):
    games = [n for n in GAMES if n <= most]
    print("kind, numbers, games, regret of SPSA as published; of local, coverage, expected left")
    for size in SIZES:
        for kind in KINDS:
            functions = [strength(kind, size, seed)[0] for seed in range(seeds)]
            best = [strength(kind, size, seed)[1] for seed in range(seeds)]
            marks = [n // 2 for n in games]
            runs = [optimised(Local, kind, size, marks[-1], seed, marks) for seed in range(seeds)]
            for pairs in marks:
                theta = published_spsa(functions, size, pairs, np.random.default_rng(size))
                spsa = [
                    (f(o[None]) - f(t[None]))[0]
                    for f, o, t in zip(functions, best, theta, strict=True)
                ]
                estimates, regrets, *held = zip(*(run[pairs] for run in runs), strict=True)
                coverage = " ".join(f"{100 * np.mean(share):5.1f}" for share in held)
                left = np.mean([estimate.left for estimate in estimates])
                print(
                    f"{kind:10} {size:2} {2 * pairs:7,} {mean_text(spsa)} | {mean_text(regrets)}"
                    f" | {coverage} | {left:6.2f}",
                    flush=True,
                )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
