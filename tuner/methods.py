"""What the methods of `tuner tune` differ in: what they read, and what stands between the games and the dataset.

    logistic    the results
    rootstrap   what a search of each position finds, see `tuner.bootstrap`
    td          temporal differences of the positions, see `tuner.temporal_fit`
    td-leaf     the same for the leaves of searches
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from games.record import Game, PositionBatch, ReadOptions
from games.streams import InputError
from tuner.bootstrap import Leaves, Teach, search_values, taught
from tuner.build import expand
from tuner.dataset import Dataset, is_dataset
from tuner.device.choose import device_named
from tuner.draws import DRAW_MODELS
from tuner.engine import Engine
from tuner.fit import DRAWS
from tuner.layout import shares_of
from tuner.parameters import Parameters
from tuner.rows import Rows
from tuner.temporal_fit import LEARNERS as TEMPORAL
from tuner.tune_options import TuneOptions

SEARCHED_PER_GAME = 50  # positions
DEFAULT_TRACE = 0.7  # lambda, per ply
SOME = 50_000  # positions that tell how far values have moved


def method_for(options: TuneOptions, game: Game, parameters: Parameters, sources: Sequence[str]) -> str:
    """How to learn where nobody says: from searches if there is an evaluation to search with and games to search in.

    Labelled positions are few a game, and somebody has said what each is worth. Draws are results.
    """
    files = [source for source in sources if source != "-" and not is_dataset(source)]
    if options.loss in (DRAWS, *DRAW_MODELS):
        return "logistic"
    searchable = game.searcher is not None and parameters.weights.any() and len(files) == len(sources)
    return "rootstrap" if searchable and all(game.of_games(file) for file in expand(files, game.suffixes)) else "logistic"


def require_method(options: TuneOptions, game: Game, sources: Sequence[str]) -> None:
    """InputError for what a method cannot do."""
    method = f"--method {options.method}"
    if options.loss in (DRAWS, *DRAW_MODELS):
        if options.method != "logistic":
            raise InputError(f"--loss {options.loss}: needs results, {method} has other targets; use --method logistic")
        if options.gradient != "analytic":
            raise InputError(f"--loss {options.loss}: has an analytic gradient alone; leave out --gradient")
        if options.loss == DRAWS and options.held_out == 0:
            raise InputError("--loss draws: chooses by held-out games; leave out --held-out 0, or name ordered or davidson")
    if options.method in ("rootstrap", "td-leaf") and game.searcher is None:
        raise InputError(f"{method}: {game.name} has no search; learn with --method logistic or td")
    if options.device == "gpu":
        if options.gradient != "analytic":
            raise InputError("--device gpu: finite differences run on the processors; leave it out")
        device_named(options.device, options.workers)  # told now rather than after the reading, if there is none
    if options.bootstrap and (options.method in ("td", "td-leaf") or options.bootstrap < 2):
        raise InputError(f"--bootstrap {options.bootstrap}: expected 2 or more fits by regression; leave it out with {method}")
    if options.prior == "cv" and options.method in ("td", "td-leaf"):
        raise InputError(f"--prior cv: {method} takes a width in centipawns, none or auto")
    if options.method in ("td", "td-leaf"):
        if options.learner not in TEMPORAL:
            raise InputError(f"--learner {options.learner}: {method} learns with {', '.join(TEMPORAL)}")
        for source in sources:
            if source != "-" and is_dataset(source):
                raise InputError(f"{source}: a dataset does not say which positions follow each other; name the games")
            if source != "-" and not game.of_games(source) and not os.path.isdir(source):
                raise InputError(f"{source}: labelled positions do not follow each other, as {method} needs; name games")
        if options.reading.per_game or options.reading.duplicates == "positions":
            raise InputError(f"{method}: learns from games as a whole; leave out --per-game and --duplicates positions")


def reading_of(options: TuneOptions) -> ReadOptions:
    """What is read by default: a search speaks for itself, so that few positions of many games say most for their time, and
    leaves are quiet whatever the positions are."""
    reading = options.reading
    if options.method == "td-leaf" and reading.positions == "auto":
        reading = replace(reading, positions="all")
    if options.method == "rootstrap" and options.per_game is None:
        reading = replace(reading, per_game=SEARCHED_PER_GAME)
    return reading


def teacher_of(engine: Engine, parameters: Parameters, options: TuneOptions) -> Teach | None:
    """What stands between the games and the dataset."""
    if options.method == "rootstrap":
        return taught(engine, search_values(engine, parameters, options.depth, options.workers), options.trace or 0.0)
    if options.method in ("td", "td-leaf"):
        depth = options.depth if options.method == "td-leaf" else 0
        return Leaves(engine, parameters, depth, DEFAULT_TRACE if options.trace is None else options.trace, options.workers)
    return None


def noting(teach: Teach, results: set[float]) -> Teach:
    """The same, noting the results that games had."""

    def noted(batch: PositionBatch) -> PositionBatch:
        results.update(np.unique(batch.outcomes).tolist())
        return teach(batch)

    return noted


def number_of_rounds(options: TuneOptions) -> int:
    """How often positions are searched, at most: each time with what was learned by the last."""
    if options.method not in ("rootstrap", "td-leaf"):
        return 1
    return options.rounds or {"rootstrap": 1, "td-leaf": 3}[options.method]


def value_change(engine: Engine, data: Dataset, before: Parameters, after: Parameters) -> float:
    """Mean change of the value of a position, over the first positions of a dataset."""
    n = min(data.positions, SOME)
    end = int(data.row[n])
    rows = Rows(np.repeat(np.arange(n), np.diff(data.row[:n + 1])), data.index[:end].astype(np.int64),
                data.count[:end].astype(float), shares_of(data.phase[:n], engine.phases, len(before.weights)), data.columns)
    values = [np.tanh(parameters.scale * rows.evaluations(parameters.weights)) for parameters in (before, after)]
    return float(np.abs(values[1] - values[0]).mean())
