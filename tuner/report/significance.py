"""Which changes are significant by their errors, and how far noise moves weights of self-play."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tuner.fit.learners.rules import RULES
from tuner.parameters.diff import Comparison, errors_used
from tuner.report.formatting import known, whole
from tuner.selfplay.learner import kept_share, learning_rate
from tuner.selfplay.settings import Settings

SURE, CHANCE, UNIDENTIFIED, HELD, UNKNOWN = "yes", "no", "not identified", "held constant", ""
WALKS, SEED = 1000, 1
SHARE = 95  # percent of the random walks that stay within the limit
MOST_BATCHES = 50_000


@dataclass(frozen=True)
class Significance:
    """`marks` (stages, columns): one of the texts above for each change. `sentence` and `detail` explain
    the criterion."""

    marks: np.ndarray
    sentence: str
    detail: str = ""

    @property
    def judged(self) -> bool:
        """Whether a criterion is known."""
        return bool((self.marks != UNKNOWN).any())


def significance_of(found: Comparison) -> Significance:
    """Judge changes by their standard errors, as `tuner diff` does; all are unknown without standard errors."""
    marks = np.full(found.change[0].shape, UNKNOWN, dtype=object)
    evidence = found.evidence
    if found.known[0]:
        marks[:] = UNIDENTIFIED
        marks[evidence.tested[0]] = CHANCE
        marks[evidence.significant[0]] = SURE
        marks[evidence.error[0] == 0] = HELD
    said = "".join(f"{line[0].upper()}{line[1:]}. " for line in errors_used(found)).rstrip()
    if not found.known[0]:
        return Significance(marks, said)
    tested, beyond, kept = (int(array.sum()) for array in (evidence.tested, evidence.significant, evidence.supported))
    return Significance(
        marks, f"{whole(beyond)} of {whole(tested)} changes are significant at the 5 % level (by chance alone, up to "
        f"{whole(0.05 * tested)}); {whole(kept)} remain at a false discovery rate of 5 %.", said)


def significance_of_selfplay(found: Comparison, history: list[dict]) -> Significance:
    """Judge no single change of self-play, which gives no standard errors: many small ones together may
    be worth much, though each could be noise."""
    if found.known[0]:
        return significance_of(found)
    games = whole(history[-1]["games"]) if history else "0"
    return Significance(
        np.full(found.change[0].shape, UNKNOWN, dtype=object),
        f"Self-play gives no standard errors: after {games} games any single difference may be noise, "
        "and none is judged. The file as a whole is judged by its matches and by its values of positions.")


def noise_of(settings: Mapping, batches: int) -> np.ndarray | None:
    """(batches,) centipawns within which 95 % of the averaged weights are after each batch if gradients are independent noise
    with mean zero; None for rules that depend on the size of gradients. Real gradients pull weights back, so this is an upper
    limit."""
    name = settings.get("rule")  # of a file: anything
    if not (isinstance(name, str) and name in RULES and RULES[name].scale_free) or not 0 < batches <= MOST_BATCHES:
        return None
    if not all(known(settings.get(name)) for name in ("decay", "floor", "average")) or settings["decay"] <= 0 or not (
            settings.get("rate") is None or known(settings["rate"])):
        return None
    rule, random = RULES[settings["rule"]], np.random.default_rng(SEED)
    given: dict[str, Any] = {name: settings.get(name) for name in Settings.__dataclass_fields__}
    schedule = Settings(**given)
    state = {name: np.zeros(WALKS) for name in rule.names}
    weights, average, reached = np.zeros(WALKS), np.zeros(WALKS), np.zeros(batches)
    for batch in range(batches):
        weights = weights + learning_rate(schedule, batch) * rule.step(state, random.normal(size=WALKS), 1, batch + 1)
        keep = kept_share(schedule, batch + 1)
        average = keep * average + (1 - keep) * weights
        reached[batch] = np.percentile(np.abs(average), SHARE)
    return reached
