"""The result of a fit."""

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from tuner.fit.covariance import Uncertainty
from tuner.fit.curvature import Curvature
from tuner.fit.datafit import Datafit
from tuner.fit.learners.solvers import Convergence
from tuner.fit.noise import PlayStep, go_part_of_the_way, weights_that_step
from tuner.fit.null_space import NullSpace
from tuner.fit.problem import Problem
from tuner.fit.ties import Ties
from tuner.parameters.parameters import Parameters


class Undiagnosed(MemoryError):
    """There is too little memory for the errors of a fit; `parameters` are what was learned."""

    def __init__(self, text: str, parameters: Parameters) -> None:
        super().__init__(text)
        self.parameters = parameters


@dataclass(frozen=True)
class FitResult:
    """The result of a fit: learned `parameters`; the `problem` on the training games, with its
    prior, and the `held_out` ones; `weights` (stages, columns + 1, or 2 with the width of a
    draw), the `curvature` of the loss there, and its null space. Losses are means per position;
    held-out losses are NaN without held-out games. `optimum` are the weights that predict best, of
    which the uncertainty is; `step` is that of `--prior play`."""

    parameters: Parameters
    problem: Problem
    held_out: Datafit | None
    weights: np.ndarray
    curvature: Curvature
    null_space: NullSpace
    uncertainty: Uncertainty | None
    history: list[dict]
    convergence: Convergence
    optimum: np.ndarray
    step: PlayStep | None = None

    @property
    def share(self) -> float:
        """Return the share of the way from the start to the optimum that the weights went."""
        return self.step.share if self.step else 1.0

    @property
    def intercept(self) -> np.ndarray:
        return self.weights[:, self.problem.datafit.data.columns]

    @property
    def width(self) -> np.ndarray | None:
        """Width of a draw (stages,) in centipawns; None if the loss does not model draws."""
        return self.weights[:, -1] if self.problem.datafit.objective.widths else None

    @property
    def games(self) -> int:
        return len(self.problem.datafit.games)

    @property
    def positions(self) -> int:
        return self.problem.datafit.positions

    @property
    def held_out_games(self) -> int:
        return len(self.held_out.games) if self.held_out else 0

    @property
    def held_out_positions(self) -> int:
        return self.held_out.positions if self.held_out else 0

    @cached_property
    def reference(self) -> np.ndarray:
        """The starting weights with the learned intercept and width of a draw. Losses before are
        theirs, so that the change of a loss is due to the weights that play."""
        columns = self.problem.datafit.data.columns
        return np.concatenate([self.problem.start[:, :columns], self.weights[:, columns:]], axis=1)

    @cached_property
    def loss_before(self) -> float:
        return self.problem.datafit.loss(self.reference)

    @cached_property
    def loss_after(self) -> float:
        return self.problem.datafit.loss(self.weights)

    @cached_property
    def held_out_before(self) -> float:
        return self.held_out.loss(self.reference) if self.held_out else math.nan

    @cached_property
    def held_out_after(self) -> float:
        return self.held_out.loss(self.weights) if self.held_out else math.nan


def whole(
    ties: Ties, weights: np.ndarray, optimum: np.ndarray, found: Uncertainty | None
) -> tuple[np.ndarray, np.ndarray, Uncertainty | None]:
    """Return weights, optimum and its errors with those that are equal in all their places."""
    if found is not None:
        found = replace(found, standard_errors=ties.expand(found.standard_errors))
    return ties.expand(weights), ties.expand(optimum), found


def learned(
    parameters: Parameters,
    weights: np.ndarray,
    optimum: np.ndarray,
    uncertainty: Uncertainty | None,
    scale: float,
) -> Parameters:
    """Return the parameters with fitted weights (stages, columns + 1 or more), and the errors of
    their optimum."""
    columns = parameters.weights.shape[1]
    errors = uncertainty.standard_errors[:, :columns] if uncertainty else None
    return parameters.with_weights(
        weights[:, :columns],
        scale=scale,
        standard_errors=errors,
        optimum=None if np.array_equal(optimum, weights) else optimum[:, :columns],
    )


def at_share(result: FitResult, start: Parameters, share: float) -> FitResult:
    """Return the result of `--prior play` from these parameters at another share of the way."""
    assert result.step is not None and result.uncertainty is not None, "there is a way"
    problem, ratio = result.problem, share / result.share
    weights, _, noise = go_part_of_the_way(
        problem,
        result.weights,
        result.uncertainty,
        weights_that_step(start, result.weights.shape),
        ratio,
    )
    weights, optimum, uncertainty = whole(problem.datafit.ties, weights, result.optimum, noise)
    return replace(
        result,
        parameters=learned(start, weights, optimum, uncertainty, result.parameters.scale),
        weights=weights,
        optimum=optimum,
        uncertainty=uncertainty,
        step=PlayStep(share, result.step.change * ratio),
    )
