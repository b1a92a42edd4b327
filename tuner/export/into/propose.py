"""Propose parameters for what sources define: names for their constants, lists and tables, as the
map that `--map` reads, and the shapes that its definitions have."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tuner.export.into.definitions import (
    ENUM,
    OUTER,
    Definition,
    Items,
    Node,
    Other,
    declared_sizes,
    definitions_of,
    numbers_in,
    stage_order,
    stage_words,
)
from tuner.export.into.plan import Parts, read_map, read_source_file
from tuner.export.into.source import Number
from tuner.parameters.parameters import Place

WORDS = re.compile(r"(?:[A-Z]+(?![a-z])|[A-Z]?[a-z]+)[0-9]*|[0-9]+")
CONSTANT = {"const", "constexpr", "final", "define"}
BOARD = 64
MAX_SHOWN = 40  # characters of a definition


@dataclass(frozen=True)
class Proposal:
    """A parameter: its name, its references by stage, empty for a stage that the source lacks, or
    under None for all, and its numbers as the source has them."""

    name: str
    references: Mapping[str | None, str]
    shown: str

    def line(self) -> str:
        """The line of a map."""
        own = {s: f"'{text}'" if text else "null" for s, text in self.references.items()}
        value = own.get(None) or "{" + ", ".join(f"{s}: {text}" for s, text in own.items()) + "}"
        return f"{self.name}: {value}  # {self.shown}"


def definitions_in(paths: Sequence[Path]) -> list[Definition]:
    return [d for path in paths for d in definitions_of(read_source_file(path))]


def proposals(
    definitions: Sequence[Definition], stages: Sequence[str]
) -> tuple[list[Proposal], list[str]]:
    """Return a parameter for each definition that may be one, and a line with the reason for each
    other definition that has a number.

    Parameters have numbers that are not all 0, as where a sum begins, or are constants or lists of
    zeros. Names that differ by the word of a stage are one parameter; a name without such a word
    belongs to the stage that the others lack."""
    names = [d.name for d in definitions]
    by_base: dict[str, dict[str, Definition]] = {}
    left_out = []
    for d in definitions:
        if reason := _reason_against(d, names.count(d.name)):
            left_out.append(f"{d.name}, {d.source.at(d.start)}: {reason}")
        if reason is not None:
            continue
        base, stage = _base_of(d, stages)
        by_base.setdefault(base, {})[stage] = d
    found: dict[str, Proposal] = {}
    for base, own in by_base.items():
        for each in _pairs(own, stages):
            if ENUM in {d.kind for d in each.values()} and len(each) < len(stages):
                left_out += [f"{d.name}, {d.source.at(d.start)}: of an enum" for d in each.values()]
                continue
            whole = next(iter(each.values()))
            of_all = stages if None in each else stages[:1]
            for step, part in _items(whole.node, of_all, whole.types):
                words = [*base.split("_"), *re.findall(r"\w+", step.lower())]
                last = "_".join(words[1:])
                last = last if last[:1].isalpha() else "_".join((words[0], *words[1:]))
                name = f"{words[0]}.{last}"
                while name in found:
                    name += "_too"
                references = {stage: d.name + step for stage, d in each.items()}
                if None not in references:
                    references = {stage: references.get(stage, "") for stage in stages}
                found[name] = Proposal(name, references, _shown(whole, part))
    return list(found.values()), left_out


def _reason_against(d: Definition, times: int) -> str | None:
    """Return why a definition is no parameter; empty if it has no number to speak of, None if it
    may be one."""
    values = sorted(number.value for number in numbers_in(d.node))
    if _holds_others(d.node):
        text = _shown(d, d.node)
        constant = d.kind == OUTER and not CONSTANT.isdisjoint(d.types)
        other = _first_other(d.node)
        has_number = any(values) or constant and re.search(r"(?<![\w.])\d", text)
        return f"{other.reason}; give it a number of its own" if other and has_number else ""
    if not (_tells(d.node) or values and _is_constant(d)):
        return ""
    if times > 1:
        return f"one of {times} definitions of this name; {d.name}@1 is the first"
    if len(values) > 7 and values == list(range(len(values))):
        return "counts up from 0, as lists of squares do"
    return None


def _base_of(d: Definition, stages: Sequence[str]) -> tuple[str, str]:
    """Return the name of a definition in lower case without the word of a stage, and that stage,
    empty if it has none."""
    words = [word.lower() for word in WORDS.findall(d.name)]
    stage = next((s for s in stages for k in (0, -1) if words[k] in stage_words(s)), None)
    if len(stages) < 2 or len(words) < 2 or stage is None:
        return "_".join(words), ""
    return "_".join(words[1:] if words[0] in stage_words(stage) else words[:-1]), stage


def _pairs(
    own: Mapping[str, Definition], stages: Sequence[str]
) -> Iterator[dict[str | None, Definition]]:
    """Yield the definitions of one name by stage, or under None for all stages."""
    apart: dict[str | None, Definition] = {s: own[s] for s in stages if s in own}
    if "" not in own:
        yield apart
        return
    missing = [s for s in stages if s not in own]
    if apart and len(missing) == 1:  # PAWN_VAL and EG_PAWN_VAL
        yield {s: own.get(s, own[""]) for s in stages}
        return
    yield {None: own[""]}
    if apart:
        yield apart


def _first_other(node: Node) -> Other | None:
    """Return the first value that is no number."""
    if isinstance(node, Other):
        return node
    values = node.values if isinstance(node, Items) else ()
    return next(filter(None, map(_first_other, values)), None)


def _tells(node: Node) -> bool:
    """Return whether a value has numbers that are not 0, or is a list of several zeros."""
    numbers = [number.value for number in numbers_in(node)]
    return any(numbers) or isinstance(node, Items) and not node.called and len(numbers) > 1


def _is_constant(d: Definition) -> bool:
    """Return whether a number outside functions cannot change: const, or a macro."""
    return d.kind == OUTER and not CONSTANT.isdisjoint(d.types)


def _holds_others(node: Node) -> bool:
    """Return whether a value holds names or expressions."""
    return (
        isinstance(node, Other) or isinstance(node, Items) and any(map(_holds_others, node.values))
    )


def _items(node: Node, stages: Sequence[str], types: Sequence[str]) -> Iterator[tuple[str, Node]]:
    """Yield the parts of a definition that are lists or tables of a board, each with its step."""
    if isinstance(node, Items) and len(stages) > 1 and stage_order(node, stages) is not None:
        yield "", node
        return
    shape = _shape(node, stages, types)
    deep = shape is not None and len(shape) > 1 and (shape[-2:] != (8, 8) or len(shape) > 2)
    if not isinstance(node, Items) or shape is not None and not deep and not any(node.labels):
        yield "", node
        return
    for k, (value, label) in enumerate(zip(node.values, node.labels, strict=True)):
        if _tells(value):
            yield f"[{label if label is not None else k}]", value


def _shape(node: Node, stages: Sequence[str], types: Sequence[str]) -> tuple[int, ...] | None:
    """Return the sizes of a value without its stages, a board as 8 x 8; None if its lists have
    different lengths. Sizes in the `types` of a definition of C count, since lists may be short."""
    dims = _dims(node, len(stages))
    if dims is None:
        return None
    sizes = declared_sizes(types)
    if len(sizes) == len([size for size in dims if size != -1]):
        dims = (
            tuple(own or size for own, size in zip(sizes, dims, strict=False)) + dims[len(sizes) :]
        )
    if len(stages) > 1 and dims and -1 not in dims:
        dims = (
            dims[:-1] if dims[-1] == len(stages) else dims[1:] if dims[0] == len(stages) else dims
        )
    dims = tuple(size for size in dims if size != -1)
    return (*dims[:-1], 8, 8) if dims and dims[-1] == BOARD else dims


def _dims(node: Node, stages: int) -> tuple[int, ...] | None:
    """Return the lengths of nested lists, -1 for a call with a number for each stage."""
    if isinstance(node, Number):
        return ()
    if isinstance(node, Other):
        return None
    if node.called and len(node.values) == stages > 1:
        return (-1,)
    inner = {
        _dims(value, stages)
        for value in node.values
        if not (isinstance(value, Number) and value.value == 0)
    } or {()}
    (first, *more) = inner
    return None if more or first is None else (len(node.values), *first)


def _shown(definition: Definition, node: Node) -> str:
    """Return the beginning of a value, on one line."""
    end = node.end if isinstance(node, Number) else node.start + 4 * MAX_SHOWN
    text = " ".join(definition.source.text[node.start : end].split(";")[0].split())
    return text if len(text) <= MAX_SHOWN else text[:MAX_SHOWN] + "..."


def shapes_of(
    path: Path, names: Sequence[str], stages: Sequence[str], definitions: Sequence[Definition]
) -> list[str]:
    """Return the parameters of a map as `term.name[8][8]`, with the shapes of what it names."""
    term_names = [name.partition(".")[::2] for name in names]
    places = [Place(term, name, (), 0) for term, name in term_names]
    found: dict[str, Parts] = read_map(path, places, stages, definitions)
    specs = []
    for name in names:
        parts = found.get(name)
        if not parts:
            continue
        whole = None in parts
        part = next(iter(parts.values()))
        types = next((d.types for d in definitions if d.node is part.node), ())
        shape = _shape(part.node, stages if whole else stages[:1], types) or ()
        specs.append(name + "".join(f"[{size}]" for size in shape))
    return specs
