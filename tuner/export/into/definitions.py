"""Find the definitions of a source, names with a value, and which number of each is which of a
parameter."""

from __future__ import annotations

import math
import re
from collections import ChainMap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from tuner.export.into.source import Number, SourceText, every_node, number_of, readable
from tuner.export.into.types import structs_in, target_of

if TYPE_CHECKING:
    from tree_sitter import Node as SyntaxNode

STAGE_NAMES = (
    {"mg", "midgame", "middlegame", "opening", "mid"},
    {"eg", "endgame", "ending", "end", "late"},
)
STEP = re.compile(r"\[([^\[\]]+)\]|\.(\w+)")


class ShapeError(Exception):
    """A definition does not hold the numbers of a parameter; the text says what it holds, and where
    that begins."""

    def __init__(self, text: str, start: int) -> None:
        super().__init__(text)
        self.start = start


def stage_words(stage: str) -> set[str]:
    """The names of a stage in sources, in lower case: `midgame` for mg, `endgame` for eg."""
    return next((names for names in STAGE_NAMES if stage.lower() in names), set()) | {stage.lower()}


def parts_of(node: Node, path: str) -> Node:
    """Return a part of a value: `[2]`, `[KNIGHT]`, `.mg`, one after another; `[*]` takes what
    follows of every item."""
    match = STEP.match(path)
    if match is None:
        return node
    step, rest = (match[1] or match[2]).strip(), path[match.end() :]
    if not isinstance(node, Items):
        raise ShapeError(f"has no item {match[0]}: it is {_kind(node)}", node.start)
    if step == "*":
        return replace(
            node, values=tuple(parts_of(value, rest) for value in node.values), called=False
        )
    if node.labels.count(step) > 1:
        raise ShapeError(f"has {node.labels.count(step)} items {match[0]}", node.start)
    if step in node.labels:
        return parts_of(node.values[node.labels.index(step)], rest)
    if step.isdigit() and int(step) < len(node.values) and not any(node.labels):
        return parts_of(node.values[int(step)], rest)
    names = ", ".join(label for label in node.labels if label)
    items = f"its items are {names}" if names else f"it has {len(node.values)}"
    if not names and not step.isdigit():
        items += ", without names: write its index, from 0"
    raise ShapeError(f"has no item {match[0]}, {items}", node.start)


def numbers_of(
    node: Node, stages: Sequence[str], shape: tuple[int, ...], sizes: Sequence[int | None] = ()
) -> list[list[Number | None]]:
    """Return the numbers of a value for each stage, row after row: the same for all stages if it
    has numbers for one, None where a 0 replaces a list, or a list is shorter than its declared
    `sizes`. ShapeError if it has different ones, or if their order is open."""
    try:
        return _complete(node, stages, shape)
    except ShapeError:
        n = len(stages)
        for form in _forms(shape):
            axes = {(*form, n): -1, (n, *form): 0, form: None} if n > 1 else {form: None}
            for dims, stage_axis in axes.items():
                numbers = _filled(node, dims, sizes)
                if numbers is not None and any(numbers):
                    places = np.arange(len(numbers)).reshape(dims)
                    rows = np.tile(places.ravel(), (n, 1))  # one number for all stages
                    if stage_axis is not None:
                        rows = np.moveaxis(places, stage_axis, 0).reshape(n, -1)
                    return [[numbers[k] for k in row] for row in rows.tolist()]
        raise


def _forms(shape: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Return a shape, and those in which its last axes are one: a source may have the 64 squares of
    a board in one list."""
    return [(*shape[:k], math.prod(shape[k:])) for k in range(len(shape) - 1, -1, -1)] or [()]


def declared_sizes(types: Sequence[str]) -> list[int | None]:
    """Return the sizes in square brackets of a definition of C: None for a name or an expression,
    0 for none."""
    sizes: list[int | None] = []
    for k, word in enumerate(types[:-1]):
        if word == "[":
            inside = types[k + 1]
            sizes.append(0 if inside == "]" else int(inside) if inside.isdigit() else None)
    return sizes


def _filled(
    node: Node, dims: tuple[int, ...], declared: Sequence[int | None]
) -> list[Number | None] | None:
    """Return the numbers of nested lists of these lengths, with None for each that a 0 or the end
    of a list leaves out; None if they differ."""
    if isinstance(node, Number):
        size = math.prod(dims)
        return [node] if not dims else [None] * size if node.value == 0 else None
    if not dims or not isinstance(node, Items) or any(node.labels):
        return None
    lacking = dims[0] - len(node.values)
    if lacking < 0 or lacking and (node.called or (declared[:1] or [0])[0] not in (None, dims[0])):
        return None
    numbers: list[Number | None] = []
    for value in node.values:
        part = _filled(value, dims[1:], declared[1:])
        if part is None:
            return None
        numbers += part
    return numbers + [None] * (lacking * math.prod(dims[1:]))


def _complete(
    node: Node, stages: Sequence[str], shape: tuple[int, ...]
) -> list[list[Number | None]]:
    """Return the numbers of a value that has them all."""
    dims, numbers, stage_axis, pairs = _regular(node, stages)
    places = np.arange(len(numbers)).reshape(dims)
    if stage_axis is not None:
        places = np.moveaxis(places, stage_axis, 0)
        orders = [0]
    else:
        orders = [0] if len(stages) == 1 else [-1] if pairs else [0, -1]
    wanted = {tuple(n for n in form if n > 1) for form in _forms(shape)}
    rows = []
    for order in orders:
        moved = places[None] if len(stages) == 1 else _with_stage_first(places, order, len(stages))
        if moved is not None and tuple(n for n in moved.shape[1:] if n > 1) in wanted:
            rows.append(moved.reshape(len(stages), -1))
    if not rows and stage_axis is None and tuple(n for n in dims if n > 1) in wanted:
        rows = [np.tile(places.ravel(), (len(stages), 1))]  # one number for all stages
    if not rows:
        sizes = (
            " x ".join(str(n) for n in (*((len(stages),) if len(stages) > 1 else ()), *shape))
            or "1"
        )
        raise ShapeError(
            f"has {' x '.join(map(str, dims)) or 'one'} number{'s' * (len(numbers) != 1)}, expected"
            f" {sizes}" + (f" (stages {', '.join(stages)})" if len(stages) > 1 else ""),
            node.start,
        )
    if any((other != rows[0]).any() for other in rows):
        raise ShapeError(
            f"has {' x '.join(map(str, dims))} numbers, and either the first or the last may be the"
            f" stages; name them in the map as `{{{stages[0]}: 'NAME[0]', {stages[1]}: 'NAME[1]'}}`"
            f" or `{{{stages[0]}: 'NAME[*][0]', {stages[1]}: 'NAME[*][1]'}}`",
            node.start,
        )
    return [[numbers[k] for k in row] for row in rows[0].tolist()]


def _with_stage_first(places: np.ndarray, order: int, stages: int) -> np.ndarray | None:
    """The array with its first or last axis, of those longer than 1, in front; None if that is not
    as long as the stages."""
    squeezed = places.squeeze()
    if not squeezed.ndim or squeezed.shape[order] != stages:
        return None
    return np.moveaxis(squeezed, order, 0)


def _regular(
    node: Node, stages: Sequence[str]
) -> tuple[tuple[int, ...], list[Number], int | None, bool]:
    """Lengths of nested lists that are all alike, their numbers, the axis of the stages if its
    items are named by them, and whether the innermost lists are calls with a number for each stage:
    `S(mg, eg)`."""
    if isinstance(node, Number):
        return (), [node], None, False
    if isinstance(node, Other):
        raise ShapeError(f"holds {node.reason}, expected numbers", node.start)
    values = _in_order(node, stages)
    if not values:
        raise ShapeError("is an empty list", node.start)
    inner = [_regular(value, stages) for value in values]
    for value, other in zip(values, inner, strict=True):
        if other[0] != inner[0][0] or other[2] != inner[0][2]:
            raise ShapeError(
                f"has lists of different lengths: {_sizes(inner[0][0])} and {_sizes(other[0])}",
                value.start,
            )
    dims, axis = inner[0][0], inner[0][2]
    own = len(stages) > 1 and any(node.labels) and stage_order(node, stages) is not None
    pairs = inner[0][3] or not dims and node.called and len(values) == len(stages) > 1
    return (
        (len(values), *dims),
        [number for other in inner for number in other[1]],
        0 if own else None if axis is None else axis + 1,
        pairs,
    )


def _in_order(node: Items, stages: Sequence[str]) -> list[Node]:
    """The items of a list: named items in the order of the stages, or of the numbers that they are
    named by."""
    if not any(node.labels):
        return list(node.values)
    order = stage_order(node, stages)
    if order is None and all(label is not None and label.isdigit() for label in node.labels):
        places = [int(label) for label in node.labels if label is not None]
        order = (
            [places.index(i) for i in range(len(places))]
            if sorted(places) == list(range(len(places)))
            else None
        )
    if order is None:
        names = ", ".join(str(label) for label in node.labels[:4])
        raise ShapeError(
            f"has items with names ({names}), so their order is open; name each in the map as "
            f"NAME[{node.labels[0]}]",
            node.start,
        )
    return [node.values[i] for i in order]


def stage_order(node: Items, stages: Sequence[str]) -> list[int] | None:
    """For each stage the item that is named by it; None if the items are not the stages."""
    labels = [(label or "").lower() for label in node.labels]
    order = [
        [i for i, label in enumerate(labels) if label in stage_words(stage)] for stage in stages
    ]
    if len(labels) != len(stages) or any(len(places) != 1 for places in order):
        return None
    return [places[0] for places in order]


def _kind(node: Node) -> str:
    return (
        "one number"
        if isinstance(node, Number)
        else node.reason
        if isinstance(node, Other)
        else "a list"
    )


def _sizes(dims: tuple[int, ...]) -> str:
    return " x ".join(map(str, dims)) or "one number"


@dataclass(frozen=True)
class Items:
    """A list: its values, and for each the text that names it, as in `[KNIGHT] = …`, `.tempo = …`,
    `tempo: …`, or None.

    `called`: written as a call, `S(1, 2)` or `Score {1, 2}`, or in parentheses.
    """

    values: tuple[Node, ...]
    labels: tuple[str | None, ...]
    called: bool
    start: int
    end: int


@dataclass(frozen=True)
class Other:
    """A value that is neither a number nor a list, and why: "an expression", "the name WIDTH"."""

    reason: str
    start: int
    end: int


Node = Number | Items | Other


def numbers_in(node: Node) -> Iterator[Number]:
    """Yield the numbers of a tree in the order of the source."""
    if isinstance(node, Number):
        yield node
    elif isinstance(node, Items):
        for value in node.values:
            yield from numbers_in(value)


@dataclass(frozen=True)
class Definition:
    """A name and its value. `scopes`: the names of the namespaces, types and lists around it, from
    outside in; `kind`: the kind of the innermost scope; `types`: the words before the value."""

    name: str
    start: int
    node: Node
    source: SourceText
    scopes: tuple[str, ...]
    kind: str
    types: tuple[str, ...]

    @property
    def where(self) -> str:
        """Name, file and line as text."""
        return f"{self.name} ({self.source.at(self.start)})"

    @property
    def sizes(self) -> tuple[int | None, ...]:
        """The sizes that its lists are declared with, where they say more than the lists do."""
        return tuple(declared_sizes(self.types)) if self.source.language.pads_lists else ()


# Types of nodes of the grammars for C, C++, Rust, C#, Java and Go.
LISTS = {
    *("initializer_list", "argument_list", "parenthesized_expression", "array_expression"),
    *("tuple_expression", "arguments", "field_initializer_list", "initializer_expression"),
    *("collection_expression", "array_initializer", "literal_value", "token_tree"),
}
# calls and literals with a name or type before their list: `S(1, 2)`, `new int[] {1, 2}`
CALLS = {
    *("call_expression", "compound_literal_expression", "new_expression", "struct_expression"),
    *("macro_invocation", "invocation_expression", "object_creation_expression"),
    *("implicit_object_creation_expression", "array_creation_expression", "method_invocation"),
    *("implicit_array_creation_expression", "composite_literal"),
}
# nodes whose value is that of their field `value` or else of their last part
WRAPPERS = {
    *("cast_expression", "type_cast_expression", "reference_expression", "literal_element"),
    *("collection_element", "expression_element", "argument", "expression_list"),
    "arrow_expression_clause",
}
SIGNED = {"unary_expression", "prefix_unary_expression"}
# the fields that hold the name and the value of a definition, or the label and value of an item
PAIRS = {
    "initializer_pair": ("designator", "value"),  # [KNIGHT] = 1, .tempo = 1
    "keyed_element": ("key", "value"),  # Tempo: 1
    "field_initializer": ("field", "value"),  # tempo: 1
    "argument": ("name", "value"),  # tempo: 1
    "assignment_expression": ("left", "right"),  # Tempo = 1, [Knight] = 1
}
DEFINITIONS = PAIRS | {
    "init_declarator": ("declarator", "value"),
    "field_declaration": ("declarator", "default_value"),
    "enumerator": ("name", "value"),
    "preproc_def": ("name", "value"),
    "const_item": ("name", "value"),
    "static_item": ("name", "value"),
    "let_declaration": ("pattern", "value"),
    "enum_variant": ("name", "value"),
    "const_spec": ("name", "value"),
    "var_spec": ("name", "value"),
    "short_var_declaration": ("left", "right"),
    "assignment_statement": ("left", "right"),
    "variable_declarator": ("name", "value"),
    "property_declaration": ("name", "value"),
    "enum_member_declaration": ("name", "value"),
}
BODIES = {"compound_statement", "block", "constructor_body"}
ENUMS = {"enumerator_list", "enum_variant_list", "enum_member_declaration_list"}
STATEMENTS = ("declaration", "declaration_statement")  # ends of types, which hold definitions
CONSTANT = {"const", "constexpr", "constinit", "static", "final", "readonly"}
OUTER, FUNCTION, ENUM, LIST = "outer", "function", "enum", "list"  # kinds of scopes
DEEPEST_VALUE = 200  # nodes within nodes of a value; C asks 63 lists of its compilers
LONGEST_HEAD = 2000  # characters before a value that are looked at
LONGEST_NAME = 100  # characters of a name before a list
# `e.VALUE[PAWN]`, `Params::tempo`, `*name`, `name[2][64]`
NAME = re.compile(r"(?:([\w)\]]+)\s*(?:::|\.|->)\s*)?(?:r#|@)?(\w+)((?:\s*\[[^\[\]]*\])*)\s*$")
SCOPE = re.compile(r"(?:\w+(?:::|\.))*(\w+)(?=<|$)")
WORD = re.compile(r"\w+|[^\w\s]")
DIRECTIVE = re.compile(r"^[ \t]*#", re.MULTILINE)
NUMERALS = tuple("0123456789.")
ARRAY = re.compile(r"[\[<]")
DIVIDED = re.compile(r"\\\r?\n[\w.]")
# conditions of `#if` around text that is never compiled, and that always is
NEVER, ALWAYS = ("0", "false"), ("1", "true")
TEST_ONLY = re.compile(r"#\[cfg\(test\)\]")
# calls that name a number, `TUNABLE(KNIGHT_VALUE, 325, 250, 400);`, and the name
STATEMENT_CALLS = {"call_expression", "invocation_expression", "method_invocation"}
NAMED = re.compile(r"[A-Z][A-Z0-9_]+")
NAME_BEFORE = re.compile(r"(\w+)\s*!?\s*$")  # of a call or a literal
NAME_WORDS = re.compile(r"(?:[A-Z]+(?![a-z])|[A-Z]?[^\WA-Z\d_]+)[0-9]*|[0-9]+")


def definitions_of(sources: Sequence[SourceText]) -> list[Definition]:
    """Return the definitions of sources in their order."""
    every = tuple(sources)
    structs = structs_in(every)
    fields = {name: _order(field.name for field in own) for name, own in structs.items()}
    called = {
        name: _order(names)
        for source in sources
        for name, names in _parameters(source)
        if len(names) == 2
    }
    orders = fields | called
    definitions = []
    for d in (d for source in sources for d in _definitions_of(source)):
        begin = d.node.start if isinstance(d.node, Items) else d.start
        words = [*d.types, *WORD.findall(d.source.text[d.start : begin])]
        words += [target for word in words for target in target_of(word, every)]
        order = next((orders[word] for word in words if orders.get(word)), None)
        node = _with_stages(
            d.node, order, ChainMap({d.name: order, "new": order}, orders), d.source
        )
        several = any(len(structs.get(word, ())) > 1 for word in words)
        if several and d.sizes and _is_flat(d.node):
            node = Other("structs without braces of their own", d.node.start, d.node.end)
        definitions.append(replace(d, node=node))
    return definitions


def _order(names: Iterable[str]) -> tuple[str, ...] | None:
    """Return the stages that two of these names have, in their order; None if it is not one of the
    middlegame and one of the endgame."""
    words = [{word.lower() for word in NAME_WORDS.findall(name)} for name in names]
    order = [
        stage
        for own in words
        for stage, known in zip(("mg", "eg"), STAGE_NAMES, strict=True)
        if own & {*known, stage[0]}
    ]
    return tuple(order) if sorted(order) == ["eg", "mg"] else None


def _parameters(source: SourceText) -> Iterator[tuple[str, list[str]]]:
    """Yield the functions and macros of a source with the names of their parameters."""
    for node in every_node(source.root):
        name, around = node.child_by_field_name("name"), node.parent
        parameters = node.child_by_field_name("parameters")
        if node.type == "macro_rule" and around is not None:  # of Rust
            name, parameters = around.child_by_field_name("name"), node.child_by_field_name("left")
        if node.type == "record_declaration":  # of C#
            parameters = next((c for c in node.named_children if "parameter" in c.type), None)
        if parameters is None:
            continue
        name = name or node.child_by_field_name("declarator")
        if name is None and around is not None and around.parent is not None:  # a lambda
            name = around.parent.child_by_field_name("declarator")
        last = NAME_BEFORE.search(_text(source, name)) if name is not None else None
        if last is not None:
            names = [n for n in every_node(parameters) if n.type in ("identifier", "metavariable")]
            yield last[1], [_text(source, each) for each in names]


def _with_stages(
    node: Node,
    order: tuple[str, ...] | None,
    orders: Mapping[str, tuple[str, ...] | None],
    source: SourceText,
) -> Node:
    """Return a value in which pairs of a number for each stage are known as such, with names where
    the endgame comes first: `orders` of calls and literals by their names, `order` of lists in
    braces."""
    if not isinstance(node, Items):
        return node
    if name := NAME_BEFORE.search(source.text, max(0, node.start - LONGEST_NAME), node.start):
        order = orders.get(name[1]) or (order if source.text[node.start] == "{" else None)
    values = tuple(_with_stages(value, order, orders, source) for value in node.values)
    node, in_braces = replace(node, values=values), source.text[node.start] == "{"
    is_pair = len(values) == 2 and all(isinstance(value, Number) for value in values)
    if order is None or not is_pair or any(node.labels) or not (in_braces or name):
        return node
    # with the middlegame first they are read like the arguments of a call
    return replace(node, labels=order) if order[0] == "eg" else replace(node, called=True)


def _definitions_of(source: SourceText) -> list[Definition]:
    definitions: list[Definition] = []
    waiting = [_Place(source.root, OUTER, (), "")]
    while waiting:  # no recursion: code may be nested more deeply than the stack
        place = waiting.pop()
        node, kind, scopes = place.node, place.kind, place.scopes
        if node.type in DEFINITIONS:
            defined = [_define(source, place, *pair) for pair in _named_values(node)]
            own = [definition for definition in defined if definition is not None]
            definitions += own
            if own:
                kind, scopes = LIST, (*scopes, own[-1].name)
        elif node.type == "token_tree":
            definitions += _defined_in_macro(source, place)
        elif node.type in STATEMENT_CALLS:
            definitions += _defined_by_call(source, place)
        if node.type in BODIES:
            kind = FUNCTION
        elif node.type in ENUMS:
            kind = ENUM
        elif node.type in LISTS and source.text[node.start_byte] in "{[":
            kind = LIST
        body = node.child_by_field_name("body")
        if body is not None and body.type not in BODIES and kind != LIST:
            name = node.child_by_field_name("name") or node.child_by_field_name("type")
            match = SCOPE.match(_text(source, name)) if name is not None else None
            scopes = (*scopes, readable(match[1])) if match is not None else scopes
        head = ""
        if node.type.endswith(STATEMENTS):
            first = next((c for c in node.named_children if _may_define(c)), None)
            if first is not None:
                text = source.text[node.start_byte : first.start_byte]
                head = place.head + text[-LONGEST_HEAD:]
        if node.type != "macro_definition":
            parts = reversed(_compiled_parts(source, node))
            waiting += [_Place(c, kind, scopes, head) for c in parts]
    return sorted(definitions, key=lambda d: d.start)


def _compiled_parts(source: SourceText, node: SyntaxNode) -> list[SyntaxNode]:
    """Return the named children of a node without what is never part of the engine: text in `#if
    0`, and what Rust compiles for tests alone."""
    condition = node.child_by_field_name("condition") if node.type == "preproc_if" else None
    if condition is not None and _text(source, condition) in NEVER:
        return node.children_by_field_name("alternative")
    left_out = []
    if condition is not None and _text(source, condition) in ALWAYS:
        left_out = node.children_by_field_name("alternative")
    parts, is_test = [], False
    for child in node.named_children:
        if child in left_out:
            continue
        if child.type == "attribute_item":
            is_test = is_test or TEST_ONLY.match(_text(source, child)) is not None
            continue
        if not is_test:
            parts.append(child)
        is_test = is_test and "comment" in child.type
    return parts


@dataclass(frozen=True)
class _Place:
    """A node, the kind and names of what is around it, and its statement before it."""

    node: SyntaxNode
    kind: str
    scopes: tuple[str, ...]
    head: str


def _text(source: SourceText, node: SyntaxNode) -> str:
    return source.text[node.start_byte : node.end_byte]


def _may_define(node: SyntaxNode) -> bool:
    return node.type in DEFINITIONS or node.type.endswith(STATEMENTS)


def _named_values(node: SyntaxNode) -> Iterator[tuple[SyntaxNode, SyntaxNode]]:
    """Yield the names of a definition, each with its value."""
    name_field, value_field = DEFINITIONS[node.type]
    if node.type == "field_declaration":  # int a[2] = {1, 2}, b, c = 3;
        name = None
        for i, child in enumerate(node.children):
            field = node.field_name_for_child(i)
            name = child if field == name_field else name
            if field == value_field and name is not None:
                yield name, child
        return
    names = [name for name in node.children_by_field_name(name_field) if name.is_named]
    values = node.children_by_field_name(value_field)
    if names and not values and any(c.type in ("=", ":") for c in node.children):
        values = node.named_children[-1:]
    if [value.type for value in values] == ["expression_list"]:  # a, b = 1, 2
        values = values[0].named_children
        names = names[0].named_children if names[0].type == "expression_list" else names
    operator = node.child_by_field_name("operator")
    if len(names) == len(values) and (operator is None or operator.type == "="):
        yield from zip(names, values, strict=True)


def _define(
    source: SourceText, place: _Place, name: SyntaxNode, value: SyntaxNode
) -> Definition | None:
    """Return a definition; None for an item without a name, and for a variable of a function."""
    match = NAME.search(_text(source, name))
    if match is None or match[2][0].isdigit():
        return None
    node, kind, text, scopes = place.node, place.kind, match[2], place.scopes
    first = node.child_by_field_name(DEFINITIONS[node.type][0]) or name
    head = source.text[node.start_byte : first.start_byte][-LONGEST_HEAD:]
    types = WORD.findall(place.head + head + source.text[name.start_byte : value.start_byte])
    is_assignment = node.type.startswith("assignment")
    if is_assignment and kind != LIST and match[1] is None:
        return None  # a variable
    if kind == FUNCTION and CONSTANT.isdisjoint(types):
        if not is_assignment:
            return None
        text += re.sub(r"\s", "", match[3])  # e.VALUE[PAWN] = 100;
    elif match[1] is not None and match[1].isidentifier() and kind != LIST:
        scopes = (*scopes, readable(match[1]))  # int Params::tempo = 15;
    start, text = name.start_byte + match.start(2), readable(text)
    whole = value_of(source, value)
    if source.language.pads_lists:
        whole = _with_braces(whole, declared_sizes(types))
    return Definition(text, start, whole, source, scopes, kind, tuple(types))


def _with_braces(node: Node, sizes: Sequence[int | None]) -> Node:
    """Return a list with the braces of its lists, of these sizes, which C lets its authors leave
    out."""
    inner = [size for size in sizes[1:] if size]
    if not inner or len(inner) < len(sizes) - 1 or not _is_flat(node) or not any(numbers_in(node)):
        return node
    assert isinstance(node, Items)
    size, lists = math.prod(inner), []
    for values in (node.values[k : k + size] for k in range(0, len(node.values), size)):
        own = replace(node, values=values, labels=node.labels[: len(values)])
        own = replace(own, start=values[0].start, end=values[-1].end)
        lists.append(_with_braces(own, sizes[1:]))
    return replace(node, values=tuple(lists), labels=(None,) * len(lists))


def _is_flat(node: Node) -> bool:
    """Return whether a value is a list of several numbers without names."""
    return (
        isinstance(node, Items)
        and not node.called
        and not any(node.labels)
        and len(node.values) > 1
        and all(isinstance(value, Number) for value in node.values)
    )


def _defined_in_macro(source: SourceText, place: _Place) -> Iterator[Definition]:
    """Yield `NAME: type = value` and `name: value` from a macro of Rust, whose text has no tree."""
    pieces: list[list[SyntaxNode]] = [[]]
    for child in place.node.children[1:-1]:
        if child.type in (",", ";"):
            pieces.append([])
        elif "comment" not in child.type:
            pieces[-1].append(child)
    for piece in pieces:
        types = [child.type for child in piece]
        marks = [types.index(sign) for sign in (":", "=") if sign in types]
        if not marks or types[min(marks) - 1] != "identifier" or marks[-1] == len(piece) - 1:
            continue
        name, start = piece[min(marks) - 1], piece[marks[-1]].end_byte
        yield Definition(
            readable(_text(source, name)),
            name.start_byte,
            _value_of_fragment(source, start, piece[-1].end_byte),
            source,
            place.scopes,
            LIST,
            tuple(WORD.findall(source.text[piece[0].start_byte : start])),
        )


def _defined_by_call(source: SourceText, place: _Place) -> Iterator[Definition]:
    """Yield `NAME, value` from a statement such as `TUNABLE(NAME, value, low, high);`."""
    node, around = place.node, place.node.parent
    arguments = node.child_by_field_name("arguments")
    if around is None or around.type != "expression_statement" or arguments is None:
        return
    if len(arguments.named_children) < 2:
        return
    name, second = arguments.named_children[:2]
    if not NAMED.fullmatch(_text(source, name)):
        return
    value = value_of(source, second)
    if isinstance(value, Number):
        yield Definition(
            readable(_text(source, name)),
            name.start_byte,
            value,
            source,
            place.scopes,
            FUNCTION,
            (),
        )


def value_of(source: SourceText, node: SyntaxNode, shift: int = 0, depth: int = 0) -> Node:
    """Return the value that a node of a syntax tree is; `shift`: from its positions to those of
    the source; `depth`: how many nodes of values are around it."""
    start = node.start_byte + shift
    if node.has_error:
        text = source.text[start : node.end_byte + shift]
        is_divided = DIRECTIVE.search(text) is not None
        reason = "a preprocessor line" if is_divided else f"what is not {source.language.name}"
        end = node.end_byte + shift
        return Other(f"a list with {reason}" if is_divided else reason, start, end)
    return _Values(source, shift).value(node, depth)


def _value_of_fragment(source: SourceText, start: int, end: int, depth: int = 0) -> Node:
    """Return the value that a piece of the text is."""
    shift = start - len(source.language.fragment[0])
    for node in every_node(source.fragment(start, end)):
        if node.type in DEFINITIONS:
            for _, value in _named_values(node):
                rest = source.code[value.end_byte + shift : end]
                if not rest.lstrip().startswith(","):  # else several values: 4, 5
                    return value_of(source, value, shift, depth)
    return Other("an expression", start, end)


@dataclass(frozen=True)
class _Values:
    source: SourceText
    shift: int

    def value(self, node: SyntaxNode, depth: int) -> Node:
        """Return the value of a node without errors."""
        start, end = node.start_byte + self.shift, node.end_byte + self.shift
        text, kind = self.source.text[start:end], node.type
        parts = [child for child in node.named_children if "comment" not in child.type]
        if depth > DEEPEST_VALUE:
            return Other(f"values nested deeper than {DEEPEST_VALUE}", start, end)
        if kind in ("preproc_arg", "token_tree"):
            return _value_of_fragment(self.source, start, end, depth + 1)
        if kind.endswith("literal") and text.lstrip("+-")[:1] in NUMERALS:
            return self.number(text, start, end)
        if kind in SIGNED and parts and parts[-1].type.endswith("literal"):
            sign = text[: parts[-1].start_byte - node.start_byte].rstrip(" \t")
            if sign in ("+", "-"):
                return self.number(text, start, end)
        if kind in WRAPPERS and parts:
            return self.value(node.child_by_field_name("value") or parts[-1], depth + 1)
        lists = [part for part in parts if part.type in LISTS] if kind in CALLS else []
        if lists:
            begin = lists[-1].start_byte + self.shift
            whole = self.value(lists[-1], depth + 1)
            # an array's type says nothing of what its items are
            is_array = self.source.text[begin] == "[" or ARRAY.search(
                self.source.text, start, begin
            )
            return replace(whole, called=not is_array) if isinstance(whole, Items) else whole
        if kind in LISTS:
            if any(child.type == ";" for child in node.children):
                return Other("a list of the form [value; count]", start, end)
            items = [self.item(part, depth + 1) for part in parts]
            values, labels = (
                (tuple(column) for column in zip(*items, strict=True)) if items else ((), ())
            )
            if text[0] == "(" and len(values) == 1 and isinstance(values[0], Number):
                return values[0]  # uint8(5), (5)
            return Items(values, labels, text[0] == "(", start, end)
        if "string" in kind or "char" in kind:
            return Other("a string", start, end)
        is_name = kind.endswith("identifier")
        return Other(f"the name {readable(text)}" if is_name else "an expression", start, end)

    def number(self, text: str, start: int, end: int) -> Node:
        """Return a number, or why it cannot be replaced."""
        sign = text[0] if text[0] in "+-" else ""
        digits = text.removeprefix(sign).lstrip(" \t")
        value = number_of(digits, sign, start, end, self.source.language.octal)
        if isinstance(value, str):
            return Other(f"a number that cannot be replaced: {value}", start, end)
        if value.suffix.startswith("_") and self.source.language.pads_lists:
            return Other(f"a number with the operator {value.suffix}", start, end)
        if DIVIDED.match(self.source.text, end):
            return Other("a number that a backslash divides", start, end)
        return value

    def item(self, node: SyntaxNode, depth: int) -> tuple[Node, str | None]:
        """Return an item of a list, and the text that names it."""
        pairs = list(_named_values(node)) if node.type in PAIRS else []
        if not pairs:
            several = node.type in PAIRS and node.type != "argument"  # [A][B] = 1
            start, end = node.start_byte + self.shift, node.end_byte + self.shift
            other = Other("an expression", start, end)
            return other if several else self.value(node, depth), None
        label, value = pairs[0]
        text = self.source.text[label.start_byte + self.shift : label.end_byte + self.shift].strip()
        own = text[1:-1].strip() if text[0] == "[" else re.split(r"\W+", text)[-1]
        return self.value(value, depth), readable(own)


def value_at(source: SourceText, position: int) -> Node | None:
    """Return the largest value with numbers that begins at a position; None if there is none."""
    nearest, root, shift = None, source.root, 0
    around = root.named_descendant_for_byte_range(position, position + 1)
    if around is not None and around.type == "preproc_arg":
        shift = around.start_byte - len(source.language.fragment[0])
        root = source.fragment(around.start_byte, around.end_byte)
    for node in _beginning_at(root, position - shift):
        value = value_of(source, node, shift)
        nearest = value if any(numbers_in(value)) else nearest
    return nearest


def values_on_line(source: SourceText, position: int) -> Node:
    """Return the values on a line whose code begins at a position within a list: one, or several
    as a list."""
    beginning = list(_beginning_at(source.root, position))
    if not beginning:  # a bracket
        return Other("no number", position, position)
    first = beginning[-1]
    line, parent = source.line(position), first.parent
    nodes = (
        [first]
        if parent is None
        else [
            node
            for node in parent.named_children
            if source.line(node.start_byte) == line and "comment" not in node.type
        ]
    )
    values = tuple(value_of(source, node) for node in nodes)
    if len(values) == 1:
        return values[0]
    return Items(values, (None,) * len(values), False, position, nodes[-1].end_byte)


def _beginning_at(root: SyntaxNode, position: int) -> Iterator[SyntaxNode]:
    """Yield the nodes of a tree that begin at a position, from inside out."""
    node = root.named_descendant_for_byte_range(position, position + 1)
    while node is not None and node.start_byte == position:
        yield node
        node = node.parent
