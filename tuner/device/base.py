"""What a fit asks of the machine that passes over its data: the processors, or a card."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from tuner.dataset import Dataset


class Model(Protocol):
    """What passes have to know: `tuner.problem.Problem` without what is believed of its weights. `shares` (stages, phases + 1)
    say how much of each stage a position of a phase has, `groups` name the games that count as one."""

    data: Dataset
    games: np.ndarray
    phases: int
    objective: str
    scale: float
    stages: int
    draws: bool
    address: int
    shares: np.ndarray
    groups: tuple[np.ndarray, np.ndarray]
    arrays: tuple[np.ndarray, ...]

    def table(self, weights: np.ndarray) -> np.ndarray:
        """(phases + 1, columns + 1 or 2) the weights of each phase."""

    def progress(self, done: int, total: int) -> None:
        """So many of a pass's positions are done."""

    def release(self) -> None:
        """Give back memory of data that were read."""


class Device(Protocol):
    """Sums over positions, of which weights have shape (stages, columns + 1, or 2 with the width of a draw)."""

    name: str

    def loss_gradient(self, model: Model, weights: np.ndarray, ranges: np.ndarray) -> tuple[float, np.ndarray]:
        """The sum of weight * loss over ranges (m, 2) of positions, and its gradient in the shape of the weights."""

    def gauss_newton(self, model: Model, weights: np.ndarray, ranges: np.ndarray) -> np.ndarray:
        """(d, d) the sum of weight * curvature * x x'; stages one after the other."""

    def over_groups(self, model: Model, weights: np.ndarray, chosen: np.ndarray,
                    function: Callable[[Any], Any]) -> tuple[np.ndarray, int]:
        """The sum of function(scores) over all groups of games, some at a time, and how many groups there are. Scores (n, k) are
        gradients of the groups' summed losses by the k flat weights `chosen`, in an array of the device's own library."""
