"""What a fit found."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from tuner.fit.null_space import NullSpace
from tuner.fit.problem import Problem
from tuner.fit.standard_errors import Uncertainty
from tuner.parameters.parameters import Parameters


class Convergence(NamedTuple):
    """Whether a fit came to its end: the norm of the gradient of the objective (loss a position and prior, by weights in
    centipawns; of an equation what is left of it), and what remains, in words, where it did not."""

    converged: bool
    gradient_norm: float
    remains: str = ""


@dataclass(frozen=True)
class FitResult:
    """What a fit found: learned `parameters`; the `problem` on the games learned from, with its prior, and on those `held_out`;
    `weights` (stages, columns + 1, or 2 with the width of a draw), the Gauss-Newton `matrix` there, and what holds its null
    directions. Losses are means per position; held-out ones are NaN without held-out games."""

    parameters: Parameters
    problem: Problem
    held_out: Problem | None
    weights: np.ndarray
    matrix: np.ndarray
    null_space: NullSpace
    uncertainty: Uncertainty | None
    history: list[dict]
    convergence: Convergence

    @property
    def intercept(self) -> np.ndarray:
        return self.weights[:, self.problem.data.columns]

    @property
    def width(self) -> np.ndarray | None:
        """(stages,) of a draw, in centipawns, if it is an outcome of its own."""
        return self.weights[:, -1] if self.problem.objective.widths else None

    @property
    def games(self) -> int:
        return len(self.problem.games)

    @property
    def positions(self) -> int:
        return self.problem.positions

    @property
    def held_out_games(self) -> int:
        return len(self.held_out.games) if self.held_out else 0

    @property
    def held_out_positions(self) -> int:
        return self.held_out.positions if self.held_out else 0

    @cached_property
    def loss_before(self) -> float:
        return self.problem.loss(self.problem.start)

    @cached_property
    def loss_after(self) -> float:
        return self.problem.loss(self.weights)

    @cached_property
    def held_out_before(self) -> float:
        return self.held_out.loss(self.problem.start) if self.held_out else math.nan

    @cached_property
    def held_out_after(self) -> float:
        return self.held_out.loss(self.weights) if self.held_out else math.nan

    @property
    def null_directions(self) -> int:
        return self.null_space.dimension

    @cached_property
    def never_applied(self) -> int:
        return int((self.problem.use[0].sum(axis=0) == 0).sum())

    @property
    def design_effect(self) -> float:
        return self.problem.design_effect


def learned(parameters: Parameters, weights: np.ndarray, uncertainty: Uncertainty | None, scale: float) -> Parameters:
    """The parameters with weights (stages, columns + 1 or more) that a fit has found, and their errors."""
    columns = parameters.weights.shape[1]
    errors = uncertainty.standard_errors[:, :columns] if uncertainty else None
    return parameters.with_weights(weights[:, :columns], scale=scale, standard_errors=errors)
