"""Games drawn from known weights, whose positions share their result and resemble each other: do
intervals cover the truth?"""

from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from tests.tuner.support import PHASES, SCALE, flat_layout
from tuner.datasets.dataset import Dataset, of_stages
from tuner.fit.fit import fit
from tuner.fit.result import FitResult
from tuner.fit.setup import FitOptions
from tuner.fit.temporal import Temporal
from tuner.objectives.table import DRAW_MODELS, OBJECTIVES
from tuner.objectives.temporal import TemporalData
from tuner.parameters.parameters import Parameters, Stages

GAMES, LENGTH = 300, 20
COPIED = 0.7  # of a game's positions: all alike
WEIGHTS = np.array([120.0, -60.0, 200.0])
WIDTH = 90.0  # of a draw, in centipawns
STATES = 7  # of the walk
OPTIONS = FitOptions(prior=None, held_out=0.0, intercept=False, fit_scale=False)


def dataset_of(coefficients: np.ndarray, outcome: np.ndarray, games: int) -> Dataset:
    """A dataset in memory, of games of one length."""
    n, columns = coefficients.shape
    rows, index = np.nonzero(coefficients)
    row = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=n))])
    names = np.arange(1, games + 1, dtype=np.uint64)
    manifest = {"layout": flat_layout(columns).describe(), "phases": PHASES, "stages": ["mg", "eg"]}
    first = np.arange(games + 1) * (n // games)
    return Dataset(
        Path(),
        manifest,
        (),
        index.astype(np.uint16),
        coefficients[rows, index].astype(np.int8),
        row,
        np.full(n, PHASES, np.uint8),
        outcome.astype(np.float32),
        np.ones(n, np.float32),
        first,
        names,
        names,
    )


def chances(loss: str, coefficients: np.ndarray) -> np.ndarray:
    """(n, 3) of loss, draw, win."""
    evaluation = coefficients @ WEIGHTS
    if loss in DRAW_MODELS:
        return OBJECTIVES[loss].probabilities(SCALE, evaluation, np.full(len(evaluation), WIDTH))
    p = 0.5 + 0.5 * np.tanh(SCALE * evaluation)
    return np.stack([1 - p, np.zeros(len(p)), p], axis=1)


def positions_of(loss: str, random: np.random.Generator, outcome: int, n: int) -> np.ndarray:
    """Positions by rejection: given the outcome of their game, each by itself is drawn from the
    model."""
    found = np.zeros((0, len(WEIGHTS)), np.int64)
    while len(found) < n:
        drawn = random.integers(-3, 4, (4 * n + 64, len(WEIGHTS)))
        kept = random.random(len(drawn)) < chances(loss, drawn)[:, outcome + 1]
        found = np.concatenate([found, drawn[kept]])
    return found[:n]


def simulated(loss: str, seed: int) -> FitResult:
    """A fit to games in which the chance of each outcome, at every position, is exactly what
    WEIGHTS say.

    The outcome of a game comes first, by its share over all positions; then its positions, given
    the outcome."""
    random = np.random.default_rng([seed, 7])
    everywhere = np.stack(np.meshgrid(*[np.arange(-3, 4)] * len(WEIGHTS)), axis=-1).reshape(
        -1, len(WEIGHTS)
    )
    outcomes = random.choice([-1, 0, 1], GAMES, p=chances(loss, everywhere).mean(axis=0))
    pool = {
        outcome: positions_of(
            loss, random, outcome, int((outcomes == outcome).sum()) * (LENGTH + 1)
        )
        for outcome in (-1, 0, 1)
    }
    taken, parts = dict.fromkeys(pool, 0), []
    for outcome in outcomes.tolist():
        begin = taken[outcome] = taken[outcome] + LENGTH + 1
        likeness, *others = pool[outcome][begin - LENGTH - 1 : begin]
        parts.append(np.where(random.random((LENGTH, 1)) < COPIED, likeness, np.array(others)))
    data = dataset_of(np.concatenate(parts), np.repeat(outcomes, LENGTH), GAMES)
    return fit(data, parameters_of(len(WEIGHTS)), replace(OPTIONS, loss=loss))


def walked(seed: int, lambda_: float) -> FitResult:
    """A fit by TD(lambda) to walks on a line: from a state s of 1..STATES one step to either side,
    lost at 0 and won beyond STATES (Sutton 1988, with as many wins as losses for the middle). The
    value of a state is linear in s."""
    random = np.random.default_rng([seed, 11])
    rows, outcomes, ends = [], [], []
    for _ in range(GAMES):
        state, line = (STATES + 1) // 2, []
        while 0 < state <= STATES:
            line.append(state - 1)
            state += 1 if random.random() < 0.5 else -1
        rows += line
        outcomes += [1 if state else -1] * len(line)
        ends.append(len(rows))
    data = dataset_of(np.eye(STATES, dtype=np.int8)[rows], np.array(outcomes), 1)
    names = np.arange(1, GAMES + 1, dtype=np.uint64)
    data = Dataset(**{**vars(data), "first": np.array([0, *ends]), "game": names, "opening": names})
    extra = TemporalData(np.full(len(rows), lambda_), np.full(len(rows), np.nan))
    options = replace(OPTIONS, datafit=partial(Temporal, temporal=extra))
    return fit(data, parameters_of(STATES), options)


def parameters_of(columns: int) -> Parameters:
    return Parameters("simulation", flat_layout(columns), ("all",), np.zeros((1, columns)), SCALE)


def walk_weights() -> np.ndarray:
    """(STATES,) centipawns at which values are right; the value of the middle state is 0."""
    values = 2 * np.arange(1, STATES + 1) / (STATES + 1) - 1
    return np.arctanh(values) / SCALE


def covered(found: list[FitResult], truth: np.ndarray, reach: float = 1.96) -> float:
    """The share of weights whose 95 % interval holds the truth."""
    # with draws the scale is not SCALE, and centipawns are others
    off = np.array(
        [
            np.abs(result.weights[0, : len(truth)] - truth * SCALE / result.problem.datafit.scale)
            for result in found
        ]
    )
    errors = np.array([result.uncertainty.standard_errors[0, : len(truth)] for result in found])
    return float((off <= reach * errors).mean())


STAGINGS = {
    "one": Stages(("all",), PHASES),
    "two": Stages(("mg", "eg"), PHASES),
    "three": Stages(("mg", "late", "eg"), PHASES, ((24, 24), (8, 10), (0, 0))),
    "four": Stages(
        ("opening", "middle", "ending", "mating"), PHASES, ((24, 24), (14, 18), (6, 6), (0, 1))
    ),
    "eight buckets": Stages(tuple(f"b{i}" for i in range(8)), 7, tuple((i, i) for i in range(8))),
    "two buckets of two": Stages(
        ("mg0", "eg0", "mg1", "eg1"), 19, ((9, 9), (0, 0), (19, 19), (10, 10))
    ),
}
STAGED_GAMES, STAGED_COLUMNS, ALIKE = 250, 3, 8  # games for each stage; positions of a game


def staged_weights(stages: Stages) -> np.ndarray:
    """(stages, columns) that are planted."""
    shape = (len(stages.names), STAGED_COLUMNS)
    return np.random.default_rng(shape[0]).normal(0, 110, shape).round()


def in_stages(stages: Stages, seed: int, games: int) -> tuple[np.ndarray, ...]:
    """Counts (n, columns), phase, outcome and game of positions (n,): the outcome of a game comes
    first, then its positions, each by itself drawn from the model given the outcome, most of them
    copies of one."""
    random, weights = np.random.default_rng([seed, 13]), staged_weights(stages)
    shares = stages.shares(np.arange(stages.phases + 1))
    outcomes = random.choice([-1, 1], games)  # counts are symmetric
    wanted = np.repeat(outcomes, ALIKE + 1)
    counts, phase = np.zeros((len(wanted), STAGED_COLUMNS), np.int64), np.zeros(len(wanted), int)
    left = np.arange(len(wanted))
    while len(left):
        counts[left] = random.integers(-3, 4, (len(left), STAGED_COLUMNS))
        phase[left] = random.integers(0, stages.phases + 1, len(left))
        evaluation = ((counts[left] @ weights.T) * shares[:, phase[left]].T).sum(axis=1)
        p = 0.5 + 0.5 * np.tanh(SCALE * evaluation * wanted[left])
        left = left[random.random(len(left)) >= p]
    one = np.arange(len(wanted)).reshape(games, ALIKE + 1)
    place = np.where(random.random((games, ALIKE)) < COPIED, one[:, :1], one[:, 1:]).ravel()
    game = np.repeat(np.arange(1, games + 1, dtype=np.uint64), ALIKE)
    return counts[place], phase[place], np.repeat(outcomes, ALIKE), game


def staged_fit(stages: Stages, seed: int) -> FitResult:
    """A fit to `in_stages`."""
    games = STAGED_GAMES * len(stages.names)
    counts, phase, outcome, _ = in_stages(stages, seed, games)
    data = dataset_of(counts, outcome, games)
    data = replace(
        data, phase=phase.astype(np.uint8), manifest={**data.manifest, **of_stages(stages)}
    )
    zeros = np.zeros((len(stages.names), STAGED_COLUMNS))
    layout = flat_layout(STAGED_COLUMNS)
    start = Parameters(
        "simulation", layout, stages.names, zeros, SCALE, phases=stages.phases, spans=stages.spans
    )
    return fit(data, start, OPTIONS)


def share_covered(found: list[FitResult], truth: np.ndarray) -> float:
    """The share of the weights of all stages whose 95 % interval holds the truth."""
    off = np.array([np.abs(result.weights[:, :-1] - truth) for result in found])
    errors = np.array([result.uncertainty.standard_errors[:, :-1] for result in found])
    return float((off <= 1.96 * errors).mean())
