"""The options of a fit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from tuner.device.base import Device
from tuner.device.cpu.device import CPU
from tuner.fit.learners.base import LearnerOptions

DRAWS = "draws"  # a loss: the better of the draw models


@dataclass(frozen=True)
class FitOptions:
    """The options of a fit. `prior` is for weights that have none in their file: estimated from the data ("auto"), the
    same with a step that is best for play ("play", see `tuner.fit.play_prior`), a standard deviation in centipawns around the
    starting values, or None. `own_results`: all games are those of similar values against themselves, which "play" can trust
    more. `centipawn`: how many centipawns of `classic`, for which "play" was measured, one of the
    evaluation is worth; None: as many as make the same value at the scale of the fit."""

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
    own_results: bool = False
    device: Device = CPU
    progress: Callable[[int, int], None] = lambda done, total: None  # called with the positions done in a pass, and all of them
    centipawn: float | None = None
