"""Means of games with dice, made more precise by pairs with the same dice and by what the dice gave.

The luck of a game has mean zero whoever plays (`tuner.networks.matches`), so points - beta * luck has the mean of the points for
any beta that does not depend on the game. It is the slope of a regression on all other pairs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class MeanPoints:
    """A mean in points a game with its standard error; `plain_error` is that of as many games with dice of their own and without
    luck, `slope` the mean slope of points by luck, 0 without."""

    mean: float
    error: float
    plain_error: float
    slope: float

    @property
    def gain(self) -> float:
        """How many games of the plain kind one game stands for."""
        return (self.plain_error / self.error) ** 2 if self.error else float("inf")


def slopes_without_own(y: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Return for each entry the slope (n,) of a regression of y on x, with an intercept, on all others; 0 where x is constant."""
    n, dx, dy = len(x), x - x.mean(), y - y.mean()
    share = n / (n - 1)
    over, under = dx @ dy - share * dx * dy, dx @ dx - share * dx * dx
    return np.divide(over, under, out=np.zeros(n), where=under > 1e-12 * max(dx @ dx, 1e-300))


def mean_points(points: np.ndarray, luck: np.ndarray | None = None, paired: bool = True) -> MeanPoints:
    """Return the mean of points (games,) of one player, whose luck was `luck`. `paired`: games 2k and 2k + 1 have the same dice.

    At least three games or pairs are needed, an even number of games if they are paired.
    """
    size = 2 if paired else 1
    if len(points) % size or len(points) < 3 * size:
        raise ValueError(f"{len(points)} games, expected at least {3 * size}" + (", an even number" if paired else ""))
    y = np.asarray(points, np.float64).reshape(-1, size).mean(1)
    plain = float(np.std(points, ddof=1) / len(points) ** 0.5)
    slopes = np.zeros(len(y))
    if luck is not None:
        x = np.asarray(luck, np.float64).reshape(-1, size).mean(1)
        slopes = slopes_without_own(y, x)
        y = y - slopes * x
    return MeanPoints(float(y.mean()), float(np.std(y, ddof=1) / len(y) ** 0.5), plain, float(slopes.mean()))
