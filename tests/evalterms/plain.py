"""Run with NUMBA_DISABLE_JIT=1: `python -m tests.evalterms.plain GAME IN.npz OUT.npz` counts in
plain Python.

Every emission is checked on the way, and so is that it stays within the parameter that it starts
from."""

import importlib
import sys

import numpy as np

from evalterms.framework.check import count_checked
from games.compile import jit
from games.search.context import SUMS
from tuner.evaluation.loading import make_engine


def main(game: str, source: str, target: str) -> None:
    assert jit.PLAIN
    given = np.load(source)
    engine, view = make_engine(game), importlib.import_module(f"evalterms.{game}.view")
    terms = engine.composition.terms
    counted = [
        np.concatenate([count_checked(term, view, position) for term in terms])
        for position in given["positions"]
    ]
    rows = engine.coefficients(given["positions"])
    scores = np.zeros(len(given["positions"]), np.int64)
    engine.composition.glue.scores(given["positions"], given["packed"], scores)
    table = np.zeros(4 * SUMS, np.uint64)
    kept = [
        [
            engine.composition.glue.score(words, given["packed"], table.ctypes.data)
            for words in given["positions"]
        ]
        for _ in range(2)
    ]
    inputs = rows.dense(len(engine.composition.form.column))
    moves = [len(engine.game.legal_moves(words)) for words in given["positions"]]
    np.savez(
        target,
        kept=kept,
        checked=counted,
        moves=moves,
        coefficients=inputs,
        phases=rows.phase,
        scores=scores,
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
