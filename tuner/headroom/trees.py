"""Boosted regression trees on the counts of an evaluation, on top of its value.

The logit of a position is that of the fit plus a function f of its counts, its phase and that
logit. f is a sum of trees (`HistGradientBoostingRegressor` of scikit-learn), found in rounds of
Newton's method for the cross-entropy: each round fits trees to the working residual (q - p) / (p (1
- p)) with the weights p (1 - p). Counts are of the first player minus the second or, for terms that
are not linear, of both together as well. f changes its sign if the players are exchanged: every
position is seen from both sides. How many trees are kept, perhaps none, is chosen on games set
aside. f is a lower bound of what functions of these counts can do."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit

from tuner.findings.records import InputUse
from tuner.headroom.losses import ResampledSums, cross_entropy
from tuner.parameters.layout import Layout

ROUNDS, TREES = 4, 40
RATE, LEAVES, LEAF = (
    0.1,
    31,
    100,
)  # learning rate; leaves of a tree; fewest positions of a leaf, each seen from both sides
MOST_COLUMNS = 256  # counts that trees see: time and memory are proportional to them
ASIDE = 8  # one in so many games chooses the number of trees
LEAST_WEIGHT, LARGEST_RESIDUAL = (
    0.01,
    8.0,
)  # of a position: decided positions would have infinite residuals
AT_ONCE = 1 << 14  # positions of a prediction
MISSING = "scikit-learn is not installed, so no trees were fitted: pip install 'evaltune[headroom]'"


class Counts(NamedTuple):
    """Counts `of` n positions (n, k) as a SciPy CSR array. `source` (k,) is the column of the
    dataset that each belongs to; `even` (k,) bool marks those that stay the same if the players are
    exchanged, while the others change their sign."""

    of: Any
    source: np.ndarray
    even: np.ndarray

    def only(self, rows: np.ndarray | slice) -> Counts:
        """Return some of the positions."""
        return self._replace(of=self.of[rows])


class Inputs(NamedTuple):
    """What f depends on, for n positions: logit of the fit and share of the first stage (n,), and
    counts."""

    logit: np.ndarray
    share: np.ndarray
    counts: Counts

    def only(self, keep: np.ndarray | slice) -> Inputs:
        """Return the positions that `keep` chooses: a mask, indices or a slice."""
        return Inputs(self.logit[keep], self.share[keep], self.counts.only(keep))


class TreeRound(NamedTuple):
    """A fitted regressor, and how many of its trees are kept."""

    model: Any
    trees: int

    def __call__(self, features: np.ndarray) -> np.ndarray:
        """Return the sum (n,) of the trees that are kept."""
        return next(islice(self.model.staged_predict(features), self.trees - 1, None))


@dataclass(frozen=True)
class Boosted:
    """The function f: rounds of trees, of the `columns` (k,) of the counts, whose `source` and
    `even` (k,) are as in Counts."""

    columns: np.ndarray
    source: np.ndarray
    even: np.ndarray
    rounds: list[TreeRound]

    @property
    def trees(self) -> int:
        return sum(part.trees for part in self.rounds)

    def features(self, inputs: Inputs) -> np.ndarray:
        """Return the input of the trees (n, k + 2): logit, share, and the counts in `columns`."""
        found = np.empty((len(inputs.logit), len(self.columns) + 2))
        found[:, 0], found[:, 1] = inputs.logit, inputs.share
        found[:, 2:] = inputs.counts.of[:, self.columns].toarray()
        return found

    def mirrored(self, features: np.ndarray) -> np.ndarray:
        """Return the input of the trees (n, k + 2) for the same positions with the players
        exchanged."""
        found = -features
        found[:, 1] = features[:, 1]
        found[:, 2:][:, self.even] = features[:, 2:][:, self.even]
        return found

    def of_features(self, features: np.ndarray) -> np.ndarray:
        """Return f (n,) of the input of the trees (n, k + 2)."""
        found = np.zeros(len(features))
        if self.rounds:
            other = self.mirrored(features)
            for part in self.rounds:
                found += (part(features) - part(other)) / 2
        return found

    def __call__(self, inputs: Inputs) -> np.ndarray:
        """Return f (n,) of positions."""
        parts = [
            inputs.only(slice(begin, begin + AT_ONCE))
            for begin in range(0, len(inputs.logit), AT_ONCE)
        ]
        return np.concatenate(
            [np.zeros(0), *(self.of_features(self.features(part)) for part in parts)]
        )


def available() -> bool:
    """Return whether the library of trees is installed."""
    try:
        import sklearn.ensemble  # noqa: F401
    except ImportError:
        return False
    return True


def boost(
    inputs: Inputs,
    q: np.ndarray,
    mass: np.ndarray,
    cluster: np.ndarray,
    workers: int,
    seed: int,
    watch: Callable[[int], None] = lambda done: None,
) -> Boosted:
    """Fit f to values q (n,) of positions that count `mass` (n,) times; `cluster` (n,) identifies
    their openings."""
    from threadpoolctl import threadpool_limits

    aside = set_aside(cluster, seed)
    columns = frequent(inputs.counts.of[~aside])
    shown = Boosted(columns, inputs.counts.source[columns], inputs.counts.even[columns], [])
    features = shown.features(inputs.only(~aside))
    both = np.concatenate([features, shown.mirrored(features)])
    others = shown.features(inputs.only(aside))
    found, checked = inputs.logit[~aside].copy(), inputs.logit[aside].copy()
    rounds: list[TreeRound] = []
    with threadpool_limits(workers, "openmp"):
        for done in range(ROUNDS):
            p = expit(found)
            weight = np.maximum(p * (1 - p), LEAST_WEIGHT)
            residual = np.clip((q[~aside] - p) / weight, -LARGEST_RESIDUAL, LARGEST_RESIDUAL)
            weight *= mass[~aside]
            model = _regressor(TREES, seed).fit(
                both, np.concatenate([residual, -residual]), np.concatenate([weight, weight])
            )
            trees, moved = _best(
                model, others, shown.mirrored(others), checked, q[aside], mass[aside]
            )
            if not trees:
                break
            rounds.append(TreeRound(model, trees))
            checked += moved
            found += replace(shown, rounds=rounds[-1:]).of_features(features)
            watch(done + 1)
    return replace(shown, rounds=rounds)


def _regressor(trees: int, seed: int) -> Any:
    from sklearn.ensemble import HistGradientBoostingRegressor

    return HistGradientBoostingRegressor(
        max_iter=trees,
        learning_rate=RATE,
        max_leaf_nodes=LEAVES,
        min_samples_leaf=LEAF,
        l2_regularization=1.0,
        early_stopping=False,
        random_state=seed,
    )


def set_aside(cluster: np.ndarray, seed: int) -> np.ndarray:
    """Return which positions (n,) bool are of the openings that are set aside."""
    names = np.unique(cluster)
    chosen = np.random.default_rng([seed, len(names)]).permutation(len(names))[
        : max(1, len(names) // ASIDE)
    ]
    return np.isin(cluster, names[chosen])


def frequent(counts: Any) -> np.ndarray:
    """Return the columns (k,), ascending, that apply most often, of those that vary enough for a
    leaf of a tree."""
    applies = np.bincount(counts.indices, minlength=counts.shape[1])
    order = np.argsort(-applies, kind="stable")[:MOST_COLUMNS]
    return np.sort(order[2 * applies[order] >= LEAF])


def _best(
    model: Any,
    features: np.ndarray,
    mirrored: np.ndarray,
    logit: np.ndarray,
    q: np.ndarray,
    mass: np.ndarray,
) -> tuple[int, np.ndarray]:
    """Return the number of trees with the least cross-entropy on these positions, 0 if none lowers
    it, and f of so many (n,)."""
    least, best, moved = float(mass @ cross_entropy(logit, q)), 0, np.zeros(len(logit))
    for trees, f in enumerate(_stages(model, features, mirrored), 1):
        loss = float(mass @ cross_entropy(logit + f, q))
        if loss < least:
            least, best, moved = loss, trees, f
    return best, moved


def _stages(model: Any, features: np.ndarray, mirrored: np.ndarray) -> Iterator[np.ndarray]:
    """Yield f (n,) of the first tree, of the first two, and so on."""
    for one, other in zip(
        model.staged_predict(features), model.staged_predict(mirrored), strict=True
    ):
        yield (one - other) / 2


EVALUATION, PHASE = "the evaluation", "the phase"
POSITIONS = 5000  # that are shuffled
MOST = 15  # inputs reported


def importance(
    model: Boosted,
    inputs: Inputs,
    q: np.ndarray,
    mass: np.ndarray,
    cluster: np.ndarray,
    layout: Layout,
    seed: int,
    workers: int,
) -> list[InputUse]:
    """Return names of inputs with the rise of the mean loss and its interval, the largest first;
    values `q`, `mass` and opening (n,) are those of the held-out positions."""
    if not model.rounds:
        return []
    from threadpoolctl import threadpool_limits

    random = np.random.default_rng([seed, len(q)])
    some = np.sort(random.permutation(len(q))[:POSITIONS])
    inputs, q, mass, cluster = inputs.only(some), q[some], mass[some], cluster[some]
    features = model.features(inputs)
    with threadpool_limits(workers, "openmp"):
        usual = cross_entropy(inputs.logit + model.of_features(features), q)
        found = []
        for name, columns in _inputs(model, layout):
            kept = features[:, columns].copy()
            features[:, columns] = kept[random.permutation(len(q))]
            rise = cross_entropy(inputs.logit + model.of_features(features), q) - usual
            features[:, columns] = kept
            if rise.any():
                found.append((name, mass * rise))
    found.sort(key=lambda line: -line[1].sum())
    return [
        InputUse(
            **vars(
                ResampledSums(cluster, {"rise": rise, "mass": mass}).interval(
                    lambda of: of["rise"] / of["mass"]
                )
            ),
            input=name,
        )
        for name, rise in found[:MOST]
    ]


def _inputs(model: Boosted, layout: Layout) -> list[tuple[str, np.ndarray]]:
    """Return names of inputs and their columns among those of the trees."""
    found = [(EVALUATION, np.array([0])), (PHASE, np.array([1]))]
    for place in layout.places:
        inside = np.flatnonzero(
            (model.source >= place.first) & (model.source < place.first + place.size)
        )
        if len(inside):
            found.append((place.path, inside + 2))
    return found
