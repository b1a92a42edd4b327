"""How to fit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from tuner.device.base import Device
from tuner.device.cpu.device import CPU
from tuner.fit.learners.base import LearnerOptions

DRAWS = "draws"  # of the losses: the better one of the draw models


@dataclass(frozen=True)
class FitOptions:
    """How to fit. `prior` is for the weights whose file has none: found from the data ("auto"), a standard deviation in
    centipawns round the starting values, or None."""

    loss: str = "cross-entropy"
    learner: str = "newton"
    learning: LearnerOptions = field(default_factory=LearnerOptions)
    held_out: float = 0.1
    prior: float | str | None = "auto"
    fixed: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    fit_scale: bool = True
    intercept: bool = True
    errors: bool = True
    seed: int = 1
    device: Device = CPU
    progress: Callable[[int, int], None] = lambda done, total: None  # of a pass, in positions
