"""Shared by the tests of terms: an engine and real positions for every game."""

import functools
from pathlib import Path

import numpy as np

from evalterms.framework.check import random_positions
from evalterms.framework.emit import pack
from games.record import ReadOptions, ReadReport, available, find
from tuner.evaluation.engine import CompiledTerms
from tuner.evaluation.loading import make_engine

REPOSITORY = Path(__file__).resolve().parents[2]
# a game without one is played at random
SAMPLES = {"chess": REPOSITORY / "games/samples/stockfish400.pgn.zst"}
GAMES = available()
CASES = [(game, term) for game in GAMES for term in range(len(make_engine(game).composition.terms))]
NAMES = [f"{game}-{make_engine(game).composition.terms[term].name}" for game, term in CASES]


@functools.cache
def engine(game: str) -> CompiledTerms:
    return make_engine(game)


def sample_positions(game: str) -> np.ndarray:
    """All positions of the sample games, if there are any."""
    rows = np.zeros((0, find(game).words), np.uint64)
    if game in SAMPLES:
        options = ReadOptions(positions="all", skip_start=0, duplicates="keep")
        batches = find(game).files.read(str(SAMPLES[game]), options, ReadReport(), print)
        rows = np.concatenate([rows, *(batch.positions for batch in batches)])
    return rows


@functools.cache
def some_positions(game: str, number: int = 3000) -> np.ndarray:
    """Positions (n, words) drawn from the sample games, and those of a few games played at
    random."""
    samples = sample_positions(game)
    chosen = np.random.default_rng(7).permutation(len(samples))[:number]
    return np.concatenate([samples[chosen], list(random_positions(find(game), games=5))])


@functools.cache
def dense_coefficients(game: str) -> tuple[np.ndarray, np.ndarray]:
    """Coefficients (n, columns) int64, first player minus second, and phases (n,) int64 of
    `some_positions`."""
    rows = engine(game).coefficients(some_positions(game))
    return differences(game, rows.dense(len(engine(game).composition.form.column))).astype(
        np.int64
    ), rows.phase.astype(np.int64)


def differences(game: str, inputs: np.ndarray) -> np.ndarray:
    """Counts (n, columns) of the first player minus the second, from inputs (n, inputs)."""
    form, size = engine(game).composition.form, engine(game).layout.size
    found = inputs[:, :size].copy()
    np.subtract.at(found, (slice(None), form.column[size:]), inputs[:, size:])
    return found


def linear_columns(game: str) -> np.ndarray:
    """Which columns (columns,) bool belong to linear terms."""
    return engine(game).composition.form.sum[: engine(game).layout.size] == 0


def columns(game: str, term: int) -> slice:
    """The columns of one term."""
    sizes = [each.size for each in engine(game).composition.terms]
    return slice(sum(sizes[:term]), sum(sizes[: term + 1]))


def packed(game: str, weights: np.ndarray) -> np.ndarray:
    """Weights (2, columns) for the compiled evaluation."""
    return engine(game).composition.form.packed(pack(*weights))


def scores(game: str, positions: np.ndarray, packed: np.ndarray) -> np.ndarray:
    """Compiled evaluations (n,) int64 in steps of 1/256 centipawn, first player's view."""
    out = np.zeros(len(positions), np.int64)
    engine(game).composition.glue.scores(np.ascontiguousarray(positions), packed, out)
    return out
