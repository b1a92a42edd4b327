"""Run with NUMBA_DISABLE_JIT=1: `python -m tests.evalterms.shogi.plain FOLDER` counts in plain Python, with every emission
checked."""

import sys
from pathlib import Path

import numpy as np

from evalterms.check import count_checked
from evalterms.shogi import TERMS, view
from games import jit
from games.shogi.movegen import moves_of


def main(folder: Path) -> None:
    assert jit.PLAIN
    positions = np.load(folder / "positions.npy")
    counted = [np.concatenate([count_checked(term, view, words) for term in TERMS]) for words in positions]
    np.savez(folder / "plain.npz", counts=counted, moves=[len(moves_of(words)) for words in positions])


if __name__ == "__main__":
    main(Path(sys.argv[1]))
