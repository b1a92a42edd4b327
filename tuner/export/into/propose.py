"""Propose parameters for what sources define: names for their constants, lists and tables, as the
map that `--map` reads, and the shapes that its definitions have."""

import re
from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import count, zip_longest
from pathlib import Path

from tuner.export.into.definitions import (
    ENUM,
    NAME_WORDS,
    OUTER,
    Definition,
    Items,
    Node,
    Other,
    ShapeError,
    definitions_of,
    numbers_in,
    stage_order,
    stage_words,
)
from tuner.export.into.plan import (
    MatchError,
    Named,
    Part,
    by_name,
    markers_in,
    part_named,
    read_map,
    read_source_file,
)
from tuner.export.into.source import Number, SourceText, readable
from tuner.parameters.parameters import LARGEST_WEIGHT, Place

CONSTANT = {"const", "constexpr", "final", "define", "readonly"}
# names that are changed somewhere: `n++`, `--n`, `n += 1`, `n = 1`
CHANGED = re.compile(
    r"(?:\+\+|--)\s*(\w+)|(\w+)(?:\s*\[[^\]]*\])*\s*(?:\+\+|--|(?:[-+*/%&|^]|<<|>>)?=(?!=))"
)
BOARD = 64
MAX_SHOWN = 40  # characters of a definition


@dataclass(frozen=True)
class Proposal:
    """A parameter: its name, its references by stage, empty for a stage that the source lacks, or
    under None for all, and its numbers as the source has them."""

    name: str
    references: Mapping[str | None, str]
    shown: str
    path: str  # of its source

    def line(self) -> str:
        """The line of a map."""
        own = {s: f"'{text}'" if text else "null" for s, text in self.references.items()}
        value = own.get(None) or "{" + ", ".join(f"{s}: {text}" for s, text in own.items()) + "}"
        return f"{self.name}: {value}  # {self.shown}"


def definitions_in(paths: Sequence[Path]) -> list[Definition]:
    return definitions_of([read_source_file(path) for path in paths])


def proposals(
    definitions: Sequence[Definition], stages: Sequence[str]
) -> tuple[list[Proposal], list[str]]:
    """Return a parameter for each definition that may be one, and a line with the reason for each
    other definition that has a number.

    Parameters have numbers that are not all 0, as where a sum begins, or are constants or lists of
    zeros, and can be read with `--map` as they are proposed. Names that differ by the word of a
    stage are one parameter; a name without such a word belongs to the stage that the others
    lack."""
    named = by_name(definitions)
    by_base: dict[str, dict[str, list[Definition]]] = {}
    left_out = []
    for d in definitions:
        if reason := _reason_against(d):
            step, other = _first_other(d.node) or ("", d)
            left_out.append(_left_out(d, d.name + step, reason, other.start))
        if reason is not None:
            continue
        base, stage = _base_of(d, stages)
        by_base.setdefault(base, {}).setdefault(stage, []).append(d)
    proposed: dict[str, Proposal] = {}
    taken: set[tuple[str, int]] = set()  # numbers that have a parameter, as those of a whole list
    for base, own in by_base.items():
        for each in _pairs(own, stages):
            if ENUM in {d.kind for d in each.values()} and len(each) < len(stages):
                left_out += [_left_out(d, d.name, "of an enum") for d in each.values()]
                continue
            names = {stage: _reference(d, named) for stage, d in each.items()}
            whole = next(iter(each.values()))
            waiting: list[tuple[str, Node]] = [("", whole.node)]
            while waiting:
                step, part = waiting.pop(0)
                references = {stage: name + step for stage, name in names.items()}
                places = {(whole.source.path, number.start) for number in numbers_in(part)}
                if places and places <= taken:
                    continue
                items = _items(part, stages if None in each else stages[:1], whole)
                fault = None if items else _fault(references, stages, named)
                if fault and isinstance(part, Items) and not part.called:
                    items = _items_of(part)
                if items:
                    waiting[:0] = [(step + own_step, item) for own_step, item in items]
                elif fault:
                    left_out.append(_left_out(whole, next(iter(references.values())), fault))
                else:
                    name = _free_name(base, step, proposed)
                    if None not in references:
                        references = {stage: references.get(stage, "") for stage in stages}
                    proposed[name] = Proposal(
                        name, references, _shown(whole, part), whole.source.path
                    )
                    taken |= places
    return list(proposed.values()), left_out


def _left_out(d: Definition, name: str, reason: str, start: int | None = None) -> str:
    return f"{name}, {d.source.at(d.start if start is None else start)}: {reason}"


def _reference(d: Definition, definitions: Named) -> str:
    """Return the name of a definition as a map has it: `Bonus@2` for the second of this name."""
    alike = definitions[d.name]
    if len(alike) == 1:
        return d.name
    name, bracket, steps = d.name.partition("[")
    return f"{name}@{next(k for k, other in enumerate(alike, 1) if other is d)}{bracket}{steps}"


def _free_name(base: str, step: str, taken: Container[str]) -> str:
    """Return a name for a parameter that no other has."""
    words = [*base.split("_"), *re.findall(r"\w+", step.lower())]
    last = "_".join(words[1:])
    last = last if last[:1].isalpha() else "_".join((words[0], *words[1:]))
    name = f"{words[0]}.{last}"
    if name in taken:
        name = next(other for k in count(2) if (other := f"{name}_{k}") not in taken)
    return name


def _fault(
    references: Mapping[str | None, str], stages: Sequence[str], definitions: Named
) -> str | None:
    """Return why a map with these references would be refused; None if it would not."""
    try:
        parts = {stage: part_named(text, definitions) for stage, text in references.items()}
        shape = _shape_of(parts, stages)
        rows = [
            row
            for stage, part in parts.items()
            for row in part.numbers(stages if stage is None else [stage], shape)
        ]
    except (MatchError, ShapeError) as problem:
        return str(problem)
    largest = max((abs(n.value) for row in rows for n in row if n is not None), default=0)
    if largest > LARGEST_WEIGHT:
        return f"{largest:g} is beyond {LARGEST_WEIGHT:g} centipawns"
    return None


def _reason_against(d: Definition) -> str | None:
    """Return why a definition is no parameter; empty if it has no number to speak of, None if it
    may be one."""
    values = sorted(number.value for number in numbers_in(d.node))
    if _holds_others(d.node):
        _, other = _first_other(d.node) or ("", None)
        text = d.source.text[d.node.start : d.node.end]
        has_number = any(values) or d.kind == OUTER and re.search(r"(?<![\w.])\d", text)
        return f"{other.reason}; give it a number of its own" if other and has_number else ""
    if not (_tells(d.node) or values and _is_constant(d)):
        return ""
    if len(values) > 7 and values == list(range(len(values))):
        return "counts up from 0, as lists of squares do"
    return None


def _base_of(d: Definition, stages: Sequence[str]) -> tuple[str, str]:
    """Return the name of a definition in lower case without the word of a stage, and that stage,
    empty if it has none, or if its numbers are of all stages."""
    words = [word.lower() for word in NAME_WORDS.findall(d.name)]
    dims = _dims(d.node, len(stages), d.source.language.pads_lists)
    if len(stages) > 1 and not (dims and dims[-1] == -1):
        for n in (1, 2):  # PAWN_EG, pawnEndGame
            for own, rest in ((words[:n], words[n:]), (words[-n:], words[:-n])):
                stage = next((s for s in stages if "".join(own) in stage_words(s)), None)
                if rest and stage is not None:
                    return "_".join(rest), stage
    return "_".join(words), ""


def _pairs(
    own: Mapping[str, Sequence[Definition]], stages: Sequence[str]
) -> Iterator[dict[str | None, Definition]]:
    """Yield the definitions of one name by stage, or under None for all stages: the first of each
    stage, then the second ones."""
    for of_names in zip_longest(*own.values()):
        each = {s: d for s, d in zip(own, of_names, strict=True) if d is not None}
        apart: dict[str | None, Definition] = {s: each[s] for s in stages if s in each}
        missing = [s for s in stages if s not in each]
        if "" in each and apart and len(missing) == 1:  # PAWN_VAL and EG_PAWN_VAL
            yield {s: each.get(s, each[""]) for s in stages}
            continue
        if "" in each:
            yield {None: each[""]}
        if apart:
            yield apart


def _first_other(node: Node) -> tuple[str, Other] | None:
    """Return the first value that is no number, with the steps to it."""
    if isinstance(node, Other):
        return "", node
    for k, value in enumerate(node.values if isinstance(node, Items) else ()):
        if (other := _first_other(value)) is not None:
            return f"[{k}]{other[0]}", other[1]
    return None


def _tells(node: Node) -> bool:
    """Return whether a value has numbers that are not 0, or is a list of several zeros."""
    numbers = [number.value for number in numbers_in(node)]
    return any(numbers) or isinstance(node, Items) and not node.called and len(numbers) > 1


def _is_constant(d: Definition) -> bool:
    """Return whether a number outside functions cannot change: const, or a macro, or static and
    never changed."""
    is_fixed = not CONSTANT.isdisjoint(d.types)
    own = d.kind == OUTER and not is_fixed and "static" in d.types
    return d.kind == OUTER and (is_fixed or own and _changes_of(d.source)[d.name] <= 1)


@cache
def _changes_of(source: SourceText) -> Counter[str]:
    """Return how often each name is followed by a value, at its definition or later."""
    return Counter(readable(a or b) for a, b in CHANGED.findall(source.code))


def _holds_others(node: Node) -> bool:
    """Return whether a value holds names or expressions."""
    return (
        isinstance(node, Other) or isinstance(node, Items) and any(map(_holds_others, node.values))
    )


def _items(node: Node, stages: Sequence[str], whole: Definition) -> list[tuple[str, Node]] | None:
    """Return the items of a list of lists that are not boards, each with its step; None if a value
    may be one parameter."""
    if not isinstance(node, Items) or len(stages) > 1 and stage_order(node, stages) is not None:
        return None
    sizes = whole.sizes if node is whole.node else ()
    shape = _shape(node, stages, sizes, whole.source.language.pads_lists)
    boards = ((8, 8), (8, 16))
    deep = shape is not None and len(shape) > 1 and (shape[-2:] not in boards or len(shape) > 2)
    return _items_of(node) if shape is None or deep or any(node.labels) else None


def _items_of(node: Items) -> list[tuple[str, Node]]:
    """Return the items of a list that have numbers, each with its step."""
    return [
        (f"[{label if label is not None else k}]", value)
        for k, (value, label) in enumerate(zip(node.values, node.labels, strict=True))
        if _tells(value)
    ]


def _shape(
    node: Node, stages: Sequence[str], sizes: Sequence[int | None], pads: bool
) -> tuple[int, ...] | None:
    """Return the sizes of a value without its stages, a board as 8 x 8 or 8 x 16; None if its lists
    have different lengths. The `sizes` that it is declared with count, since lists of C may be
    short (`pads`)."""
    dims = _dims(node, len(stages), pads)
    if dims is None:
        return None
    if len(sizes) == len([size for size in dims if size != -1]):
        dims = (
            tuple(own or size for own, size in zip(sizes, dims, strict=False)) + dims[len(sizes) :]
        )
    if len(stages) > 1 and dims and -1 not in dims:
        dims = (
            dims[:-1] if dims[-1] == len(stages) else dims[1:] if dims[0] == len(stages) else dims
        )
    dims = tuple(size for size in dims if size != -1)
    if dims and (dims[-1] == BOARD or dims[-1] == 2 * BOARD and _is_0x88(node)):
        return (*dims[:-1], 8, dims[-1] // 8)
    return dims


def _is_0x88(node: Node) -> bool:
    """Return whether lists of 128 have nothing for the squares beyond the files of a board."""
    if not isinstance(node, Items):
        return True
    if len(node.values) == 2 * BOARD:
        return not any(_tells(value) for k, value in enumerate(node.values) if k & 8)
    return all(map(_is_0x88, node.values))


def _dims(node: Node, stages: int, pads: bool) -> tuple[int, ...] | None:
    """Return the lengths of nested lists, -1 for a call with a number for each stage."""
    if isinstance(node, Number):
        return ()
    if isinstance(node, Other):
        return None
    if node.called and len(node.values) == stages > 1:
        return (-1,)
    inner = {_dims(value, stages, pads) for value in node.values if not _is_nothing(value)} or {()}
    first, *more = inner
    if first is None or None in more:
        return None
    if more:
        alike = pads and len({len(dims or ()) for dims in inner}) == 1 and -1 not in first
        if not alike:
            return None
        first = tuple(max(sizes) for sizes in zip(*(dims or () for dims in inner), strict=True))
    return (len(node.values), *first)


def _is_nothing(node: Node) -> bool:
    """Return whether a value is a 0, or a list without items, in place of a list."""
    return not node.values if isinstance(node, Items) else getattr(node, "value", 1) == 0


def _shown(definition: Definition, node: Node) -> str:
    """Return the beginning of a value, on one line."""
    text = " ".join(readable(definition.source.text[node.start : node.end]).split())
    return text if len(text) <= MAX_SHOWN else text[:MAX_SHOWN] + "..."


def _shape_of(parts: Mapping[str | None, Part], stages: Sequence[str]) -> tuple[int, ...]:
    """Return the shape of what these parts hold. A list of a table is as long as it is written:
    others of the table may be longer."""
    part = next(iter(parts.values()))
    sizes = part.sizes if part.is_whole or len(part.sizes) > 1 else ()
    pads = part.source.language.pads_lists
    return _shape(part.node, stages if None in parts else stages[:1], sizes, pads) or ()


def shapes_of(
    path: Path, names: Sequence[str], stages: Sequence[str], definitions: Sequence[Definition]
) -> list[str]:
    """Return the parameters of a map as `term.name[8][8]`, with the shapes of what it names."""
    term_names = [name.partition(".")[::2] for name in names]
    places = [Place(term, name, ()) for term, name in term_names]
    parts = read_map(path, places, stages, by_name(definitions))
    return [
        name + "".join(f"[{size}]" for size in _shape_of(parts[name], stages))
        for name in names
        if parts.get(name)
    ]


def marked(
    sources: Sequence[SourceText], definitions: Sequence[Definition], stages: Sequence[str]
) -> list[Proposal]:
    """Return the parameters that comments with markers name; those of a part of a definition, which
    need a map, are left out."""
    named, labelled = by_name(definitions), dict[str, dict[str | None, str]]()
    shown: dict[str, str] = {}
    for source in sources:
        for name, _, node in markers_in(source, definitions):
            for d in (d for d in definitions if d.source is source and d.node == node):
                base, _, stage = name.rpartition(".")
                own = (base, stage) if stage in stages and "." in base else (name, None)
                labelled.setdefault(own[0], {})[own[1]] = _reference(d, named)
                shown[own[0]] = _shown(d, node)
    return [
        Proposal(
            name,
            {stage: each.get(stage, "") for stage in (each if None in each else stages)},
            shown[name],
            "",
        )
        for name, each in labelled.items()
    ]


ONE = ("all",)  # the stage of parameters whose counts say all


def apart(
    proposed: Sequence[Proposal], definitions: Sequence[Definition], stages: Sequence[str]
) -> list[Proposal]:
    """Return the proposals with a parameter for each stage, `name_mg` and `name_eg`, where the
    source has a number for each: for counts that say what a number does, whatever it means."""
    named, separate = by_name(definitions), dict[str, Proposal]()
    for each in proposed:
        whole = each.references.get(None)
        own = dict(each.references) if whole is None else _stage_steps(whole, stages, named)
        for stage, reference in own.items():
            if reference and (stage is None or _fault({None: reference}, ONE, named) is None):
                name = each.name if stage is None else f"{each.name}_{stage}"
                if name in separate:
                    name = next(n for k in count(2) if (n := f"{name}_{k}") not in separate)
                separate[name] = Proposal(name, {None: reference}, each.shown, each.path)
    return list(separate.values())


def _stage_steps(
    reference: str, stages: Sequence[str], definitions: Named
) -> dict[str | None, str]:
    """Return references to the numbers of each stage of a value; one to the whole value if all
    stages have the same numbers, or if no steps lead to those of one stage."""
    part = part_named(reference, definitions)
    shape = _shape_of({None: part}, stages)
    rows = part.numbers(stages, shape)
    if rows[0] == rows[-1]:
        return {None: reference}
    own: dict[str | None, str] = {}
    for k, (stage, row) in enumerate(zip(stages, rows, strict=True)):
        labels = (f"[{k}]", *(f"[{word}]" for word in sorted(_labels(part.node))))
        steps = ("[*]" * depth + label for depth in range(len(shape) + 2) for label in labels)
        for step in steps:
            if _has_numbers(reference + step, row, definitions):
                own[stage] = reference + step
                break
    return own if len(own) == len(stages) else {None: reference}


def _labels(node: Node) -> set[str]:
    """Return the names of the items of a value, at any depth."""
    if not isinstance(node, Items):
        return set()
    inner = (_labels(value) for value in node.values)
    return set().union({label for label in node.labels if label}, *inner)


def _has_numbers(reference: str, row: Sequence[Number | None], definitions: Named) -> bool:
    """Return whether a reference leads to these numbers."""
    try:
        part = part_named(reference, definitions)
        return part.numbers(ONE, _shape_of({None: part}, ONE)) == [list(row)]
    except (MatchError, ShapeError):
        return False
