"""Identifiability of the weights by a set of games: rank, named null directions, rare weights,
collinear pairs."""

import numpy as np
from scipy.linalg import lapack, qr

from tuner.core.text import plural
from tuner.fit.curvature import Curvature, factorise, inverse_of
from tuner.fit.errors import effective_weights
from tuner.fit.null_space import NullSpace
from tuner.fit.problem import Problem
from tuner.parameters.parameters import Layout, Place
from tuner.results.fit import Collinear, Direction, Identifiability, Rare

RARE = 100  # positions
ALIKE = 0.9  # correlation of two estimates
MAX_PAIRS = 10  # pairs reported
ALMOST = 1e-6  # components of a direction below this are zero; its first one is 1
INTERCEPT = "advantage of the first player"


def names_of(problem: Problem, layout: Layout, stages: tuple[str, ...]) -> list[str]:
    """Return a name for each of the flattened weights."""
    labels = [label for place in layout.places for label in place.labels()]
    labels += [INTERCEPT, "width of a draw"][: problem.start.shape[1] - layout.size]
    return [
        label if len(stages) == 1 else f"{label} {stage}" for stage in stages for label in labels
    ]


def identify(
    problem: Problem,
    curvature: Curvature,
    null_space: NullSpace,
    layout: Layout,
    stages: tuple[str, ...],
) -> Identifiability:
    """Return the number of `free` weights, the `rank` and `condition` number of their matrix, the
    `effective` number of parameters under the prior, `null_directions`, weights that `never` or
    `rare`ly apply, and `collinear` pairs.

    The condition number is that of the Gauss-Newton matrix, scaled to a diagonal of ones; where the
    matrix is not formed, there is none, the rank is not known, no pairs are looked for, and null
    directions are those of sums of lists and tables and of single weights."""
    names, free = names_of(problem, layout, stages), null_space.coordinates
    applies = _positions(problem)
    positions = applies.ravel()[free]
    rank, condition, pairs = None, None, list[tuple[int, int, float]]()
    if curvature.matrix is None:
        effective = effective_weights(problem, curvature, null_space)
    else:
        part = curvature.matrix[np.ix_(free, free)]
        rank = len(free) - null_space.dimension
        condition = _condition(part, null_space)
        effective = _effective(part, problem.penalty.matrix(free))
        pairs = _collinear(part, null_space, positions)
    return Identifiability(
        free=len(free),
        rank=rank,
        condition=condition,
        effective=float(effective),
        null_directions=_merged(
            [
                _described(direction, free, names, applies > 0, layout, stages)
                for direction in _directions(null_space, positions > 0)
            ],
            stages,
        ),
        never=[names[place] for place in free[positions == 0]],
        rare=[
            Rare(names[free[i]], int(positions[i]))
            for i in np.argsort(positions, kind="stable")
            if 0 < positions[i] < RARE
        ],
        collinear=[
            Collinear(names[free[i]], names[free[j]], round(float(value), 4))
            for i, j, value in pairs
        ],
    )


def _positions(problem: Problem) -> np.ndarray:
    """Return the number of positions that each weight applies to, in the shape of the weights."""
    datafit = problem.datafit
    counts = np.full(problem.start.shape, datafit.positions)
    shares = datafit.shares > 0
    applies, _ = datafit.use
    counts[:, : applies.shape[1]] = shares @ applies
    return counts


def _scaled(part: np.ndarray) -> np.ndarray:
    scale = np.sqrt(np.maximum(np.diag(part), 0))
    scale[scale == 0] = 1.0
    return part / np.outer(scale, scale)


def _condition(part: np.ndarray, null_space: NullSpace) -> float | None:
    values = np.linalg.eigvalsh(_scaled(part))[null_space.dimension :]
    return float(values[-1] / values[0]) if len(values) and values[0] > 0 else None


def _effective(part: np.ndarray, precision: np.ndarray) -> float:
    """Return the trace of (H + P)^-1 H, the effective number of parameters that the data
    determine."""
    chosen, factor, scale = factorise(part + precision)
    if not len(chosen):
        return 0.0
    right = part[np.ix_(chosen, chosen)] / np.outer(scale[chosen], scale[chosen])
    solved, _ = lapack.dpotrs(factor, right, lower=1)
    return np.trace(solved)


def _directions(null_space: NullSpace, applies: np.ndarray) -> list[np.ndarray]:
    """Return the null directions among weights that apply, each 1 in a weight that no second one
    contains."""
    basis = null_space.basis[applies]
    if not basis.size:
        return []
    # weights that never apply are directions of their own; without them the basis has the remaining
    # rank
    left, values, _ = np.linalg.svd(basis, full_matrices=False)
    rank = int((values > ALMOST).sum())
    _, _, pivots = qr(basis.T, mode="economic", pivoting=True)
    first = np.sort(pivots[:rank])
    inside = left[:, :rank] @ np.linalg.inv(left[first, :rank])
    directions = np.zeros((len(applies), rank))
    directions[applies] = inside
    return list(directions.T)


def _described(
    direction: np.ndarray,
    free: np.ndarray,
    names: list[str],
    applies: np.ndarray,
    layout: Layout,
    stages: tuple[str, ...],
) -> tuple[str, ...]:
    """Return the weights of a direction: whole tables by their name, the rest individually.
    `applies` (stages, columns + 1 or 2) marks weights that apply to any position."""
    flat = np.zeros(applies.size)
    flat[free] = direction
    moved = flat.reshape(applies.shape)
    numbers = []
    for stage in range(len(stages)):
        suffix = f" {stages[stage]}" if len(stages) > 1 else ""
        for place in layout.places:
            numbers += _of_place(
                place, moved[stage, place.columns], applies[stage, place.columns], suffix
            )
        numbers += [
            names[stage * applies.shape[1] + column]
            for column in range(layout.size, applies.shape[1])
            if abs(moved[stage, column]) > ALMOST
        ]
    return tuple(numbers)


def _merged(directions: list[tuple[str, ...]], stages: tuple[str, ...]) -> list[Direction]:
    """Return `numbers` and a `text` of each direction; one that is the same in several stages once,
    with its stages."""
    merged: dict[tuple[str, ...], list[str]] = {}
    for numbers in filter(None, directions):
        stage = next(
            (name for name in stages if all(one.endswith(f" {name}") for one in numbers)), ""
        )
        merged.setdefault(tuple(one.removesuffix(f" {stage}") for one in numbers), []).append(stage)
    return [
        Direction(list(numbers), _text(numbers) + f" ({', '.join(of)})" * any(of))
        for numbers, of in merged.items()
    ]


def _text(numbers: tuple[str, ...]) -> str:
    """Return a direction that changes no evaluation, as text."""
    if len(numbers) > 1:
        return f"{numbers[0]} against {' and '.join(numbers[1:])}"
    return (
        f"the same number added to {numbers[0]}" if numbers[0].startswith("all of ") else numbers[0]
    )


def _of_place(place: Place, moved: np.ndarray, applies: np.ndarray, suffix: str) -> list[str]:
    chosen = np.abs(moved) > ALMOST
    if not chosen.any():
        return []
    if place.size > 1 and np.ptp(moved[applies]) < ALMOST:
        return [f"all of {place.path}{suffix}"]
    labels = [
        f"{label}{suffix}" for label, is_in in zip(place.labels(), chosen, strict=True) if is_in
    ]
    return (
        labels if len(labels) <= 4 else [f"{plural(len(labels), 'number')} of {place.path}{suffix}"]
    )


def _collinear(
    part: np.ndarray, null_space: NullSpace, positions: np.ndarray
) -> list[tuple[int, int, float]]:
    """Return pairs of weights with correlated estimates, the closest first, without weights that
    rarely apply."""
    chosen, factor, scale = factorise(part)
    if not len(chosen):
        return []
    covariance = np.zeros_like(part)
    covariance[np.ix_(chosen, chosen)] = inverse_of(chosen, factor, scale)
    covariance = null_space.project(covariance)
    covariance[(positions < RARE) | null_space.loose] = 0.0
    spread = np.sqrt(np.maximum(np.diag(covariance), 0))
    known = np.flatnonzero(spread > 0)
    correlation = np.triu(
        covariance[np.ix_(known, known)] / np.outer(spread[known], spread[known]), 1
    )
    pairs = np.argwhere(np.abs(correlation) >= ALIKE).tolist()
    closest = sorted(pairs, key=lambda pair: -abs(correlation[tuple(pair)]))[:MAX_PAIRS]
    return [(known[i], known[j], correlation[i, j]) for i, j in closest]
