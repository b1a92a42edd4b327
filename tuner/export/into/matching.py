"""The definitions whose names are those of parameters: `KnightMobility`, `knight_mobility`, `MOBILITY_KNIGHT_MG`."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence

from tuner.export.into.definitions import ENUM, FUNCTION, Definition
from tuner.export.into.shapes import stage_words
from tuner.export.into.tokens import Source
from tuner.export.into.values import Other
from tuner.parameters.layout import Place

SIMILAR = 0.6  # ratio of difflib from which a name is shown as similar
SHOWN = 4  # names in an error


class MatchError(Exception):
    """No definition, or several; the text says which."""


def key(name: str) -> str:
    """A name without case and signs, by which styles of names are equal."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


class Matcher:
    """Finds definitions by the names of parameters."""

    def __init__(self, definitions: Sequence[Definition], sources: Sequence[Source], stages: Sequence[str]) -> None:
        # a name with an expression for its value is no place for numbers, wherever else the name is
        self.definitions = [d for d in definitions if not isinstance(d.node, Other)]
        self.stages = stages
        self.first: dict[str, Definition] = {}  # of each name
        self.others: dict[str, tuple[Definition, str]] = {}  # by key, the first whose value is no number, and what it is
        for definition in definitions:
            self.first.setdefault(definition.name, definition)
            if isinstance(definition.node, Other):
                self.others.setdefault(key(definition.name), (definition, definition.node.reason))
        self.by_key: dict[str, list[Definition]] = {}
        for definition in self.definitions:
            self.by_key.setdefault(key(definition.name), []).append(definition)
        self.indices = {word for source in sources for word in _indices(source)}

    def find(self, place: Place, similar: bool = True) -> tuple[Definition, ...]:
        """Return the definition of a parameter, or one for each stage: by term and name, or else by the name alone. MatchError if
        there are none or several; `similar`: it lists similar names."""
        for alone in (False, True):
            found = self._found(place, alone)
            if found is not None:
                return found
        names = _names(place, False)
        others = [self.others[name] for name in names if name in self.others]
        if others:
            definition, reason = min(others, key=lambda other: (other[0].source.path, other[0].start))
            raise MatchError(f"{definition.where} holds {reason}, expected numbers")
        raise MatchError(f"no definition has its name{self._similar(place) if similar else ''}")

    def _found(self, place: Place, alone: bool) -> tuple[Definition, ...] | None:
        whole = self._named(place, _names(place, alone), {key(place.name)}, alone)
        stages = [self._named(place, _stage_names(place, stage, alone), _stage_names(place, stage, True), alone)
                  for stage in self.stages]
        if not whole and not any(stages):
            return None
        if len(whole) == 1 and not any(stages):
            return (whole[0],)
        if not whole and all(len(found) == 1 for found in stages):
            return tuple(found[0] for found in stages)
        several = [*whole, *(d for found in stages for d in found)]
        missing = [stage for stage, found in zip(self.stages, stages, strict=True) if not found]
        if not whole and missing and all(len(found) <= 1 for found in stages):
            raise MatchError(f"only the stage of {several[0].where} has a definition, {', '.join(missing)} lacks one")
        raise MatchError(f"{len(several)} definitions have its name: {listed(several)}")

    def _named(self, place: Place, names: set[str], inner: set[str], alone: bool) -> list[Definition]:
        """The definitions with one of these names, or within a scope of the term's name with one of the `inner` names."""
        found = [d for name in names for d in self.by_key.get(name, ()) if not alone or self._may_be_alone(d)]
        if not alone:
            seen = {id(d) for d in found}
            found += [d for name in inner for d in self.by_key.get(name, ())
                      if d.scopes and key(d.scopes[-1]) in _terms(place) and id(d) not in seen]
        outside = [d for d in found if d.kind != FUNCTION]
        return sorted(outside or found, key=lambda d: (d.source.path, d.start))

    def _may_be_alone(self, definition: Definition) -> bool:
        """Names of pieces and squares are indices: `PAWN = 0` of an enumeration has no piece's value."""
        return definition.kind != ENUM and definition.name not in self.indices

    def _similar(self, place: Place) -> str:
        """Definitions with similar names, for an error."""
        ratios: dict[str, float] = {}
        for wanted in _names(place, False) | _names(place, True):
            matcher = difflib.SequenceMatcher(None, b=wanted)
            for name in self.first:
                matcher.set_seq1(key(name))
                if matcher.real_quick_ratio() >= SIMILAR and matcher.quick_ratio() >= SIMILAR:
                    ratios[name] = max(ratios.get(name, 0), matcher.ratio())
        best = sorted((name for name in ratios if ratios[name] >= SIMILAR), key=lambda name: (-ratios[name], name))[:SHOWN]
        return f"; similar: {listed([self.first[name] for name in best])}" if best else ""


def listed(definitions: Sequence[Definition]) -> str:
    """The first names, each with file and line, and the number of the others."""
    rest = len(definitions) - SHOWN
    return ", ".join(d.where for d in definitions[:SHOWN]) + (f" and {rest} more" if rest > 0 else "")


def _terms(place: Place) -> set[str]:
    """Keys of a term's name: in the plural, and without its s."""
    term = key(place.term)
    return {term, term.removesuffix("s")} - {""}


def _names(place: Place, alone: bool) -> set[str]:
    """Keys of a parameter's names: term and name in both orders, or the name alone if it does not hold the term."""
    name = key(place.name)
    if alone or not name:
        return {name} - {""}
    joined = {form for term in _terms(place) for form in (term + name, name + term)}
    return joined | ({name} if any(term in name for term in _terms(place)) else set())


def _stage_names(place: Place, stage: str, alone: bool) -> set[str]:
    """Keys of names with a stage at either end, or between term and name."""
    name, stages = key(place.name), stage_words(stage)
    found = {form for word in stages for base in _names(place, alone) for form in (word + base, base + word)}
    if not alone:
        found |= {form for word in stages for term in _terms(place) for form in (term + word + name, name + word + term)}
    return found


def _indices(source: Source) -> Iterator[str]:
    """Names that are used as indices, or in `case`: alone in square brackets."""
    words = source.words
    for i in range(1, len(words) - 1):
        if words[i - 1] in ("[", "::") and words[i + 1] == "]" or words[i - 1] == "case":
            yield words[i]
