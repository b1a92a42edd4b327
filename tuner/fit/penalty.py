"""The prior of a fit, a Gaussian around the starting weights, as the penalty that it adds to the
objective: (w - mean)' P (w - mean) / 2 per position."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from tuner.fit.blocks import Block, BlockPrior, within_boards

# from vectors (d, k), nearly multiplied by an inverse
Preconditioner = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True, eq=False)
class Independent:
    """The penalty of independent weights, or none. `mean` (stages, columns + 1) are the most
    probable weights, `given` (d,) the precision P of each flat weight, zero for those that are
    fixed. Of the positions of a game `design_effect` count as one, a factor of P."""

    mean: np.ndarray
    given: np.ndarray
    design_effect: float = 1.0

    @property
    def is_none(self) -> bool:
        """Whether no weight has a prior."""
        return not self.given.any()

    def value(self, weights: np.ndarray) -> float:
        """Return the part of the objective."""
        return 0.5 * float(np.vdot(weights - self.mean, self.gradient(weights)))

    def gradient(self, weights: np.ndarray) -> np.ndarray:
        """Return its gradient, in the shape of the weights."""
        return self.products((weights - self.mean).ravel()).reshape(weights.shape)

    def products(self, vectors: np.ndarray) -> np.ndarray:
        """Return P x of vectors x (d,) or (d, k)."""
        return (vectors.T * self.given).T

    def diagonal(self) -> np.ndarray:
        """Return the diagonal (d,) of P."""
        return self.given

    def matrix(self, chosen: np.ndarray) -> np.ndarray:
        """Return P (n, n) of some of the flat weights (n,), the rest fixed."""
        return np.diag(self.diagonal()[chosen])

    def draws(self, signs: np.ndarray) -> np.ndarray:
        """Return vectors (d, k) whose covariance is P, from random signs (d, k)."""
        return (signs.T * np.sqrt(self.given)).T

    def weight_draws(self, signs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return vectors x (d, k) with P x = `draws(signs)`, whose covariance is that of the
        weights under the prior, and their variances (d,); zero where there is no prior."""
        variances = np.divide(1.0, self.given, where=self.given > 0, out=np.zeros(len(self.given)))
        return (signs.T * np.sqrt(variances)).T, variances

    def inverse_with(self, diagonal: np.ndarray) -> Preconditioner:
        """Return the multiplication by the inverse of P with the `diagonal` (d,) of the loss added,
        without what relates different boards."""
        return by_numbers(diagonal + self.diagonal())


@dataclass(frozen=True, eq=False)
class Boards(Independent):
    """The penalty of correlated weights: P is that of `blocks` with their `widths`, plus that of
    the independent weights, times `factor`. `is_formed`: as a matrix, which is faster for few
    weights."""

    blocks: Sequence[Block] = ()
    widths: Sequence[BlockPrior] = ()
    factor: float = 1.0
    is_formed: bool = True

    @property
    def is_none(self) -> bool:
        """See `Independent`."""
        return not self.blocks and super().is_none

    @cached_property
    def formed(self) -> sparse.csr_array:
        """P as a matrix."""
        matrix = sparse.diags_array(self.given).tocsr()
        for block, (sd, form) in zip(self.blocks, self.widths, strict=True):
            rows, columns, values = block.entries(form)
            matrix = matrix + sparse.csr_array((values / sd**2, (rows, columns)), matrix.shape)
        return matrix * self.factor

    def products(self, vectors: np.ndarray) -> np.ndarray:
        """See `Independent`."""
        if self.is_formed:
            return np.asarray(self.formed @ vectors)
        applied = super().products(vectors)
        for block, (sd, form) in zip(self.blocks, self.widths, strict=True):
            white = block.whitened(form, vectors[block.indices])
            applied[block.indices] += block.whitened_transposed(form, white) / sd**2
        return applied * self.factor

    def diagonal(self) -> np.ndarray:
        """See `Independent`."""
        if self.is_formed:
            return np.asarray(self.formed.diagonal())
        entries = self.given.copy()
        for block, (sd, form) in zip(self.blocks, self.widths, strict=True):
            for part in block.parts:
                entries[part.indices] += part.diagonal(form) * part.units**2 / sd**2
        return entries * self.factor

    def matrix(self, chosen: np.ndarray) -> np.ndarray:
        """See `Independent`."""
        return np.asarray(self.formed[chosen][:, chosen].toarray())

    def draws(self, signs: np.ndarray) -> np.ndarray:
        """See `Independent`."""
        drawn = super().draws(signs)
        for block, (sd, form) in zip(self.blocks, self.widths, strict=True):
            drawn[block.indices] += block.whitened_transposed(form, signs[block.indices]) / sd
        return drawn * self.factor**0.5

    def weight_draws(self, signs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """See `Independent`."""
        draws, variances = super().weight_draws(signs)
        for block, (sd, form) in zip(self.blocks, self.widths, strict=True):
            draws[block.indices] = sd * block.root(form, signs[block.indices])
            units = np.concatenate([part.units.ravel() for part in block.parts])
            variances[block.indices] = (sd / units) ** 2
        return draws / self.factor**0.5, variances / self.factor

    def inverse_with(self, diagonal: np.ndarray) -> Preconditioner:
        """See `Independent`."""
        alone = by_numbers(diagonal + self.given * self.factor)
        boards = [
            (part.indices, within_boards(part, width.form, self.factor / width.sd**2, diagonal))
            for block, width in zip(self.blocks, self.widths, strict=True)
            for part in block.parts
        ]

        def function(vectors: np.ndarray) -> np.ndarray:
            product = alone(vectors)
            for indices, inside in boards:
                product[indices] = inside(vectors[indices])
            return product

        return function


def by_numbers(diagonal: np.ndarray) -> Preconditioner:
    """Return the function that divides vectors (d, k) by a diagonal (d,), zero where it is."""
    inverse = np.divide(1.0, diagonal, where=diagonal > 0, out=np.zeros(len(diagonal)))
    return lambda vectors: vectors * inverse[:, None]
