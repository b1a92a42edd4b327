"""The columns of the weights of an evaluation: names and shapes of all parameters, in the order of
the terms."""

from __future__ import annotations

import fnmatch
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import numpy as np

from tuner.io.files import sha256_of


@dataclass(frozen=True)
class Place:
    """One parameter: its term and name, its shape, and its first column. `percent`: its term
    multiplies the evaluation, by weights in percent; `curved`: a function is applied to the sum of
    its term. Other weights are centipawns."""

    term: str
    name: str
    shape: tuple[int, ...]
    first: int
    percent: bool = field(default=False, compare=False)
    curved: bool = field(default=False, compare=False)

    @property
    def path(self) -> str:
        return f"{self.term}.{self.name}"

    @property
    def size(self) -> int:
        return int(np.prod(self.shape, dtype=int))

    @property
    def columns(self) -> slice:
        return slice(self.first, self.first + self.size)

    def labels(self) -> list[str]:
        """A name for each number: `pawns.doubled`, `pawns.passed[3]`, `piece_square.king[0][6]`."""
        return [self.path + "".join(f"[{i}]" for i in place) for place in np.ndindex(*self.shape)]


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

    def matching(self, pattern: str, stages: Sequence[str]) -> np.ndarray:
        """(stages, size) bool: the weights that a name or glob matches.

        It is matched against `term.name`, `term.name.stage`, `term` and each number's own label.
        """
        found = np.zeros((len(stages), self.size), np.bool_)
        for place in self.places:
            whole = fnmatch.fnmatchcase(place.path, pattern) or pattern == place.term
            for s, stage in enumerate(stages):
                if whole or fnmatch.fnmatchcase(f"{place.path}.{stage}", pattern):
                    found[s, place.columns] = True
            if "[" in pattern and not whole:
                for i, label in enumerate(place.labels()):
                    found[:, place.first + i] |= label == pattern
        return found


def layout_of(terms: Sequence, files: Sequence[str | Path] = ()) -> Layout:
    """The layout of these `evalterms.term.Term`s, some of which are from the user's own files."""
    places, first = [], 0
    for term in terms:
        for parameter in term.parameters:
            places.append(
                Place(
                    term.name,
                    parameter.name,
                    parameter.shape,
                    first,
                    term.scales,
                    term.curve is not None,
                )
            )
            first += parameter.size
    own = next((term.phase.steps for term in terms if term.phase is not None), None)
    return Layout(tuple(places), tuple((str(path), sha256_of(path)) for path in files), own)


Spans = tuple[tuple[int, int], ...]  # of the stages: the first and the last phase


def shares_of(phase: np.ndarray, phases: int, stages: int, spans: Spans = ()) -> np.ndarray:
    """(stages, n): the share of each stage in positions of these phases. In its span a stage is
    alone; from one span to the next the share is linear. Without spans the first of two stages is
    alone at `phases`, the last at 0."""
    found = np.zeros((stages, len(phase)))
    if stages == 1:
        return found + 1
    spans, phase = spans or ((phases, phases), (0, 0)), phase.astype(np.float64)
    order = by_phase(spans)
    for stage, (low, high) in enumerate(spans):
        found[stage] = (phase >= low) & (phase <= high)
    found[order[0], phase < spans[order[0]][0]] = 1
    found[order[-1], phase > spans[order[-1]][1]] = 1
    for before, after in pairwise(order):
        low, high = spans[before][1], spans[after][0]
        between = (phase > low) & (phase < high)
        found[after, between] = share = (phase[between] - low) / (high - low)
        found[before, between] = 1 - share
    return found


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
    """What is wrong with the phases of stages that follow each other or lie beyond the last."""
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
