"""The weights of an evaluation, one number per stage, in centipawns or the unit of the game, and
their bounds and priors."""

from __future__ import annotations

import importlib
import logging
from dataclasses import dataclass, field, replace

import numpy as np

from games.record import USUAL_SCALE, Wording, available, wording_of
from games.streams import InputError
from tuner.parameters.layout import Layout, Spans, Stages
from tuner.parameters.yaml_tree import Comment

LOG = logging.getLogger(__name__)
DEFAULT_GAME = "chess"  # whose bundled files need no prefix
LARGEST_WEIGHT = 20000.0
SMALLEST_SD, LARGEST_SD = 1e-3, 1e6  # of a prior
LARGEST_ERROR = 1e12  # larger standard errors count as unknown
UNKNOWN = "~"
PHASES = 24  # steps of the phase of rows, unless they say otherwise: those of chess


@dataclass(frozen=True)
class Parameters:
    """The weights of an evaluation and the constraints on them.

    `weights` and `standard_errors` have shape (stages, columns), in centipawns. v = tanh(scale *
    centipawns) is the value of a position, p = (1 + v) / 2 the probability of winning. `fixed` are
    names or globs held constant, `tied` those with one number for all stages, `bounds` pairs of
    name and (low, high), `prior` pairs of name and (mean or None for the starting value, standard
    deviation). `learned` is plain data about the fit, `comments` are those of the file that was
    read, for the file to be written. `phases` are the steps of the phase if another program counts
    the terms; None if this one does. `spans` are the phases in which each stage is alone; without
    them, the first of two is alone at the largest phase, the last at 0."""

    game: str
    layout: Layout
    stages: tuple[str, ...]
    weights: np.ndarray
    scale: float = USUAL_SCALE
    fixed: tuple[str, ...] = ()
    bounds: tuple[tuple[str, tuple[float, float]], ...] = ()
    prior: tuple[tuple[str, tuple[float | None, float]], ...] = ()
    standard_errors: np.ndarray | None = None
    learned: dict = field(default_factory=dict)
    comments: tuple[Comment, ...] = ()
    phases: int | None = None
    tied: tuple[str, ...] = ()
    spans: Spans = ()

    @property
    def of_rows(self) -> bool:
        """Whether another program counts the terms: there are rows to learn from, but no rules."""
        return self.phases is not None

    @property
    def steps(self) -> int:
        """Steps of the phase: the file's, those of a term, or the game's."""
        return self.phases or self.layout.phases or steps_of(self.game)

    @property
    def staging(self) -> Stages:
        """How its stages share the steps of the phase."""
        return Stages(self.stages, self.steps, self.spans)

    def phases_by_stage(self) -> dict[str, str]:
        """The phases in which each stage is alone, as text, if they are not the usual ones."""
        texts = (str(low) if low == high else f"[{low}, {high}]" for low, high in self.spans)
        return dict(zip(self.stages, texts, strict=False))

    @property
    def wording(self) -> Wording:
        """The words of the game, such as the unit of the weights."""
        return wording_of(self.game)

    def mask(self, patterns: tuple[str, ...]) -> np.ndarray:
        """(stages, columns) bool: weights that one of these names or globs matches."""
        found = np.zeros(self.weights.shape, np.bool_)
        for pattern in patterns:
            found |= self.layout.matching(pattern, self.stages)
        return found

    def limits(self) -> tuple[np.ndarray, np.ndarray]:
        """Least and greatest weights (stages, columns) that the bounds allow."""
        low, high = (
            np.full(self.weights.shape, -LARGEST_WEIGHT),
            np.full(self.weights.shape, LARGEST_WEIGHT),
        )
        for name, (smallest, largest) in self.bounds:
            chosen = self.mask((name,))
            low[chosen], high[chosen] = smallest, largest
        return low, high

    def headline(self) -> dict[str, float]:
        """Return the headline parameters, averaged over the stages, in centipawns."""
        return {
            self.layout.short(place): float(self.weights[:, place.columns].mean())
            for place in self.layout.headline
        }

    def with_weights(self, weights: np.ndarray, **changes) -> Parameters:
        """Return the parameters with other weights."""
        return replace(self, weights=weights, **changes)


def steps_of(game: str) -> int:
    """Return the steps of the phase of a game; PHASES for one whose terms are not known."""
    if game not in available():
        return PHASES
    return int(importlib.import_module(f"evalterms.{game}.view").PHASES)


def require_names(p: Parameters, file: str, why: str) -> None:
    """InputError if fixed, bounds, prior or tied name a stage that the parameters do not have."""
    for what in ("fixed", "bounds", "prior", "tied"):
        for name in dict(getattr(p, what)) if what in ("bounds", "prior") else getattr(p, what):
            if not p.mask((name,)).any():
                raise InputError(
                    f"{file}: {what} names {name}, but with {why}; leave out the stage"
                )


def untapered(p: Parameters) -> Parameters:
    """The same parameters with one stage, the mean of their stages; bounds and priors are kept."""
    return replace(
        p,
        stages=("all",),
        weights=p.weights.mean(axis=0, keepdims=True),
        standard_errors=None,
        tied=(),
        spans=(),
    )


def staged(p: Parameters, stages: tuple[str, ...], spans: Spans = ()) -> Parameters:
    """The same parameters with other stages: weights are those in the middle of each span. One
    stage is the mean of all."""
    if (p.stages, p.spans) == (stages, spans):
        return p
    if len(stages) == 1:
        return replace(untapered(p), stages=stages)
    middle = np.array([sum(span) / 2 for span in spans or ((p.steps,) * 2, (0, 0))])
    weights = p.staging.shares(middle).T @ p.weights
    return replace(p, stages=stages, spans=spans, weights=weights, standard_errors=None)
