"""Targets: what a method of `tuner tune` makes of the games that it reads, and how it fits to that.

`Targets` themselves are the results of the games. The methods that have others replace what
differs: the positions or outcomes of a batch, what was read, the device, the fit."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import NamedTuple

import numpy as np

from games.record import Game, PositionBatch
from tuner.datasets.dataset import Dataset
from tuner.evaluation.engine import CompiledTerms
from tuner.fit.datafit import Datafit
from tuner.fit.fit import fit
from tuner.fit.result import FitResult
from tuner.fit.setup import FitOptions
from tuner.io.terminal import Display
from tuner.learn.sources import Source
from tuner.parameters.parameters import Parameters


class ScoreScale(NamedTuple):
    """The scale of scores: `value` and its standard error, clustered by game, in 1 / centipawns;
    with the numbers of games and finite scores."""

    value: float
    error: float
    games: int
    scores: int


class Start(NamedTuple):
    """The parameters to start from, the engine that counts their terms, None if the sources are
    rows, and the sources. `game` is None if the learned file cannot play."""

    engine: CompiledTerms | None
    game: Game | None
    parameters: Parameters
    sources: tuple[Source, ...] = ()


class Read(NamedTuple):
    """A dataset, and lines about what was read. If `results` is None, the outcomes of the dataset
    are the results. `positions` (n, words) are kept if they are wanted; `scale` is that of scores
    that are targets. `centipawn`: how many centipawns of `classic` one of the evaluation is worth;
    None if that is not known."""

    data: Dataset
    lines: tuple[str, ...] = ()
    results: np.ndarray | None = None
    positions: np.ndarray | None = None
    scale: ScoreScale | None = None
    centipawn: float | None = None
    games: bool = False  # games were read, not rows or datasets alone


class Targets:
    """The results of games; a context manager around reading.

    `replaces`: outcomes are replaced, so that the results are kept beside them; `around_searcher`:
    the prior is centered on the weights that searched, not on those that the run began with."""

    replaces = around_searcher = False

    def __init__(self, making: object = None) -> None:
        """Nothing is needed to keep results."""

    def __call__(self, batch: PositionBatch) -> tuple[PositionBatch, np.ndarray]:
        """Return a batch with other positions or outcomes, and the result (n,) of the game of each
        of its positions."""
        return batch, batch.outcomes

    def __enter__(self) -> Targets:
        return self

    def __exit__(
        self, kind: type | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Nothing is to be ended."""

    def finish(self, read: Read) -> Read:
        """Return what was read with the targets that need all of it."""
        return read

    def datafit(self, data: Dataset, start: Parameters) -> Callable[..., Datafit]:
        """Return what makes the datafit of the dataset, see `FitOptions`."""
        return Datafit

    def fit(
        self, data: Dataset, start: Parameters, options: FitOptions, display: Display
    ) -> FitResult:
        """Fit to the dataset."""
        return fit(data, start, options, display.learning, display.note)
