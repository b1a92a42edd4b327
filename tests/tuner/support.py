"""Shared by the tests of the tuner: datasets from dense matrices, and dense formulas to compare
with."""

from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from tuner.datasets.dataset import Dataset, Rows
from tuner.datasets.reader import open_dataset
from tuner.datasets.writing import DatasetWriter
from tuner.fit.datafit import Datafit
from tuner.fit.device.base import Device, Piece
from tuner.fit.device.cpu import sums
from tuner.fit.device.cpu.device import CPU
from tuner.fit.learners import LEARNERS
from tuner.fit.learners.base import LearnerOptions, Record
from tuner.fit.penalty import Independent
from tuner.fit.problem import Problem
from tuner.fit.temporal import Temporal
from tuner.objectives.table import OBJECTIVES
from tuner.objectives.temporal import TemporalData
from tuner.parameters.parameters import Layout, Place

REPOSITORY = Path(__file__).resolve().parents[2]
PHASES = 24
SCALE = 0.00255
LAYOUT = Layout(
    (
        Place("material", "man", (), 0),
        Place("material", "king", (), 1),
        Place("squares", "man", (2, 2), 2),
        Place("files", "open", (3,), 6),
    )
)


def flat_layout(columns: int) -> Layout:
    """Return a layout of so many scalar parameters."""
    return Layout(tuple(Place("single", f"n{i}", (), i) for i in range(columns)))


@dataclass(frozen=True)
class Sample:
    """A dataset and what it was written from: coefficients (n, columns), and per position phase,
    outcome, weight, game."""

    data: Dataset
    layout: Layout
    coefficients: np.ndarray
    phase: np.ndarray
    outcome: np.ndarray
    weight: np.ndarray
    group: np.ndarray

    def design(self, stages: int) -> np.ndarray:
        """(n, stages * (columns + 1)) what each weight is multiplied with: columns, then the
        intercept, stage by stage."""
        whole = np.hstack([self.coefficients, np.ones((len(self.phase), 1))])
        first = self.phase[:, None] / PHASES
        return whole if stages == 1 else np.hstack([first * whole, (1 - first) * whole])


def write_sample(
    folder: Path,
    coefficients: np.ndarray,
    outcome: np.ndarray,
    lengths: np.ndarray,
    *,
    phase: np.ndarray | None = None,
    weight: np.ndarray | None = None,
    layout: Layout | None = None,
    identities: np.ndarray | None = None,
    openings: np.ndarray | None = None,
) -> Sample:
    """Write positions as a dataset of games of these lengths; `identities` and `openings` default
    to one each."""
    n, games = len(outcome), len(lengths)
    phase = np.full(n, PHASES, np.uint8) if phase is None else phase.astype(np.uint8)
    weight = np.ones(n, np.float32) if weight is None else weight.astype(np.float32)
    layout = flat_layout(coefficients.shape[1]) if layout is None else layout
    identities = (
        np.arange(1, games + 1, dtype=np.uint64)
        if identities is None
        else identities.astype(np.uint64)
    )
    openings = identities if openings is None else openings.astype(np.uint64)
    rows, index = np.nonzero(coefficients)
    ends = np.cumsum(np.bincount(rows, minlength=n))
    with DatasetWriter(folder) as writer:
        writer.add_positions(
            Rows(index, coefficients[rows, index], np.append(0, ends), phase, outcome, weight)
        )
        writer.add_games(np.concatenate([[0], np.cumsum(lengths)[:-1]]), identities, openings)
        writer.finish(
            {
                "program": "evaltune test",
                "game": "none",
                "sources": [{"file": "none", "sha256": "-"}],
                "options": {},
                "layout": layout.describe(),
                "terms": "none",
                "phases": PHASES,
                "stages": ["mg", "eg"],
            }
        )
    return Sample(
        open_dataset(folder),
        layout,
        coefficients.astype(np.float64),
        phase,
        outcome.astype(np.float64),
        weight.astype(np.float64),
        np.repeat(identities, lengths),
    )


def random_coefficients(
    random: np.random.Generator, n: int, columns: int, largest: int = 3
) -> np.ndarray:
    """(n, columns) int8, about half of them zero."""
    drawn = random.integers(-largest, largest + 1, (n, columns))
    return np.where(random.random((n, columns)) < 0.5, drawn, 0).astype(np.int8)


def random_sample(
    folder: Path,
    seed: int,
    games: int,
    columns: int,
    length: int = 12,
    draws: float = 0.2,
    scale: float = SCALE,
    sd: float = 100.0,
) -> tuple[Sample, np.ndarray]:
    """Games of varying length with outcomes drawn from random weights (2, columns + 1), which are
    returned too.

    The positions of a game share one draw of chance, so that they are far from independent, but
    each outcome by itself has the expectation that the weights say."""
    random = np.random.default_rng(seed)
    lengths = random.integers(1, 2 * length, games)
    n = int(lengths.sum())
    group = np.repeat(np.arange(games), lengths)
    likeness = random_coefficients(random, games, columns, 2)[group]
    coefficients = (random_coefficients(random, n, columns, 2) + likeness).astype(np.int8)
    phase = np.clip(
        PHASES - 2 * (np.arange(n) - np.repeat(np.cumsum(lengths) - lengths, lengths)), 0, PHASES
    )
    weights = random.normal(0, sd, (2, columns + 1))
    sample = write_sample(folder, coefficients, np.zeros(n), lengths, phase=phase)
    p = chances(sample.design(2) @ weights.ravel(), scale)
    shared = random.random(games)[group]
    # a draw counts one half: as many from the wins as from the losses leave the expectation as it
    # is
    width = draws * np.minimum(p, 1 - p)
    outcome = np.where(shared < p - width, 1.0, np.where(shared > p + width, -1.0, 0.0))
    return write_sample(folder, coefficients, outcome, lengths, phase=phase), weights


def chances(evaluation: np.ndarray, scale: float) -> np.ndarray:
    """The probability of winning, by the logistic function."""
    return 1 / (1 + np.exp(-2 * scale * evaluation))


def problem_of(
    sample: Sample,
    stages: int = 2,
    objective: str = "cross-entropy",
    scale: float = SCALE,
    games: np.ndarray | None = None,
    device: Device = CPU,
    **changes,
) -> Problem:
    """A problem on all games: from zeros, everything free, without bounds and prior, unless said
    otherwise."""
    shape = (stages, sample.coefficients.shape[1] + 1 + OBJECTIVES[objective].widths)
    parts = {
        "start": np.zeros(shape),
        "free": np.ones(shape, np.bool_),
        "low": np.full(shape, -np.inf),
        "high": np.full(shape, np.inf),
        "precision": np.zeros(shape),
    }
    parts |= {
        name: np.broadcast_to(value, shape).copy()
        for name, value in changes.items()
        if name != "design_effect"
    }
    parts.setdefault("mean", parts["start"])
    mean, given, free = parts.pop("mean"), parts.pop("precision").ravel(), parts.pop("free")
    games = np.arange(sample.data.games) if games is None else games
    datafit = Datafit(sample.data, games, OBJECTIVES[objective], scale, free, device=device)
    penalty = Independent(mean, given, changes.get("design_effect", 1.0))
    return Problem(datafit, penalty, **parts)


@dataclass(frozen=True, eq=False, kw_only=True)
class Correlated(Independent):
    """The penalty with a precision (d, d)."""

    precision: np.ndarray

    def products(self, vectors: np.ndarray) -> np.ndarray:
        return self.precision @ vectors

    def diagonal(self) -> np.ndarray:
        return self.precision.diagonal()

    def matrix(self, chosen: np.ndarray) -> np.ndarray:
        return self.precision[np.ix_(chosen, chosen)]


def correlated(problem: Problem, precision: np.ndarray) -> Problem:
    """The same problem with this precision (d, d)."""
    old = problem.penalty
    given = precision.diagonal()
    return replace(
        problem, penalty=Correlated(old.mean, given, old.design_effect, precision=precision)
    )


def by_passes(monkeypatch: Any) -> None:
    """Take any number of weights for many, whose matrix is not formed."""
    for name in ("FEW", "CROSSING", "PASSES"):
        monkeypatch.setattr(f"tuner.fit.datafit.{name}", 0.0)


def on_device(problem: Problem, device: Device) -> Problem:
    """The same problem with passes on a device."""
    return replace(problem, datafit=replace(problem.datafit, device=device))


def datafit_of(sample: Sample, *given: Any, **more: Any) -> Datafit:
    """What the problem of `problem_of` learns from."""
    return problem_of(sample, *given, **more).datafit


def temporal_of(datafit: Datafit, extra: TemporalData) -> Temporal:
    """The equation of TD(lambda) on the positions of a regression."""
    given = {each.name: getattr(datafit, each.name) for each in fields(datafit)}
    return Temporal(**{**given, "temporal": extra})


def losses(objective: str, p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """The loss of each position by its definition."""
    return (p - q) ** 2 if objective == "mse" else -q * np.log(p) - (1 - q) * np.log1p(-p)


def dense_loss(
    sample: Sample,
    objective: str,
    weights: np.ndarray,
    scale: float = SCALE,
    chosen: np.ndarray | slice = slice(None),
) -> float:
    """Mean loss, from the dense matrix."""
    evaluation = sample.design(len(weights))[chosen] @ weights.ravel()
    loss = OBJECTIVES[objective].loss(scale, evaluation, 0.0, sample.outcome[chosen])
    mass = sample.weight[chosen]
    return float(mass @ loss / mass.sum())


def learn(problem: Problem, learner: str = "newton", **options) -> tuple[np.ndarray, Record]:
    """Weights that a learner finds, and its record."""
    record = Record()
    record(np.clip(problem.start, problem.low, problem.high), objective_of(problem, problem.start))
    return LEARNERS[learner].minimise(problem, LearnerOptions(**options), record), record


def objective_of(problem: Problem, weights: np.ndarray) -> float:
    """Loss plus prior at weights brought within their bounds."""
    inside = np.clip(weights, problem.low, problem.high)
    return problem.datafit.loss(inside) + problem.penalty.value(inside)


def game_scores(problem: Problem, weights: np.ndarray) -> np.ndarray:
    """(groups, d) gradients of the summed loss of each group of games."""

    def terms_of(piece: np.ndarray) -> tuple[int, np.ndarray]:
        return sums.position_terms(problem.datafit, weights, Piece(problem.datafit.rows, piece))

    return np.concatenate(
        list(
            sums.game_scores(
                problem.datafit, weights.shape, terms_of, 0, len(problem.datafit.groups[0])
            )
        )
    )
