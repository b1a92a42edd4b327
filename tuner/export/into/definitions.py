"""Find the definitions of a source, names with a value, and which number of each is which of a
parameter."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from games.streams import InputError
from tuner.export.into.source import (
    DEFINE,
    DIRECTIVE,
    END,
    NUMBER,
    SIGN,
    STRING,
    WORD,
    Number,
    SourceText,
    number_of,
)

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
        return Items(
            tuple(parts_of(value, rest) for value in node.values), node.labels, False, node.start
        )
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
    node: Node, stages: Sequence[str], shape: tuple[int, ...], types: Sequence[str] = ()
) -> list[list[Number | None]]:
    """Return the numbers of a value for each stage, row after row: the same for all stages if it
    has numbers for one, None where a 0 replaces a list, or a list is shorter than the sizes in
    its `types`. ShapeError if it has different ones, or if their order is open."""
    try:
        return _complete(node, stages, shape)
    except ShapeError:
        sizes = [size for size in declared_sizes(types) if size != 0]
        n = len(stages)
        forms = {(*shape, n): -1, (n, *shape): 0, shape: None} if n > 1 else {shape: None}
        for form, stage_axis in forms.items():
            found = _filled(node, form, sizes)
            if found is not None and any(found):
                places = np.arange(len(found)).reshape(form)
                rows = np.tile(places.ravel(), (n, 1))  # one number for all stages
                if stage_axis is not None:
                    rows = np.moveaxis(places, stage_axis, 0).reshape(n, -1)
                return [[found[k] for k in row] for row in rows.tolist()]
        raise


def declared_sizes(types: Sequence[str]) -> list[int | None]:
    """Return the sizes in square brackets of a definition of C: None for a name, 0 for none."""
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
    found: list[Number | None] = []
    for value in node.values:
        part = _filled(value, dims[1:], declared[1:])
        if part is None:
            return None
        found += part
    return found + [None] * (lacking * math.prod(dims[1:]))


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
    wanted = {tuple(n for n in form if n > 1) for form in (shape, (math.prod(shape),))}
    found = []
    for order in orders:
        moved = places[None] if len(stages) == 1 else _with_stage_first(places, order, len(stages))
        if moved is not None and tuple(n for n in moved.shape[1:] if n > 1) in wanted:
            found.append(moved.reshape(len(stages), -1))
    if not found and stage_axis is None and tuple(n for n in dims if n > 1) in wanted:
        found = [np.tile(places.ravel(), (len(stages), 1))]  # one number for all stages
    if not found:
        sizes = (
            " x ".join(str(n) for n in (*((len(stages),) if len(stages) > 1 else ()), *shape))
            or "1"
        )
        raise ShapeError(
            f"has {' x '.join(map(str, dims)) or 'one'} number{'s' * (len(numbers) != 1)}, expected"
            f" {sizes}" + (f" (stages {', '.join(stages)})" if len(stages) > 1 else ""),
            node.start,
        )
    if any((other != found[0]).any() for other in found):
        raise ShapeError(
            f"has {' x '.join(map(str, dims))} numbers, and either the first or the last may be the"
            f" stages; name them in the map as `{{{stages[0]}: 'NAME[0]', {stages[1]}: 'NAME[1]'}}`"
            f" or `{{{stages[0]}: 'NAME[*][0]', {stages[1]}: 'NAME[*][1]'}}`",
            node.start,
        )
    return [[numbers[k] for k in row] for row in found[0].tolist()]


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
    found = [
        [i for i, label in enumerate(labels) if label in stage_words(stage)] for stage in stages
    ]
    if len(labels) != len(stages) or any(len(places) != 1 for places in found):
        return None
    return [places[0] for places in found]


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


CLOSING = {"(": ")", "[": "]", "{": "}", "<": ">"}
ENDS = (",", ";", ")", "]", "}")
DEEPEST_VALUE = 64  # lists within lists, casts of casts; C asks 63 of its compilers


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


@dataclass(frozen=True)
class Other:
    """A value that is neither a number nor a list, and why: "an expression", "the name WIDTH"."""

    reason: str
    start: int


Node = Number | Items | Other


def numbers_in(node: Node) -> Iterator[Number]:
    """Yield the numbers of a tree in the order of the source."""
    if isinstance(node, Number):
        yield node
    elif isinstance(node, Items):
        for value in node.values:
            yield from numbers_in(value)


class Values:
    """Reads values from the tokens of a source; positions are indices of `source.code`."""

    def __init__(self, source: SourceText) -> None:
        self.source, self.words, self.code = source, source.words, source.code
        self.kinds = [token.kind for token in source.code]
        self.depth = 0  # of the value that is being read
        self.closings: dict[int, int] = {}  # for a bracket that opens, the token that closes it
        self.openings: dict[int, int] = {}  # the reverse, of brackets that are closed
        opened: dict[str, list[int]] = {closing: [] for closing in CLOSING.values()}
        for k, word in enumerate(self.words):
            if self.kinds[k] == END:  # of a macro: what is open ends with it
                for unclosed in opened.values():
                    self.closings.update(dict.fromkeys(unclosed, k - 1))
                    unclosed.clear()
            elif word in CLOSING:
                opened[CLOSING[word]].append(k)
            elif opened.get(word):
                self.openings[k] = opened[word].pop()
                self.closings[self.openings[k]] = k

    def word(self, i: int) -> str:
        """The text of a token; nothing beyond the last."""
        return self.words[i] if i < len(self.words) else ""

    def kind(self, i: int) -> str:
        """The kind of a token; END beyond the last."""
        return self.kinds[i] if i < len(self.kinds) else END

    def value(self, i: int, in_list: bool = False) -> tuple[Node, int]:
        """Return the value that begins at token i, and the token after it: one that ends values, or
        the end of a line."""
        node, after = self.node(i, in_list)
        while not self.ends(after, in_list):
            after = self.matching(after) + 1 if self.word(after) in ("(", "[", "{") else after + 1
        return node, after

    def node(self, i: int, in_list: bool = False) -> tuple[Node, int]:
        """Return the value that begins at token i, and the first token that is not of its number or
        list."""
        node, after = self._plain(i)
        if self.ends(after, in_list):
            return node, after
        start = self.code[i].start if i < len(self.code) else len(self.source.text)
        if self.kind(after) == DIRECTIVE:
            node = Other("a list with a preprocessor line", start)
        elif not isinstance(node, Other):
            node = Other("an expression", start)
        return node, after

    def ends(self, i: int, in_list: bool) -> bool:
        """Whether no value continues with token i."""
        if self.kind(i) == END or self.word(i) in ENDS:
            return True
        # in Go the end of a line ends a definition, unless the line cannot end there
        return (
            self.source.language.line_ends
            and not in_list
            and self.is_new_line(i)
            and self.word(i - 1) not in ("=", "+", "-", "*", "/", ",", "(")
        )

    def is_new_line(self, i: int) -> bool:
        """Whether token i is the first one of its line."""
        return (
            0 < i < len(self.code)
            and "\n" in self.source.text[self.code[i - 1].end : self.code[i].start]
        )

    def matching(self, i: int) -> int:
        """Return the token that closes the bracket at token i; the last token if none does."""
        return self.closings.get(i, len(self.words) - 1)

    def _plain(self, i: int) -> tuple[Node, int]:
        """A value without what may follow it."""
        if self.depth == DEEPEST_VALUE:
            return (
                Other(
                    f"values nested deeper than {DEEPEST_VALUE}",
                    self.code[min(i, len(self.code) - 1)].start,
                ),
                i,
            )
        self.depth += 1
        try:
            return self._begun(i)
        finally:
            self.depth -= 1

    def _begun(self, i: int) -> tuple[Node, int]:
        """The value by its first token."""
        kind, word = self.kind(i), self.word(i)
        start = self.code[i].start if i < len(self.code) else len(self.source.text)
        if kind == END:
            return Other("nothing", start), i
        if word in ("+", "-"):
            if self.kind(i + 1) == NUMBER and not self.source.text[
                start + 1 : self.code[i + 1].start
            ].strip(" \t"):
                return self._number(i + 1, word, start)
            return Other("an expression", start), i + 1
        if kind == NUMBER:
            return self._number(i, "", start)
        if word == "&":  # a reference of Rust
            return self._plain(i + 1 + (self.word(i + 1) == "mut"))
        if word == "[" and self.source.language.line_ends:
            return self._typed(i, start)
        if word == "(" and (after := self._after_cast(i)):
            return self._plain(after)
        if word in ("(", "[", "{"):
            return self._items(i, word == "(")
        if kind == WORD:
            return self._typed(i, start)
        return Other("a string" if kind == STRING else "an expression", start), i + 1

    def _number(self, i: int, sign: str, start: int) -> tuple[Node, int]:
        token = self.code[i]
        found = number_of(self.words[i], sign, start, token.end, self.source.language.octal)
        after = i + 1
        if self.word(after) == "as" and self.kind(after + 1) == WORD:  # 15 as Score
            after += 2
        return (
            Other(f"a number that cannot be replaced: {found}", start)
            if isinstance(found, str)
            else found
        ), after

    def _after_cast(self, i: int) -> int:
        """The token after a cast such as `(int)` or `(Score)`, if a number or a list follows; else
        0."""
        end = self.matching(i)
        inside = range(i + 1, end)
        if (
            inside
            and all(self.kinds[k] == WORD or self.words[k] in ("::", "<", ">", "*") for k in inside)
            and (self.kind(end + 1) == NUMBER or self.word(end + 1) in ("{", "+", "-", "("))
        ):
            return end + 1
        return 0

    def _typed(self, i: int, start: int) -> tuple[Node, int]:
        """A list with a type or a name before it: `S(1, 2)`, `std::array<int, 2>{…}`, `new int[]
        {…}`, `[2][8]int{…}`."""
        k, is_array = i, False
        while self.kind(k) == WORD or self.word(k) in ("::", ".", "!", "[", "<", "*"):
            if self.word(k) == "[" and self.word(k - 1) == "!":
                break
            if k > i and self.kind(k) == self.kind(k - 1) == WORD and self.words[k - 1] != "new":
                break
            bracketed = self.word(k) in ("[", "<")
            is_array |= bracketed
            k = self.matching(k) + 1 if bracketed else k + 1
        if (
            self.word(k) in ("(", "{", "[")
            and k > i
            and (self.word(k) != "[" or self.words[k - 1] == "!")
        ):
            # an array's type says nothing of what its items are
            return self._items(k, self.word(k) != "[" and not is_array)
        return (
            Other(f"the name {self.words[i]}" if self.kind(i) == WORD else "an expression", start),
            i + 1,
        )

    def _items(self, i: int, called: bool) -> tuple[Node, int]:
        """The list in the bracket at token i."""
        end, k = self.matching(i), i + 1
        start = self.code[i].start
        values: list[Node] = []
        labels: list[str | None] = []
        while k < end:
            if self.kind(k) == DIRECTIVE:
                return Other("a list with a preprocessor line", self.code[k].start), end + 1
            label, k = self._label(k)
            value, k = self.value(k, in_list=True)
            if self.word(k) == ";":
                return Other("a list of the form [value; count]", start), end + 1
            values.append(value)
            labels.append(label)
            k += 1  # the comma
        return Items(tuple(values), tuple(labels), called, start), end + 1

    def _label(self, i: int) -> tuple[str | None, int]:
        """The label of an item of a list, and the token after it: `[KNIGHT] =`, `.tempo =`,
        `tempo:`, `Tempo =`, `2:`."""
        if self.word(i) == "[" and self.word((end := self.matching(i)) + 1) == "=":
            return self.source.text[self.code[i].end : self.code[end].start].strip(), end + 2
        if self.word(i) == "." and self.word(i + 2) in ("=", ":"):
            return self.words[i + 1], i + 3
        k = i
        while self.kind(k) == WORD and self.word(k + 1) in (".", "::"):  # Piece.Knight: …
            k += 2
        if self.kind(k) in (WORD, NUMBER) and self.word(k + 1) in (":", "="):
            return self.words[k], k + 2
        return None, i


LONGEST_HEAD = 200  # tokens before a value; a statement with more defines nothing
MAX_BRACES = 127  # braces in braces, and `#if` in `#if`; C asks 127 and 63 of its compilers
OUTER, FUNCTION, ENUM, LIST = "outer", "function", "enum", "list"  # kinds of scopes
TYPES = {
    "namespace",
    "struct",
    "class",
    "union",
    "extern",
    "impl",
    "mod",
    "trait",
    "interface",
    "record",
    "module",
    "type",
}
CONSTANT = {"const", "constexpr", "constinit", "static", "final", "readonly"}
FUNCTION_WORDS = {
    "fn",
    "func",
    "if",
    "for",
    "while",
    "match",
    "loop",
    "switch",
    "unsafe",
    "else",
    "do",
    "try",
    "select",
    "finally",
}
ACCESSORS = {"get", "set", "init"}
CONDITION = re.compile(r"#[ \t]*(if|ifdef|ifndef|elif|elifdef|elifndef|else|endif)\b")


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


@dataclass
class _Scope:
    kind: str
    name: str = ""
    closing: str = "}"
    depth: int = 0  # of parentheses and square brackets
    head: list[int] = field(default_factory=list)  # tokens of the statement so far, at depth 0

    def copy(self) -> _Scope:
        return _Scope(self.kind, self.name, self.closing, self.depth, list(self.head))


def definitions_of(source: SourceText) -> list[Definition]:
    """Return the definitions of a source in their order."""
    finder = _Finder(source)
    finder.run()
    return finder.found


class _Finder:
    def __init__(self, source: SourceText) -> None:
        self.source, self.values = source, Values(source)
        self.words, self.kinds = source.words, self.values.kinds
        self.go, self.typed_after = source.language.line_ends, source.language.typed_after
        self.scopes = [_Scope(OUTER)]
        self.branches: list[
            list[_Scope]
        ] = []  # the scopes at each `#if`, to which its later branches return
        self.found: list[Definition] = []

    def run(self) -> None:
        i = 0
        while i < len(self.words):
            if self.kinds[i] == DIRECTIVE:
                self._branch(i)
                i += 1
            elif self.kinds[i] == DEFINE:
                i = self._macro(i)
            else:
                self._step(i)
                i += 1

    def _require_shallow(self, depth: int, i: int, what: str) -> None:
        if depth >= MAX_BRACES:
            raise InputError(
                f"{self.source.at(self.source.code[i].start)}: {what} nested deeper than"
                f" {MAX_BRACES};"
                f" is this {self.source.language.name}?"
            )

    def _branch(self, i: int) -> None:
        """Each branch begins with the scopes before `#if`; after it the scopes of the last branch
        remain."""
        match = CONDITION.match(self.words[i])
        if match is None:
            return
        if match[1] in ("if", "ifdef", "ifndef"):
            self._require_shallow(len(self.branches), i, "#if")
            self.branches.append([scope.copy() for scope in self.scopes])
        elif self.branches and match[1] == "endif":
            self.branches.pop()
        elif self.branches:
            self.scopes = [scope.copy() for scope in self.branches[-1]]

    def _macro(self, i: int) -> int:
        """A `#define`: the token after its line."""
        end = i
        while self.kinds[end] != END:
            end += 1
        name = i + 2
        takes_arguments = (
            self.values.word(name + 1) == "("
            and self.source.code[name + 1].start == self.source.code[name].end
        )
        if name + 1 < end and not takes_arguments:
            self._add(name, name + 1, OUTER, ())
        return end + 1

    def _step(self, i: int) -> None:
        scope, word = self.scopes[-1], self.words[i]
        if self.go and scope.kind != LIST and not scope.depth and self.values.is_new_line(i):
            scope.head = []
        if self.kinds[i] not in (WORD, SIGN):
            if not scope.depth:
                self._append(i, scope)
        elif word == scope.closing and not scope.depth:
            closed = self.scopes.pop() if len(self.scopes) > 1 else scope
            if word == "}" and LIST not in (
                closed.kind,
                self.scopes[-1].kind,
            ):  # after a list the statement goes on
                self.scopes[-1].head = []
        elif word == "{":
            self._require_shallow(len(self.scopes), i, "braces")
            self.scopes.append(self._opened(i, scope))
        elif word == "(" and self.go and self.words[i - 1 : i] in (["const"], ["var"]):
            self.scopes.append(_Scope(scope.kind, scope.name, ")"))
            scope.head = []
            self.scopes[-1].head = []
        elif word in "([":
            if word == "(" and not scope.depth and self.source.language.macros:
                self._constructed(i, scope)
            if (
                word == "(" and not scope.depth and scope.kind == LIST
            ):  # the fields of a call: `Params(tempo: 15)`
                self._append(i, scope)
            scope.depth += 1
        elif word in ")]":
            scope.depth = max(0, scope.depth - 1)
            if not scope.depth:
                self._append(i, scope)
        elif scope.depth:
            return
        elif word == ";" or word == "," and scope.kind in (LIST, ENUM):
            scope.head = []
        elif (
            word == ","
            and not self.typed_after
            and (head := self._head(scope))[:1] != ["template"]
            and "=" in head
        ):
            # the next name of `int a[2] = {1, 2}, b = 3;` has the same type before it
            del scope.head[
                max(
                    (k for k in range(head.index("=")) if self.kinds[scope.head[k]] == WORD),
                    default=0,
                ) :
            ]
        else:
            if word == "=":
                self._assigned(i, scope)
            elif word == ":" and self.typed_after and scope.kind == LIST:
                self._field(i, scope)
            self._append(i, scope)

    def _append(self, i: int, scope: _Scope) -> None:
        if len(scope.head) < LONGEST_HEAD:
            scope.head.append(i)

    def _head(self, scope: _Scope) -> list[str]:
        return [self.words[k] for k in scope.head]

    def _opened(self, i: int, parent: _Scope) -> _Scope:
        """The scope that a brace opens, by the statement before it."""
        head, before = self._head(parent), self.words[i - 1] if i else ""
        if parent.kind == LIST:
            return _Scope(LIST, self._item_name(parent))
        if "=" in head or "return" in head and before != ")":
            return _Scope(FUNCTION if before in (")", "=>") else LIST, self._defined(parent))
        if FUNCTION_WORDS & set(head) or before == ")" or parent.depth:
            return _Scope(FUNCTION)
        if "enum" in head:
            return _Scope(ENUM, self._after_last(head, {"enum", "class", "struct"}))
        if TYPES & set(head):
            return _Scope(OUTER, self._after_last(head, TYPES))
        if (
            self.kinds[i - 1 : i] == [WORD]
            and before[:1].isupper()
            and self.typed_after
            or before == "!"
        ):  # Params { tempo: 15 }
            return _Scope(LIST, before if before != "!" else self.words[i - 2])
        if self.source.language.macros and self._braced(i, parent, head):
            return _Scope(LIST, self._defined(parent))
        if self.values.word(i + 1) in ACCESSORS and self.source.language.raw == "csharp":
            return _Scope(
                LIST
            )  # a property, whose value may follow: `public int Tempo { get; set; } = 15;`
        return _Scope(
            FUNCTION if parent.kind == FUNCTION or ")" in head or before == "static" else OUTER
        )

    def _braced(self, i: int, parent: _Scope, head: list[str]) -> bool:
        """A definition of C++ without `=`: `constexpr Score Tempo{20, 10};`, `int Bonus[2]{1,
        2};`."""
        name = self._name_before(i)
        words = [k for k in parent.head if self.kinds[k] == WORD]
        if name is None or len(words) < 2 or parent.kind == FUNCTION and not CONSTANT & set(head):
            return False
        self._add(name, i, parent.kind, self._names(), parent.head)
        return True

    def _constructed(self, i: int, scope: _Scope) -> None:
        """A definition by a constructor of C++: `const Score Tempo(20, 10);`."""
        words = [k for k in scope.head if self.kinds[k] == WORD]
        if len(words) < 2 or words[-1] != i - 1 or scope.head[-1] != i - 1:
            return
        node, after = self.values.node(i)
        numbers = isinstance(node, Items) and all(isinstance(v, Number) for v in node.values)
        if numbers and any(numbers_in(node)) and self.values.word(after) in (";", ","):
            if scope.kind != FUNCTION or CONSTANT & set(self._head(scope)):
                self._add(i - 1, i, scope.kind, self._names(), scope.head)

    def _after_last(self, head: list[str], keywords: set[str]) -> str:
        places = [k for k, word in enumerate(head[:-1]) if word in keywords]
        return (
            next(
                (word for word in head[places[-1] + 1 :] if word[:1].isalpha() or word[:1] == "_"),
                "",
            )
            if places
            else ""
        )

    def _item_name(self, scope: _Scope) -> str:
        """The name of an item of a list: `.knight = {`, `Knight: {`."""
        places = [k for k in scope.head if self.kinds[k] == WORD]
        return self.words[places[0]] if places and {":", "="} & set(self._head(scope)) else ""

    def _defined(self, scope: _Scope) -> str:
        """The name that a statement defines, for the lists in its value."""
        if (
            self.found
            and scope.head
            and self.found[-1].start >= self.source.code[scope.head[0]].start
        ):
            return self.found[-1].name
        return ""

    def _names(self) -> tuple[str, ...]:
        return tuple(scope.name for scope in self.scopes if scope.name)

    def _name_before(self, i: int) -> int | None:
        """The token of the name before token i, over brackets: `int Bonus[2][64] =`."""
        k = i - 1
        while k > 0 and self.words[k] == "]":
            k = self.values.openings.get(k, 0) - 1
        return k if k >= 0 and self.kinds[k] == WORD else None

    def _assigned(self, i: int, scope: _Scope) -> None:
        """A name before `=`."""
        if len(scope.head) == LONGEST_HEAD:
            return
        head = self._head(scope)
        words = [k for k in scope.head if self.kinds[k] == WORD]
        if not words or "operator" in head or head[0] == "template" and ">" not in head:
            return
        name: int | None
        if self.typed_after and scope.kind not in (ENUM,):
            plain = [
                k
                for k in words
                if self.words[k] not in (*CONSTANT, "pub", "let", "var", "mut", "ref", "crate")
            ]
            if not plain or self.go and "," in head:
                return
            colon = next((k for k in scope.head if self.words[k] == ":"), None)
            name = (
                plain[0]
                if self.go or colon is None
                else max((k for k in plain if k < colon), default=plain[0])
            )
        else:
            name = words[-1] if self.words[i - 1] == "}" else self._name_before(i)
        if name is None or scope.kind == FUNCTION and not CONSTANT & set(head):
            if name is not None and self.words[name - 1] in (".", ">") and not self.typed_after:
                self._add(name, i + 1, FUNCTION, self._names(), scope.head)  # e.TEMPO = 10;
            return
        alone = name == scope.head[0] and not self.go
        if alone and scope.kind not in (LIST, ENUM):
            return
        scopes = self._names()
        if (
            self.words[name - 1] in ("::", ".")
            and name >= 2
            and self.kinds[name - 2] == WORD
            and scope.kind != LIST
        ):
            scopes = (*scopes, self.words[name - 2])  # int Params::tempo = 15;
        self._add(name, i + 1, scope.kind, scopes, scope.head)

    def _field(self, i: int, scope: _Scope) -> None:
        """A field of a literal: `tempo: 15`; not one of a macro, `tempo: i32 = 15`, whose value
        comes after `=`."""
        name = i - 1
        if (
            self.kinds[name] != WORD
            or not scope.head
            or len([k for k in scope.head if self.kinds[k] in (WORD, NUMBER)]) > 2
        ):
            return
        if self.kinds[i + 1 : i + 2] == [WORD] and self.values.word(i + 2) == "=":
            return
        self._add(name, i + 1, scope.kind, self._names())

    def _add(
        self, name: int, value: int, kind: str, scopes: tuple[str, ...], head: Sequence[int] = ()
    ) -> None:
        """Note a definition by the tokens of its name, of its value, and of its statement before
        the value."""
        node, _ = self.values.node(value)
        text = self.words[name].removeprefix("r#").lstrip("@")
        if kind == FUNCTION and self.words[name - 1] in (".", ">"):  # e.VALUE[PAWN] = 100;
            text += "".join(self.words[name + 1 : value - 1])
        self.found.append(
            Definition(
                text,
                self.source.code[name].start,
                node,
                self.source,
                scopes,
                kind,
                (
                    *(self.words[k] for k in head if k < name),
                    *self.words[name : min(value, name + LONGEST_HEAD)],
                ),
            )
        )
