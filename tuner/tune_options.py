"""What `tuner tune` is told."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from games.record import ReadOptions
from tuner.device.base import Device
from tuner.device.choose import device_named
from tuner.fit import FitOptions
from tuner.learners.base import LearnerOptions

SEARCH_TRUST = 20.0  # centipawns round the values that searched: 85 Elo on the bundled games; 60: 48, automatic: 61


@dataclass(frozen=True)
class TuneOptions:
    """Everything that `tuner tune` can be told; the names are those of its options."""

    reading: ReadOptions = ReadOptions()
    quiescence: str = "classic"
    terms: tuple[str, ...] = ()
    method: str = "auto"
    depth: int = 4
    per_game: int | None = None
    trace: float | None = None
    rounds: int | None = None
    workers: int = 1
    device: str = "auto"
    loss: str = "cross-entropy"
    learner: str = "newton"
    gradient: str = "analytic"
    learning_rate: float | None = None
    iterations: int | None = None
    batch: int = 16384
    held_out: float = 0.1
    prior: float | str | None = "auto"
    fixed: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    scale: float | None = None
    untapered: bool = False
    intercept: bool = True
    bootstrap: int = 0
    seed: int = 1
    run: Path | None = None

    @property
    def trust(self) -> float | str | None:
        """The prior: by default what the games say, and for targets from searches what matches have said."""
        return SEARCH_TRUST if self.method == "rootstrap" and self.prior == "auto" else self.prior

    @property
    def passes(self) -> Device:
        """Where passes run. Finite differences are for the processors alone."""
        return device_named(self.device if self.gradient == "analytic" else "cpu", self.workers)

    def fitting(self) -> FitOptions:
        learning = LearnerOptions(gradient=self.gradient, iterations=self.iterations, learning_rate=self.learning_rate,
                                  batch=self.batch, seed=self.seed)
        # targets from searches are on the scale of the evaluation that searched
        return FitOptions(self.loss, self.learner, learning, self.held_out, self.trust, self.fixed, self.only,
                          self.scale is None and self.method == "logistic", self.intercept, True, self.seed,
                          self.passes)
