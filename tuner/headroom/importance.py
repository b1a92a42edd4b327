"""What the trees use: the rise of the held-out loss if one of their inputs is shuffled among positions (Breiman 2001).

The columns of a table are shuffled together. The fitted evaluation stays as it is, so that only what the trees add is measured.
Inputs that stand in for each other share what they explain.
"""

from __future__ import annotations

import numpy as np

from tuner.headroom.losses import cross_entropy
from tuner.headroom.resampling import Sums, plain
from tuner.headroom.trees import Boosted, Inputs
from tuner.parameters.layout import Layout

EVALUATION, PHASE = "the evaluation", "the phase"
POSITIONS = 5000  # that are shuffled
MOST = 15  # inputs reported


def importance(model: Boosted, inputs: Inputs, q: np.ndarray, mass: np.ndarray, cluster: np.ndarray, layout: Layout,
               seed: int, workers: int) -> list[dict]:
    """Return names of inputs with the rise of the mean loss and its interval, the largest first; values `q`, `mass` and opening
    (n,) are those of the held-out positions."""
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
    return [{"input": name, **plain(Sums(cluster, {"rise": rise, "mass": mass}).interval(lambda of: of["rise"] / of["mass"]))}
            for name, rise in found[:MOST]]


def _inputs(model: Boosted, layout: Layout) -> list[tuple[str, np.ndarray]]:
    """Return names of inputs and their columns among those of the trees."""
    found = [(EVALUATION, np.array([0])), (PHASE, np.array([1]))]
    for place in layout.places:
        inside = np.flatnonzero((model.source >= place.first) & (model.source < place.first + place.size))
        if len(inside):
            found.append((place.path, inside + 2))
    return found
