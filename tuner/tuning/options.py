"""The options of `tuner tune`: one record, before and after `tuner.tuning.methods.resolved`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from games.record import ReadOptions
from tuner.device.base import Device
from tuner.device.choose import device_named
from tuner.fit.learners.base import LearnerOptions
from tuner.fit.options import FitOptions


@dataclass(frozen=True)
class TuneOptions:
    """The options of `tuner tune` by their names; `lambda_` is --lambda.

    As given, None and "auto" mean that the user did not choose. Resolved, every value is the one that is used, and None marks
    what the method does not use; a run's `config.yaml` and the learned file are written from the resolved options.
    """

    reading: ReadOptions = ReadOptions()
    quiescence: str | None = None
    terms: tuple[str, ...] = ()
    method: str = "auto"
    targets: str | None = None  # results, scores or search: another name of three methods
    depth: int | None = None
    per_game: int | None = None
    lambda_: float | None = None
    rounds: int | None = None
    max_difference: float | None = None  # centipawns between score and static evaluation
    teacher: str | None = None  # an engine whose searches are the scores
    nodes: int | None = None  # of a search of the teacher
    own_games: int | None = None  # games to play and to learn from, in each round
    own_rounds: int | None = None  # of them, at most
    own_results: bool = False  # resolved: all games are those of `tuner games`
    own_scores: bool = False  # resolved: scores are those of the starting values themselves, on their scale
    not_linear: str | None = None  # a part of another engine's evaluation that its rows do not express
    workers: int = 1
    device: str = "auto"
    no_gpu: str | None = None  # why "auto" chose the CPU
    loss: str | None = None
    learner: str = "newton"
    gradient: str = "analytic"  # or "forward-difference", "central-difference"
    step: float | None = None  # centipawns, of finite differences
    learning_rate: float | None = None
    iterations: int | None = None
    batch: int | None = None
    held_out: float = 0.1
    prior: float | str | None = "auto"  # None: no prior
    fixed: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    scale: float | None = None
    untapered: bool = False
    intercept: bool = True
    bootstrap: int = 0
    seed: int = 1
    run: Path | None = None

    def fitting(self, device: Device | None = None) -> FitOptions:
        """Return the options of the fit, on this device or on the one named; for resolved options."""
        learning = LearnerOptions(iterations=self.iterations, learning_rate=self.learning_rate, seed=self.seed)
        if self.batch is not None:
            learning = replace(learning, batch=self.batch)
        # targets from our searches are on the scale of the evaluation that searched
        fit_scale = self.scale is None and self.method in ("logistic", "scores") and not self.own_scores
        return FitOptions(self.loss, self.learner, learning, self.held_out, self.prior, self.fixed, self.only, fit_scale,
                          self.intercept, True, self.seed, self.own_results, device or device_named(self.device, self.workers))
