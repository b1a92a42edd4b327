"""How far weights would move by self-play if gradients were nothing but noise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tuner.core.records import InputError, convert_fields
from tuner.fit.learners.steps import RULES, At, chain, scheduled
from tuner.options.selfplay import SelfplaySettings
from tuner.play.selfplay.learner import kept_share

WALKS, SEED = 1000, 1
SHARE = 95  # percent of the random walks that stay within the limit
MOST_BATCHES = 50_000
NEEDED = ("learner", "half_life", "floor", "average", "batch")


def noise_band(settings: Mapping[str, Any], batches: int) -> np.ndarray | None:
    """Return (batches,) centipawns within which 95 % of the averaged weights are after each batch
    if gradients are independent noise with mean zero; None for rules that depend on the size of
    gradients, and for settings of another form. Real gradients pull weights back, so this is an
    upper limit."""
    given = {name: settings[name] for name in (*NEEDED, "learning_rate") if name in settings}
    try:
        run = SelfplaySettings(start="", **convert_fields(given, SelfplaySettings))
    except InputError:
        return None
    rule, random = RULES[run.learner], np.random.default_rng(SEED)
    if not given.keys() >= set(NEEDED) or not rule.scale_free or not 0 < batches <= MOST_BATCHES:
        return None
    rate = rule.rate if run.learning_rate is None else run.learning_rate
    change = chain(rule.step, scheduled(rate, run.floor, run.half_life))
    state = {name: np.zeros(WALKS) for name in rule.names}
    weights, average, reached = np.zeros(WALKS), np.zeros(WALKS), np.zeros(batches)
    for batch in range(batches):
        at = At(1, batch + 1, batch * run.batch)
        weights = weights + change(state, random.normal(size=WALKS), at)
        keep = kept_share(run, batch + 1)
        average = keep * average + (1 - keep) * weights
        reached[batch] = np.percentile(np.abs(average), SHARE)
    return reached
