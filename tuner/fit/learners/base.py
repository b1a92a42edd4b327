"""Shared by all learners: their options, and the record of iterations."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tuner.fit.datafit import Datafit
from tuner.fit.problem import Problem

IN_MEMORY = 1 << 30  # bytes of nonzeros that are assumed to stay in memory


@dataclass(frozen=True)
class LearnerOptions:
    """How long and how fast to learn; None means the learner's own default."""

    iterations: int | None = None
    tolerance: float = 1e-7  # relative gain in the objective below which a learner stops
    learning_rate: float | None = None
    final_rate: float = 0.01  # the learning rate falls exponentially to this share of its start
    batch: int = 16384
    seed: int = 1


@dataclass
class Record:
    """The best weights seen, and a line of history per iteration."""

    watch: Callable[[dict], None] = lambda line: None
    held_out: Datafit | None = None
    best: np.ndarray | None = None
    best_objective: float = np.inf
    history: list[dict] = field(default_factory=list)
    started: float = field(default_factory=time.process_time)

    @property
    def weights(self) -> np.ndarray:
        """The best weights; a learner records its first ones."""
        assert self.best is not None, "nothing was recorded"
        return self.best

    def __call__(self, weights: np.ndarray, objective: float, **more: Any) -> None:
        """Record an iteration with its weights and objective."""
        if objective < self.best_objective:
            self.best, self.best_objective = weights.copy(), objective
        line = {
            "iteration": len(self.history),
            "objective": objective,
            "cpu_seconds": time.process_time() - self.started,
            **more,
        }
        # held-out games are scattered: of a dataset larger than memory, much would be read for them
        # every time
        if self.held_out is not None and (
            self.held_out.nonzero_bytes <= IN_MEMORY or not self.history
        ):
            line["held_out"] = self.held_out.loss(weights)
            if self.held_out.meter.seconds:
                line["speed"] = self.held_out.meter.speed
        self.history.append(line)
        self.watch(line)


Learn = Callable[[Problem, LearnerOptions, Record], np.ndarray]


@dataclass(frozen=True)
class Learner:
    """How to `minimise` an objective, to `solve` an equation that has none, None if it cannot, and
    whether it is `stepwise`: with a learning rate, and an end that does not depend on a
    tolerance."""

    minimise: Learn
    solve: Learn | None = None
    stepwise: bool = False

    def learns(self, has_value: bool) -> Learn:
        """Return what learns where there is an objective or not."""
        learner = self.minimise if has_value else self.solve
        assert learner is not None, "the method allows learners that can solve it"
        return learner
