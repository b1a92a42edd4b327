"""Check the principal variations of exact searches: complete, legal, and leading to the value.

    python -m tests.games.search.leaves 100000

checks so many searches and prints the number of violations.
"""

import sys

import numpy as np

from games.record import find
from games.search.searcher import Limits
from tests.games.search.plain_search import lines
from tuner.evaluation.engine import CompiledTerms
from tuner.evaluation.loading import load_engine
from tuner.parameters.parameters import Parameters


def violations(engine: CompiledTerms, parameters: Parameters, seed: int, n: int) -> list[str]:
    """Searches of n positions, to depths from 1 to 4, whose PV is incomplete or does not lead to
    their value."""
    chess, broken = find("chess"), []
    exact = engine.searcher(parameters, playing=False, megabytes=4)
    for i, line in enumerate(lines(seed, n)):
        found = exact.search(line, Limits(depth=1 + i % 4))
        walked = list(line)
        for move in found.pv:
            if move not in chess.legal_moves(walked[-1]):
                broken.append(f"{chess.text(line[-1])}: illegal move in the PV")
            walked.append(chess.play(walked[-1], move))
        plies = len(found.pv)
        if found.win_in is not None:
            wanted = abs(found.win_in) == plies and chess.result(walked) in (1, -1)
        else:
            leaf = walked[-1]
            sign = 1 if (int(leaf[8]) & 1) == 0 else -1
            mover = sign if plies % 2 == 0 else -sign
            static = mover * float(engine.evaluate(leaf[None], parameters)[0])
            seen = any(np.array_equal(leaf[9], earlier[9]) for earlier in walked[:-1])
            drawn = found.value == 0 and (seen or chess.result(walked) == 0)
            wanted = drawn or (found.value == static and plies >= 1 + i % 4)
        if not wanted:
            broken.append(f"{chess.text(line[-1])} depth {1 + i % 4}: {found}")
    return broken


def main(n: int) -> None:
    """Search n positions, a thousand at a time, and print the violations."""
    engine, parameters = load_engine("classic")
    total = 0
    for seed in range(n // 1000):
        broken = violations(engine, parameters, seed, 1000)
        total += len(broken)
        print("\n".join(broken), end="\n" if broken else "", flush=True)
    print(f"{total} of {n} searches with a violation")


if __name__ == "__main__":
    main(int(sys.argv[1]))
