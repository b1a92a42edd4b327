"""Win, draw and loss by score and material: the model whose form Stockfish uses, fitted by maximum
likelihood.

With a and b polynomials in the material m, the probability of winning is s((x - a) / b) at a score
x, that of losing s((-x - a) / b), where s(u) = 1 / (1 + exp(-u)); the rest is drawn
(github.com/official-stockfish/WDL_model). At x = a half of the games are won. For one m this is the
ordered model of Rao and Kupper (1967) with the logit x / b and the threshold a / b."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.optimize import OptimizeResult, minimize, minimize_scalar
from scipy.special import expit, log_expit

from tuner.core.estimates import Estimate, estimate_of, reach_of

# of a and b on the range of m, in units of the scores' spread: both are positive
MIN_COEFFICIENT = 1e-3
CLOSE = 1e-6  # of the gradient of the mean loss at a maximum
STEP = 1e-5  # of the differences of gradients that are the curvature
BIGGEST = 700.0  # of an exponent
FORBIDDEN = 1e6  # the loss where a or b is not positive


class Judged(NamedTuple):
    """Positions that were played out: scores x, material m, outcomes z of the same view from -1
    to 1, and the number of the game of each; (n,) each."""

    x: np.ndarray
    m: np.ndarray
    z: np.ndarray
    game: np.ndarray

    def only(self, keep: np.ndarray) -> Judged:
        """Return the positions that `keep` (n,) marks."""
        return Judged(*(column[keep] for column in self))


class Chances(NamedTuple):
    """Probabilities of a win, a draw and a loss."""

    win: np.ndarray
    draw: np.ndarray
    loss: np.ndarray


@dataclass(frozen=True)
class WdlModel:
    """Coefficients of a and b, those of m ** 0 first."""

    a: np.ndarray
    b: np.ndarray

    def at(self, m: np.ndarray | float) -> tuple[np.ndarray, np.ndarray]:
        """Return a and b at m."""
        return np.polynomial.Polynomial(self.a)(m), np.polynomial.Polynomial(self.b)(m)

    def chances(self, x: np.ndarray | float, m: np.ndarray | float) -> Chances:
        """Return the probabilities at scores and material."""
        a, b = self.at(m)
        win, loss = expit((x - a) / b), expit((-x - a) / b)
        return Chances(win, 1 - win - loss, loss)

    def losses(self, data: Judged) -> np.ndarray:
        """Return the log loss (n,) of each position."""
        return _losses(*self.at(data.m), data)[0]

    def scaled(self, factor: float) -> WdlModel:
        """Return the same model for scores that were multiplied by a factor."""
        return WdlModel(self.a * factor, self.b * factor)


@dataclass(frozen=True)
class WdlFit:
    """A fitted model: the covariance of its coefficients, a before b, from games as clusters, their
    number, the mean log loss, and the criterion of Takeuchi (1976), by which degrees compare."""

    model: WdlModel
    covariance: np.ndarray
    games: int
    loss: float
    criterion: float

    @property
    def coefficients(self) -> list[list[Estimate]]:
        """The coefficients of a and of b."""
        errors = np.sqrt(np.diag(self.covariance)).reshape(2, -1)
        return [
            [self._estimate(*both) for both in zip(values, of, strict=True)]
            for values, of in zip((self.model.a, self.model.b), errors, strict=True)
        ]

    def at(self, m: float) -> tuple[Estimate, Estimate]:
        """Return a and b at m."""
        power = np.power(m, np.arange(len(self.model.a)))
        n = len(power)
        blocks = self.covariance[:n, :n], self.covariance[n:, n:]
        a, b = (
            self._estimate(value, math.sqrt(power @ block @ power))
            for value, block in zip(self.model.at(m), blocks, strict=True)
        )
        return a, b

    def _estimate(self, value: np.ndarray | float, error: float) -> Estimate:
        return estimate_of(float(value), float(error), reach_of(self.games))


def _losses(
    a: np.ndarray, b: np.ndarray, data: Judged
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return log losses (n,) and their derivatives by a and b."""
    u, v, t = (data.x - a) / b, (-data.x - a) / b, a / b
    won, lost = np.maximum(data.z, 0), np.maximum(-data.z, 0)
    drawn = 1 - won - lost
    log_win, log_loss = log_expit(u), log_expit(v)
    # 1 - s(u) - s(v) = (1 - exp(u + v)) s(-u) s(-v), and u + v = -2 t
    log_draw = np.log(-np.expm1(-2 * t)) + log_expit(-u) + log_expit(-v)
    du = won * expit(-u) - drawn * expit(u)
    dv = lost * expit(-v) - drawn * expit(v)
    dt = drawn * 2 / np.expm1(np.minimum(2 * t, BIGGEST))
    loss = -(won * log_win + lost * log_loss + drawn * log_draw)
    return loss, (du + dv - dt) / b, (u * du + v * dv + t * dt) / b


class _Likelihood:
    """The mean loss of a degree, as a function of coefficients of polynomials that are orthonormal
    over the data, for scores in units of their spread."""

    def __init__(self, data: Judged, degree: int, span: Sequence[float]) -> None:
        """`span` are values of m at which a and b are positive."""
        self.data, self.size = data, degree + 1
        powers = np.power.outer(data.m, np.arange(self.size))
        basis, self.mix = np.linalg.qr(powers)
        signs = math.sqrt(len(data.m)) * np.sign(np.diag(self.mix))
        self.basis, self.mix = basis * signs, self.mix / signs[:, None]
        inverse = np.linalg.inv(self.mix)
        self.span = np.power.outer(np.asarray(span), np.arange(self.size)) @ inverse

    def _both(self, theta: np.ndarray, basis: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return basis @ theta[: self.size], basis @ theta[self.size :]

    def allowed(self, theta: np.ndarray) -> bool:
        """Return whether a and b are positive in the data and on the span."""
        return all(
            part.min() > MIN_COEFFICIENT
            for basis in (self.basis, self.span)
            for part in self._both(theta, basis)
        )

    def loss(self, theta: np.ndarray) -> float:
        if not self.allowed(theta):
            return FORBIDDEN
        return float(_losses(*self._both(theta, self.basis), self.data)[0].mean())

    def scores(self, theta: np.ndarray) -> np.ndarray:
        """Return the derivatives (n, 2 size) of the loss of each position."""
        _, da, db = _losses(*self._both(theta, self.basis), self.data)
        return np.hstack([da[:, None] * self.basis, db[:, None] * self.basis])

    def gradient(self, theta: np.ndarray) -> np.ndarray:
        """Return the derivatives of the loss; steps to where it is forbidden are not taken."""
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            _, da, db = _losses(*self._both(theta, self.basis), self.data)
        return np.concatenate([da @ self.basis, db @ self.basis]) / len(self.data.x)

    def curvature(self, theta: np.ndarray) -> np.ndarray:
        """Return the second derivatives, as differences of gradients."""
        rows = [
            (self.gradient(theta + step) - self.gradient(theta - step)) / (2 * STEP)
            for step in STEP * np.eye(len(theta))
        ]
        return (np.array(rows) + np.array(rows).T) / 2


def fit_wdl(data: Judged, degree: int, span: Sequence[float]) -> WdlFit | None:
    """Fit polynomials of a degree; `span` are values of m at which a and b have to be positive.
    None if the best are at that limit, or the data do not identify them. Positions count alike,
    and errors are clustered by game."""
    unit = float(np.sqrt(np.mean(data.x**2))) or 1.0
    scaled = data._replace(x=data.x / unit)
    likelihood, best = _best(scaled, 0, span, [np.ones(1), np.ones(1)])
    for higher in range(1, degree + 1):  # each degree begins at the solution of the one below
        parts = np.split(best.x, 2)
        before = [np.append(np.linalg.solve(likelihood.mix, part), 0.0) for part in parts]
        likelihood, best = _best(scaled, higher, span, before)
    curvature = likelihood.curvature(best.x)
    if np.abs(best.jac).max() > CLOSE or np.linalg.eigvalsh(curvature)[0] <= CLOSE:
        return None
    _, game = np.unique(data.game, return_inverse=True)
    games, n = int(game.max()) + 1, len(game)
    by_game = np.zeros((games, len(best.x)))
    np.add.at(by_game, game, likelihood.scores(best.x) / n)
    meat = by_game.T @ by_game * games / max(games - 1, 1)
    inverse = np.linalg.inv(curvature)
    back = unit * np.kron(np.eye(2), np.linalg.inv(likelihood.mix))
    a, b = (back @ best.x).reshape(2, -1)
    criterion = best.fun + float(np.trace(inverse @ meat))
    return WdlFit(
        WdlModel(a, b), back @ inverse @ meat @ inverse @ back.T, games, best.fun, criterion
    )


def _best(
    data: Judged, degree: int, span: Sequence[float], start: Sequence[np.ndarray]
) -> tuple[_Likelihood, OptimizeResult]:
    """Return the likelihood of a degree and its maximum, found from the coefficients of a and b."""
    likelihood = _Likelihood(data, degree, span)
    return likelihood, minimize(
        likelihood.loss,
        np.concatenate([likelihood.mix @ part for part in start]),
        method="trust-exact",
        jac=likelihood.gradient,
        hess=likelihood.curvature,
        options={"gtol": CLOSE / 10},
    )


def best_factor(model: WdlModel, data: Judged) -> float:
    """Return the factor of a model's scores, see `scaled`, with which it fits best."""

    def loss(log_factor: float) -> float:
        return float(model.scaled(math.exp(log_factor)).losses(data).mean())

    return math.exp(minimize_scalar(loss, bounds=(-5, 5), method="bounded").x)


def constant_losses(learned: Judged, data: Judged) -> np.ndarray:
    """Return the log losses of a guess from how often games are won, drawn and lost."""
    shares = [np.maximum(learned.z, 0).mean(), np.maximum(-learned.z, 0).mean()]
    won, lost = np.maximum(data.z, 0), np.maximum(-data.z, 0)
    return -(
        won * math.log(shares[0])
        + lost * math.log(shares[1])
        + (1 - won - lost) * math.log(1 - sum(shares))
    )


def mean_by_game(values: np.ndarray, game: np.ndarray) -> Estimate:
    """Return the mean over positions, with games as clusters."""
    _, number = np.unique(game, return_inverse=True)
    mean, games = float(values.mean()), int(number.max()) + 1
    sums = np.bincount(number, values - mean) / len(values)
    error = math.sqrt(float(sums @ sums) * games / max(games - 1, 1))
    return estimate_of(mean, error, reach_of(games))
