"""TD(lambda) on finished games: the weights at which the sum of c_t dv_t/dw over all games is zero.

With lambda = 1 it is the regression of tanh on the results by squared error. The equation has no
loss, and its derivative is not symmetric."""

from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np
from scipy.linalg import lu_factor, lu_solve

from tuner.datasets.dataset import size_of
from tuner.fit.curvature import EXACT, Curvature, Matrix
from tuner.fit.datafit import Datafit
from tuner.fit.penalty import Independent

RIDGE = 1e-10  # of the matrix's mean diagonal: keeps unidentified directions in place


@dataclass(frozen=True, kw_only=True, eq=False)
class Temporal(Datafit):
    """The equation of TD(lambda), with the `temporal` data; its games are complete and in order.
    Losses are those of the regression on the results."""

    has_value: ClassVar[bool] = False

    @property
    def regression(self) -> Datafit:
        """See `Datafit`."""
        given = {each.name: getattr(self, each.name) for each in fields(Datafit)}
        return Datafit(**{**given, "temporal": None})

    def residual(
        self, weights: np.ndarray, ranges: np.ndarray | None = None
    ) -> tuple[float, np.ndarray]:
        """See `Datafit`: the mean square of the errors c over positions, and minus the mean of
        c dv/dw."""
        chosen = self.whole_games if ranges is None else ranges
        sums, squares = self.device.equation(self, self.ties.expand(weights), chosen)
        total = size_of(chosen)
        return squares / total, -self.ties.pull(sums).reshape(weights.shape) / total

    def some(self, units: np.ndarray) -> np.ndarray:
        """See `Datafit`; of whole games."""
        return self.whole_games[units]

    def slope(self, weights: np.ndarray, ranges: np.ndarray | None = None) -> Curvature:
        """See `Datafit`; of some games without the curvature of tanh, for the steps of Newton's
        method."""
        chosen, exact = (self.whole_games, True) if ranges is None else (ranges, False)
        sums = self.device.equation_matrix(self, self.ties.expand(weights), chosen, exact)
        return Unsymmetric(self.ties.pull_matrix(sums) / size_of(chosen))


class Unsymmetric(Matrix):
    """A matrix that is not symmetric."""

    _factor: tuple[np.ndarray, Any] | None = None

    def solve(
        self,
        penalty: Independent,
        moving: np.ndarray,
        right: np.ndarray,
        damping: float = 0.0,
        tolerance: float = EXACT,
    ) -> np.ndarray:
        """See `Curvature`; directions that nothing determines hardly move. The factor serves while
        the same weights move."""
        if self._factor is None or not np.array_equal(self._factor[0], moving):
            part = self.matrix[np.ix_(moving, moving)]
            if len(moving):
                part[np.diag_indices(len(moving))] += RIDGE * np.diag(part).mean()
            whole = part + penalty.matrix(moving)
            self._factor = moving, lu_factor(whole, check_finite=False)
        return lu_solve(self._factor[1], right, check_finite=False)

    def inverse(
        self, penalty: Independent, free: np.ndarray, count: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """See `Matrix`."""
        part = self.matrix[np.ix_(free, free)] * count + penalty.matrix(free) * count
        part[np.diag_indices(len(free))] += RIDGE * np.abs(np.diag(part)).mean()
        factor = lu_factor(part, check_finite=False)
        return lu_solve(factor, np.eye(len(free)), check_finite=False), np.arange(len(free))
