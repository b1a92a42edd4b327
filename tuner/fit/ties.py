"""Weights that are equal: those of parameters with one number for all stages, such as `const int
Tempo = 18;`, and those of symmetric tables. One of them, the leader, is free; the others follow."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse


class Ties:
    """A linear map from the weights that a fit moves to those of the evaluation; here each weight
    is its own. Arrays have the flat weights (d,) as their first axis, or the shape of the
    weights."""

    shared = np.zeros(0, np.int64)  # flat indices of leaders that others follow

    def expand(self, values: np.ndarray) -> np.ndarray:
        """Return weights, directions or errors with those of the leaders for all that follow."""
        return values

    def pull(self, sums: np.ndarray) -> np.ndarray:
        """Return derivatives by the leaders from those by all weights."""
        return sums

    def pull_matrix(self, sums: np.ndarray) -> np.ndarray:
        """Return second derivatives (d, d) by the leaders from those by all weights."""
        return self.pull(self.pull(sums.T).T)

    def leaders_in(self, shape: tuple[int, ...]) -> np.ndarray:
        """Return the flat indices of the leaders of weights of a shape."""
        return np.arange(np.prod(shape)).reshape(shape)

    def pull_rows(self, rows: Any) -> Any:
        """Return coefficients (n, d) of the leaders from those of all weights."""
        return rows

    def pull_products(
        self, products: Callable[[np.ndarray], np.ndarray], chosen: np.ndarray
    ) -> np.ndarray:
        """Return products (k, k) of the chosen leaders from those of some weights."""
        return products(chosen)


@dataclass(frozen=True, eq=False)
class Tied(Ties):
    """`leaders` (stages, columns + 1 or 2) are the flat indices of those that the weights are equal
    to, which alone may be free."""

    leaders: np.ndarray

    @cached_property
    def sums(self) -> sparse.csr_array:
        """The matrix (d, d) that adds derivatives to those by the leaders."""
        leaders = self.leaders.ravel()
        places = np.arange(len(leaders)), leaders
        return sparse.csr_array((np.ones(len(leaders)), places), (len(leaders), len(leaders)))

    @cached_property
    def shared(self) -> np.ndarray:  # type: ignore[override]
        """See `Ties`."""
        return np.flatnonzero(np.bincount(self.leaders.ravel()) > 1)

    def leaders_in(self, shape: tuple[int, ...]) -> np.ndarray:
        """See `Ties`."""
        return self.leaders

    def expand(self, values: np.ndarray) -> np.ndarray:
        """See `Ties`."""
        flat = values.reshape(self.leaders.size, -1)
        return np.ascontiguousarray(flat[self.leaders.ravel()]).reshape(values.shape)

    def pull(self, sums: np.ndarray) -> np.ndarray:
        """See `Ties`."""
        flat = sums.reshape(self.leaders.size, -1)
        return (self.sums.T @ flat).reshape(sums.shape)

    def pull_rows(self, rows: Any) -> Any:
        """See `Ties`."""
        return rows @ self.sums

    def pull_products(
        self, products: Callable[[np.ndarray], np.ndarray], chosen: np.ndarray
    ) -> np.ndarray:
        """See `Ties`."""
        leaders = self.leaders.ravel()
        wanted = np.flatnonzero(np.isin(leaders, chosen))
        into = (leaders[wanted][:, None] == chosen).astype(np.float64)
        return into.T @ products(wanted) @ into


UNTIED = Ties()


def ties_of(leaders: np.ndarray) -> Ties:
    """Return the map for these leaders (stages, columns + 1 or 2)."""
    return UNTIED if (leaders.ravel() == np.arange(leaders.size)).all() else Tied(leaders)


def free_leaders(free: np.ndarray, leaders: np.ndarray) -> np.ndarray:
    """Return which weights are free: leaders of which all that are equal to them are."""
    held = np.bincount(leaders.ravel(), ~free.ravel(), free.size).reshape(free.shape) > 0
    is_leader = leaders == np.arange(leaders.size).reshape(leaders.shape)
    return is_leader & ~held
