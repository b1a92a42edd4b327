"""The weights of an evaluation, one number per stage, in centipawns or the unit of the game, and
their bounds and priors."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field, replace

import numpy as np

from games.record import USUAL_SCALE, Wording, wording_of
from games.streams import one_line
from tuner.parameters.comments import Comment
from tuner.parameters.layout import Layout

LOG = logging.getLogger(__name__)
DEFAULT_GAME = "chess"  # whose bundled files need no prefix
LARGEST_WEIGHT = 20000.0
SMALLEST_SD, LARGEST_SD = 1e-3, 1e6  # of a prior
LARGEST_ERROR = 1e12  # larger standard errors count as unknown
UNKNOWN = "~"
ENGINE_OPTIONS = (  # of `learned`: what an engine calls the options that are parameters
    "engine_options"
)


@dataclass(frozen=True)
class Parameters:
    """The weights of an evaluation and the constraints on them.

    `weights` and `standard_errors` have shape (stages, columns), in centipawns. v = tanh(scale *
    centipawns) is the value of a position, p = (1 + v) / 2 the probability of winning. `fixed` are
    names or globs held constant, `tied` those with one number for all stages, `bounds` pairs of
    name and (low, high), `prior` pairs of name and (mean or None for the starting value, standard
    deviation). `learned` is plain data about the fit, `comments` are those of the file that was
    read, for the file to be written. `phases` are the steps of the phase if another program counts
    the terms; None if this one does."""

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

    @property
    def of_rows(self) -> bool:
        """Whether another program counts the terms: there are rows to learn from, but no rules."""
        return self.phases is not None

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

    def with_weights(self, weights: np.ndarray, **changes) -> Parameters:
        """The parameters with other weights; what an engine calls its options stays, whatever else
        is `learned`."""
        if ENGINE_OPTIONS in self.learned and "learned" in changes:
            changes["learned"] = {
                ENGINE_OPTIONS: self.learned[ENGINE_OPTIONS],
                **changes["learned"],
            }
        return replace(self, weights=weights, **changes)

    def option_name(self, path: str) -> str | None:
        """What an engine calls the option that became this parameter: `Piece Activity` for
        `options.Piece_Activity`."""
        names = self.learned.get(ENGINE_OPTIONS)
        name = names.get(path) if isinstance(names, dict) else None
        return None if name is None else one_line(str(name))


def untapered(p: Parameters) -> Parameters:
    """The same parameters with one stage, the mean of their stages; bounds and priors are kept."""
    return replace(
        p,
        stages=("all",),
        weights=p.weights.mean(axis=0, keepdims=True),
        standard_errors=None,
        tied=(),
    )


def tapered(p: Parameters, stages: tuple[str, ...]) -> Parameters:
    """Parameters of one stage with the same weights in each of these stages."""
    return replace(
        p, stages=stages, weights=p.weights.repeat(len(stages), axis=0), standard_errors=None
    )
