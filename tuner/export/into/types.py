"""The whole numbers that the types of languages hold, the fields of structs, and the type that
stands with a number of a source."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from tuner.export.into.source import Number, SourceText, every_node

if TYPE_CHECKING:
    from tree_sitter import Node as SyntaxNode


class Limits(NamedTuple):
    """The smallest and the largest number of a type."""

    type: str
    low: int
    high: int


# a type whose name has its bits: uint8_t, int_least16_t, i8, u32, int8, Int16, __INT8_TYPE__
SIZED = re.compile(r"(?:(u_?)?int(?:_least|_fast)?|(u)|i)(8|16|32|64)(?:_t|_type__)?")
# others: whether they have no sign, and their bits
OTHERS = {
    **{"sbyte": (False, 8), "ushort": (True, 16), "uint": (True, 32), "ulong": (True, 64)},
    **{"size_t": (True, 64), "usize": (True, 64), "uintptr_t": (True, 64), "bool": (True, 1)},
}
# the same of words that mean different types, by language; C's if the language has no own
SIGNED = {"byte": {"Java": (False, 8), "": (True, 8)}}
SIGNED["char"] = {"Java": (True, 16), "C#": (True, 16), "": (False, 8)}
# types that hold every weight, and words in whose place there may be one
WIDE = {
    *("int", "long", "auto", "var", "let", "define", "enum", "i128", "i64", "isize", "int64"),
    *("float", "double", "decimal", "f32", "f64", "float32", "float64"),
}
CAST = re.compile(r"\(\s*((?:[\w:]+\s*)+)\)\s*\(?\s*$")  # in front of a number
CALL = re.compile(r"(\w+)\s*(?:<([^<>]*)>)?\s*!?\s*$")  # in front of a parenthesis
BITS = re.compile(r":\s*(\d+)")  # of a field
WORD = re.compile(r"\w+|[^\w\s]")
STRUCTS = {"struct_specifier", "class_specifier", "struct_type", "struct_item"}
ELEMENTS = re.compile(r"\[[\w.]*\]\s*(\w+)\s*\{")  # of a list of Go: []int8{
NONE: frozenset[str] = frozenset()
NEAR = 20_000  # characters in front of a number in which its list may begin


def limits_of(words: Sequence[str], language: str) -> Limits | None:
    """Return the limits of the type that words of a declaration name; None if none of them limits
    what a weight can be."""
    there = {word.lower().lstrip("_") for word in words}
    if bits_of_field := BITS.search(" ".join(words)):
        own = limits_of([word for word in words if word != ":"], language)
        size, unsigned = int(bits_of_field[1]), "unsigned" in there or own and own.low == 0
        low, high = (0, 2**size - 1) if unsigned else (-(2 ** (size - 1)), 2 ** (size - 1) - 1)
        return Limits(f"of {size} bits", low, high)
    for shown in words:
        word = shown.lower().lstrip("_")
        unsigned, bits = OTHERS.get(word, (False, 0))
        if match := SIZED.fullmatch(word):
            unsigned, bits = bool(match[1] or match[2]), int(match[3])
        elif word in SIGNED:
            unsigned, bits = SIGNED[word].get(language, SIGNED[word][""])
            unsigned = unsigned or "unsigned" in there
        elif word == "short" or word == "unsigned" and not there & {"char", "short"}:
            unsigned = "unsigned" in there
            bits = 16 if word == "short" else 64 if "long" in there else 32
        if bits:
            shown = f"unsigned {shown}" if "unsigned" in there and word != "unsigned" else shown
            low, high = (0, 2**bits - 1) if unsigned else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
            return Limits(shown, low, high)
    return None


class Field(NamedTuple):
    """A field of a struct: its name, the words of its type, and how many lists it is within one
    another."""

    name: str
    words: tuple[str, ...]
    lists: int


@cache
def structs_in(sources: tuple[SourceText, ...]) -> dict[str, list[Field]]:
    """Return the fields of the structs of these sources by the names of the structs, and of what is
    defined with one: `struct { int mg, eg; } TEMPO = {5, 3};`."""
    structs: dict[str, list[Field]] = {}
    for source in sources:
        for node in every_node(source.root):
            if node.type in STRUCTS:
                fields = list(_fields_of(node, source))
                structs.update((name, fields) for name in _names_of_struct(node, source) if fields)
    return structs


def _names_of_struct(node: SyntaxNode, source: SourceText) -> Iterator[str]:
    around = node.parent
    named = [node.child_by_field_name("name")]
    if around is not None and around.type == "type_spec":  # of Go
        named.append(around.child_by_field_name("name"))
    elif around is not None:
        named += around.children_by_field_name("declarator")
    for each in named:
        if each is not None:
            yield from WORD.findall(source.text[each.start_byte : each.end_byte])[:1]


def _fields_of(node: SyntaxNode, source: SourceText) -> Iterator[Field]:
    bodies = [c for c in node.named_children if c.type == "field_declaration_list"]
    for child in (c for body in bodies for c in body.named_children):
        inside = list(every_node(child))
        names = [each for each in inside if each.type == "field_identifier"]
        is_field = child.type == "field_declaration" and names
        if not is_field or any(each.type == "function_declarator" for each in inside):
            continue
        ends = [each.start_byte for each in names[1:]] + [child.end_byte]
        types = WORD.findall(source.text[child.start_byte : names[0].start_byte])
        if source.language.name in ("Go", "Rust"):  # the type is behind the names
            types = WORD.findall(source.text[names[-1].end_byte : child.end_byte].lstrip(": \t"))
        for name, end in zip(names, ends, strict=True):
            after = source.text[name.end_byte : end].partition("=")[0]
            bits = BITS.match(after.lstrip())
            words = (*types, ":", bits[1]) if bits else tuple(types)
            text = source.text[name.start_byte : name.end_byte]
            yield Field(text, words, (after + " ".join(types)).count("["))


INITIALIZERS = {"initializer_list", "literal_value", "field_initializer_list"}
# items with names, and literals with a type
LABELED = {"initializer_pair", "keyed_element", "field_initializer"}
TYPED = {"compound_literal_expression", "composite_literal", "struct_expression"}


def _lists_around(
    node: SyntaxNode, source: SourceText
) -> tuple[list[tuple[SyntaxNode, SyntaxNode]], str, bool]:
    """Return the lists around a node, from outside in, each with its item there; the text of the
    type of the outermost one, with as many brackets as it is arrays; and whether a literal names
    that type."""
    lists: list[tuple[SyntaxNode, SyntaxNode]] = []
    while (around := node.parent) is not None:
        if around.type in INITIALIZERS:
            lists.insert(0, (around, node))
        kind = around.child_by_field_name("type") or around.child_by_field_name("name")
        if around.type in TYPED and kind is not None:
            return lists, source.text[kind.start_byte : kind.end_byte], True
        if around.type == "init_declarator":
            declarator, whole = around.named_children[0], around.parent or around
            return lists, source.text[whole.start_byte : declarator.end_byte], False
        node = around
    return lists, "", False


def _words_of_field(
    number: Number, source: SourceText, sources: tuple[SourceText, ...]
) -> list[str]:
    """Return the words of the type of the field that a number of a list is; none if it is that of
    no known field."""
    node = source.root.named_descendant_for_byte_range(number.start, number.end)
    if node is None:
        return []
    around, text, is_known = _lists_around(node, source)
    words, lists, structs = WORD.findall(text), text.count("["), structs_in(sources)
    for each, item in around:
        if lists:
            lists -= 1
            continue
        meant = [target for word in words for target in target_of(word, sources) or [word]]
        fields = next((structs[word] for word in (*words, *meant) if word in structs), None)
        if fields is None or "<" in words:
            break
        if item.type in LABELED:
            name = item.named_children[0]
            label = source.text[name.start_byte : name.end_byte].strip("[]. ")
            named = [field for field in fields if field.name == label]
        else:
            items = [child for child in each.named_children if "comment" not in child.type]
            named = fields[items.index(item) :]
        if not named:
            return []
        words, lists, is_known = list(named[0].words), named[0].lists, True
    return words if is_known else []


def words_beside(
    number: Number, source: SourceText, types: Sequence[str], sources: tuple[SourceText, ...]
) -> Iterator[list[str]]:
    """Yield the words of the types that stand with a number, the innermost first: its suffix, a
    cast, the elements of its list, its field, and the `types` of its declaration, which say nothing
    of what a call is given: `Score tempo = S(-5, 3);`."""
    yield [number.suffix.lstrip("_")]
    before = source.code[max(0, number.start - NEAR) : number.start]
    if cast := CAST.search(before[-80:]):
        yield re.findall(r"\w+", cast[1])
    lists = list(ELEMENTS.finditer(before)) if source.language.name == "Go" else []
    if lists and before.count("{", lists[-1].start()) > before.count("}", lists[-1].start()):
        yield [lists[-1][1]]
    called = _called_with(before)
    if not called or called[0] in types:  # `uint8_t tempo(5);` is no call
        yield _words_of_field(number, source, sources) or list(types)
    else:
        yield called


def _called_with(before: str) -> list[str]:
    """Return the name in front of the innermost parenthesis that is open at the end of a text, and
    the words of its template arguments; none if there is none in its statement."""
    statement = before[before.rfind(";") + 1 :]
    at = statement.rfind("(")
    while at >= 0 and statement.count("(", at) <= statement.count(")", at):
        at = statement.rfind("(", 0, at)
    name = CALL.search(statement[: max(at, 0)])
    return [name[1], *WORD.findall(name[2] or "")] if name else []


ALIAS = re.compile(
    r"typedef\s+(?P<a>[\w\s:]+?)\s+(?P<x>\w+)\s*[;,]"
    r"|\b(?:using|type)\s+(?P<y>\w+)\s*=?\s*(?P<b>[\w:.<>, \t]+)"
    r"|^[ \t]*#[ \t]*define[ \t]+(?P<z>\w+)[ \t]+(?P<c>[A-Za-z_][\w: \t]*?)[ \t]*$",
    re.MULTILINE,
)


@cache
def _aliases(sources: tuple[SourceText, ...]) -> dict[str, list[str]]:
    """Return the words of the types that typedefs and macros of these sources name."""
    aliases: dict[str, list[str]] = {}
    for match in (match for source in sources for match in ALIAS.finditer(source.code)):
        name, target = (match[x] or match[y] or match[z] for x, y, z in ("xyz", "abc"))
        aliases.setdefault(name, re.findall(r"\w+", target))
    return aliases


@cache
def target_of(
    name: str, sources: tuple[SourceText, ...], known: frozenset[str] = NONE
) -> list[str]:
    """Return the words of the type that a typedef or a macro of these sources gives a name, from
    name to name; none if there is no such typedef. `known`: names that led here."""
    words, known = _aliases(sources).get(name, []), known | {name}
    further = (target_of(word, sources, known) if word not in known else [] for word in words)
    return [target for word, own in zip(words, further, strict=True) for target in own or [word]]


def limits_at(
    number: Number, source: SourceText, types: Sequence[str], sources: tuple[SourceText, ...]
) -> Limits | None:
    """Return the limits of the innermost type that stands with a number; None if nothing limits
    it."""
    language = source.language.name
    for words in words_beside(number, source, types, sources):
        meant = [target for word in words for target in target_of(word, sources) or [word]]
        if limits := limits_of(meant, language):
            return limits
    return None


def is_unknown(
    number: Number, source: SourceText, types: Sequence[str], sources: tuple[SourceText, ...]
) -> bool:
    """Return whether a number is of a declared type of which nothing is known."""
    *_, words = words_beside(number, source, types, sources)
    meant = {target for word in words for target in target_of(word, sources) or [word]}
    of_declaration = words == list(types) and len(words) > 0
    limits = limits_at(number, source, types, sources)
    return of_declaration and limits is None and WIDE.isdisjoint(word.lower() for word in meant)
