"""The weights of an evaluation, one number per stage, in centipawns or the unit of the game, and
their bounds and priors."""

from __future__ import annotations

import fnmatch
import importlib
import logging
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate, pairwise
from pathlib import Path

import numpy as np

from games.record import USUAL_SCALE, Wording, available, wording_of
from games.streams import InputError
from tuner.io.files import sha256_of
from tuner.parameters.yaml_tree import Comment

MOST_COLUMNS = 1 << 24  # numbers of one stage


@dataclass(frozen=True)
class Place:
    """One parameter: its term and name, its shape, and its first column. `percent`: its term
    multiplies the evaluation, by weights in percent; `curved`: a function is applied to the sum of
    its term. All other weights are in centipawns."""

    term: str
    name: str
    shape: tuple[int, ...]
    first: int = 0
    percent: bool = field(default=False, compare=False)
    curved: bool = field(default=False, compare=False)

    @property
    def path(self) -> str:
        return f"{self.term}.{self.name}"

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def columns(self) -> slice:
        return slice(self.first, self.first + self.size)

    def boards(self) -> list[Place]:
        """The place itself; with more than two indices, the boards that it consists of."""
        if len(self.shape) <= 2:
            return [self]
        board = self.shape[-2:]
        return [
            replace(
                self,
                name=self.name + "".join(f"[{i}]" for i in at),
                shape=board,
                first=self.first + number * math.prod(board),
            )
            for number, at in enumerate(np.ndindex(*self.shape[:-2]))
        ]

    def labels(self) -> list[str]:
        """A name for each number: `pawns.doubled`, `pawns.passed[3]`, `piece_square.king[0][6]`."""
        return [self.path + "".join(f"[{i}]" for i in place) for place in np.ndindex(*self.shape)]


def in_order(places: Iterable[Place]) -> tuple[Place, ...]:
    """Return places one after another, the first at column 0."""
    given = list(places)
    firsts = accumulate((place.size for place in given), initial=0)
    return tuple(replace(place, first=at) for place, at in zip(given, firsts, strict=False))


GLOB = frozenset("*?[")  # of names


@dataclass(frozen=True)
class Layout:
    """All parameters of an evaluation; `files` are the user's own files of terms, each with the
    sha256 of its content, `phases` the steps of the phase if one of the terms has its own."""

    places: tuple[Place, ...]
    files: tuple[tuple[str, str], ...] = field(default=(), compare=False)
    phases: int | None = field(default=None, compare=False)

    @property
    def size(self) -> int:
        """Number of columns: weights of one stage."""
        return sum(place.size for place in self.places)

    @property
    def headline(self) -> list[Place]:
        """The single weights of the first term, for chess the values of the pieces; and those of
        terms that have two or more weights, each with the name of one of them: for shogi the values
        of promoted men and of men in hand."""
        first = [
            place for place in self.places if place.term == self.places[0].term and place.size == 1
        ]
        names = {place.name for place in first}
        terms: dict[str, list[Place]] = {}
        for place in self.places[len(first) :]:
            terms.setdefault(place.term, []).append(place)
        return first + [
            place
            for term, places in terms.items()
            if len(places) > 1
            and term != self.places[0].term
            and all(place.size == 1 and place.name in names for place in places)
            for place in places
        ]

    def short(self, place: Place) -> str:
        """Return the name of a parameter of the headline: without its term if that is the first."""
        return place.name if place.term == self.places[0].term else place.path

    def labels(self) -> list[str]:
        return [label for place in self.places for label in place.labels()]

    def labels_with_units(self) -> list[str]:
        """The labels, with a sign for weights that are not centipawns: `late_scale.rook_ending
        %`."""
        return [label + " %" * place.percent for place in self.places for label in place.labels()]

    def describe(self) -> list[list]:
        """Names and shapes as plain data, to be kept with a dataset."""
        return [[place.path, list(place.shape)] for place in self.places]

    @cached_property
    def _named(self) -> dict[str, list[Place]]:
        """The places by their terms and by their names."""
        named: dict[str, list[Place]] = {}
        for place in self.places:
            for name in (place.term, place.path):
                named.setdefault(name, []).append(place)
        return named

    def matching(self, pattern: str, stages: Sequence[str]) -> np.ndarray:
        """(stages, size) bool: the weights that a name or glob matches.

        It is matched against `term.name`, `term.name.stage`, `term` and each number's own label,
        which a stage may follow.
        """
        label, _, last = pattern.rpartition(".")
        of_stage = last in stages and "[" in label
        rows = [stages.index(last)] if of_stage else list(range(len(stages)))
        matches = np.zeros((len(stages), self.size), np.bool_)
        places: Sequence[Place] = self.places
        if GLOB.isdisjoint(pattern):
            places = [*self._named.get(pattern, ()), *self._named.get(label, ())]
        for place in places:
            whole = fnmatch.fnmatchcase(place.path, pattern) or pattern == place.term
            for s, stage in enumerate(stages):
                if whole or fnmatch.fnmatchcase(f"{place.path}.{stage}", pattern):
                    matches[s, place.columns] = True
            if "[" in pattern and not whole:
                for i, own in enumerate(place.labels()):
                    matches[rows, place.first + i] |= own == (label if of_stage else pattern)
        return matches


def layout_of(terms: Sequence, files: Sequence[str | Path] = ()) -> Layout:
    """The layout of these `evalterms.term.Term`s, some of which are from the user's own files."""
    places = in_order(
        Place(
            term.name,
            parameter.name,
            parameter.shape,
            percent=term.scales,
            curved=term.curve is not None,
        )
        for term in terms
        for parameter in term.parameters
    )
    own = next((term.phase.steps for term in terms if term.phase is not None), None)
    return Layout(places, tuple((str(path), sha256_of(path)) for path in files), own)


Spans = tuple[tuple[int, int], ...]  # of the stages: the first and the last phase


def shares_of(phase: np.ndarray, phases: int, stages: int, spans: Spans = ()) -> np.ndarray:
    """(stages, n): the share of each stage in positions of these phases. In its span a stage is
    alone; from one span to the next the share is linear. Without spans the first of two stages is
    alone at `phases`, the last at 0."""
    shares = np.zeros((stages, len(phase)))
    if stages == 1:
        return shares + 1
    spans, phase = spans or ((phases, phases), (0, 0)), phase.astype(np.float64)
    order = by_phase(spans)
    for stage, (low, high) in enumerate(spans):
        shares[stage] = (phase >= low) & (phase <= high)
    shares[order[0], phase < spans[order[0]][0]] = 1
    shares[order[-1], phase > spans[order[-1]][1]] = 1
    for before, after in pairwise(order):
        low, high = spans[before][1], spans[after][0]
        between = (phase > low) & (phase < high)
        shares[after, between] = share = (phase[between] - low) / (high - low)
        shares[before, between] = 1 - share
    return shares


@dataclass(frozen=True)
class Stages:
    """The names of the stages, the steps of the phase, and how the stages share them, see
    `shares_of`."""

    names: tuple[str, ...]
    phases: int
    spans: Spans = ()

    def shares(self, phase: np.ndarray) -> np.ndarray:
        """(stages, n): the share of each stage in positions of these phases."""
        return shares_of(phase, self.phases, len(self.names), self.spans)

    @property
    def downward(self) -> tuple[str, ...]:
        """The names from the stage of the largest phase on."""
        return tuple(self.names[stage] for stage in reversed(by_phase(self.spans))) or self.names


def fault_of_spans(stages: Stages) -> str | None:
    """What is wrong with the phases of successive stages, or beyond the last."""
    names, spans = stages.names, stages.spans
    for one, other in pairwise(by_phase(spans)):
        if spans[one][1] >= spans[other][0]:
            return (
                f"stages {names[one]} and {names[other]} are both at phase {spans[other][0]},"
                " expected phases in which one stage is alone"
            )
    for name, (low, high) in zip(names, spans, strict=bool(spans)):
        if not 0 <= low <= high <= stages.phases:
            return (
                f"stage {name} is at phase {low if low == high else f'{low} to {high}'}, expected"
                f" 0 to {stages.phases}, the steps of the phase"
            )
    return None


def by_phase(spans: Spans) -> list[int]:
    """The stages in the order of their spans, from the lowest phase on."""
    return sorted(range(len(spans)), key=lambda stage: spans[stage])


LOG = logging.getLogger(__name__)
DEFAULT_GAME = "chess"  # whose bundled files need no prefix
LARGEST_WEIGHT = 20000.0
SMALLEST_SD, LARGEST_SD = 1e-3, 1e6  # of a prior
LARGEST_ERROR = 1e12  # larger standard errors count as unknown
UNKNOWN = "~"
ROUNDING = 0.006  # centipawns, of numbers in files
PHASES = 24  # steps of the phase of rows, unless they say otherwise: those of chess


@dataclass(frozen=True)
class Parameters:
    """The weights of an evaluation and the constraints on them.

    `weights` and `standard_errors` have shape (stages, columns), in centipawns. v = tanh(scale *
    centipawns) is the value of a position, p = (1 + v) / 2 the probability of winning. `fixed` are
    names or globs held constant, `tied` those with one number for all stages, `symmetric` tables
    whose right half mirrors the left one, `bounds` pairs of
    name and (low, high), `prior` pairs of name and (mean or None for the starting value, standard
    deviation). The standard errors belong to `optimum` (stages, columns) if the weights went only
    part of the way to it, as with `--prior play`. `learned` is plain data about the fit, `comments`
    come from the file that was read, for the file to be written. `phases` are the steps of the
    phase if another program counts the terms; None if this one does. `spans` are the phases in
    which each stage is alone; without them, the first of two is alone at the largest phase, the
    last at 0."""

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
    symmetric: tuple[str, ...] = ()
    spans: Spans = ()
    optimum: np.ndarray | None = None

    @property
    def estimate(self) -> np.ndarray:
        """The numbers (stages, columns) that the standard errors belong to."""
        if self.standard_errors is None or self.optimum is None:
            return self.weights
        return self.optimum

    @property
    def at_bound(self) -> np.ndarray:
        """Which numbers (stages, columns) were learned and ended at a bound: -1 at the lower one, 1
        at the upper one, else 0."""
        (low, high), errors = self.limits(), self.standard_errors
        learned = np.zeros(self.weights.shape, np.bool_) if errors is None else errors != 0
        below, above = (np.abs(self.estimate - end) < ROUNDING for end in (low, high))
        return np.where(learned, above.astype(int) - below, 0)

    @property
    def of_rows(self) -> bool:
        """Whether another program counts the terms: there are rows to learn from, but no rules."""
        return self.phases is not None

    @property
    def steps(self) -> int:
        """Steps of the phase: the file's, a term's, or the game's."""
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
        chosen = np.zeros(self.weights.shape, np.bool_)
        for pattern in patterns:
            chosen |= self.layout.matching(pattern, self.stages)
        return chosen

    def leaders(self) -> np.ndarray:
        """Return for each weight (stages, columns) the index, in the flattened weights, of the one
        that it is equal to: that of the first stage for those with one number for all stages, that
        of the left half of the board for symmetric tables; else its own."""
        places = np.arange(self.weights.size).reshape(self.weights.shape)
        tied = np.flatnonzero(self.mask(self.tied).all(axis=0))
        places[:, tied] = places[0, tied]
        chosen = self.mask(self.symmetric)
        for place in self.layout.places:
            if is_board(place.shape) and chosen[:, place.columns].all():
                table = places[:, place.columns].reshape(len(places), *place.shape)
                files = place.shape[-2]
                right = np.arange((files + 1) // 2, files)
                table[..., right] = table[..., files - 1 - right]
                places[:, place.columns] = table.reshape(len(places), -1)
        return places

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
        """Return the parameters with different weights, which are the optimum if none is given."""
        return replace(self, weights=weights, **{"optimum": None, **changes})


def is_board(shape: tuple[int, ...]) -> bool:
    """Return whether the last indices of a parameter are ranks and files: of 8 x 8, of 9 x 9, or of
    8 x 16, whose right half is no part of the board (0x88)."""
    return shape[-2:] in ((8, 8), (9, 9), (8, 16))


def steps_of(game: str) -> int:
    """Return the steps of the phase of a game; PHASES for one whose terms are not known."""
    if game not in available():
        return PHASES
    return int(importlib.import_module(f"evalterms.{game}.view").PHASES)


def require_names(p: Parameters, file: str, why: str) -> None:
    """InputError if fixed, bounds, prior, tied or symmetric name a stage that the parameters do not
    have."""
    for what in ("fixed", "bounds", "prior", "tied", "symmetric"):
        for name in dict(getattr(p, what)) if what in ("bounds", "prior") else getattr(p, what):
            if not p.mask((name,)).any():
                raise InputError(
                    f"{file}: {what} names {name}, but with {why}; leave out the stage"
                )


def require_within_bounds(p: Parameters, file: str) -> None:
    """InputError if a number that may be learned is outside its bounds."""
    for name, (low, high) in p.bounds:
        given = p.weights[p.mask((name,)) & ~p.mask(p.fixed)]
        if len(beyond := given[(given < low - ROUNDING) | (given > high + ROUNDING)]):
            raise InputError(
                f"{file}: bounds of {name} are [{low:g}, {high:g}], but it is {beyond[0]:g};"
                " expected a start within its bounds: move one or the other"
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
    """The same parameters with different stages: weights come from the middle of each span. One
    stage is the mean of all."""
    if (p.stages, p.spans) == (stages, spans):
        return p
    if len(stages) == 1:
        return replace(untapered(p), stages=stages)
    middle = np.array([sum(span) / 2 for span in spans or ((p.steps,) * 2, (0, 0))])
    weights = p.staging.shares(middle).T @ p.weights
    return replace(p, stages=stages, spans=spans, weights=weights, standard_errors=None)
