"""Sources: their languages, their syntax trees, and numbers as they are written."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from games.streams import InputError

if TYPE_CHECKING:
    from tree_sitter import Node as SyntaxNode
    from tree_sitter import Parser


@dataclass(frozen=True)
class Language:
    """A language of engines: its grammar, and what the syntax trees of languages differ in."""

    name: str
    suffixes: tuple[str, ...]
    grammar: str  # a module with a grammar for tree-sitter
    octal: bool = True  # 010 is 8
    pads_lists: bool = False  # `int a[8] = {1, 2}` has six zeros that are not written
    # what stands before and after a value that the grammar leaves unparsed, in macros
    fragment: tuple[str, str] = ("", "")


C_FRAGMENT = ("int _ = ", "\n;")
LANGUAGES = (
    Language("C", (".c",), "tree_sitter_c", pads_lists=True, fragment=C_FRAGMENT),
    Language(
        "C++",
        (
            *(".h", ".cc", ".cpp", ".cxx", ".c++", ".hh", ".hpp", ".hxx"),
            *(".inc", ".inl", ".ipp", ".tpp"),
        ),
        "tree_sitter_cpp",
        pads_lists=True,
        fragment=C_FRAGMENT,
    ),
    Language("Rust", (".rs",), "tree_sitter_rust", octal=False, fragment=("const _: _ = ", "\n;")),
    Language("C#", (".cs",), "tree_sitter_c_sharp", octal=False),
    Language("Java", (".java",), "tree_sitter_java"),
    Language("Go", (".go",), "tree_sitter_go"),
)


def language_of(path: Path) -> Language:
    """Return the language of a source by its suffix; InputError if it is not known."""
    for language in LANGUAGES:
        if path.suffix.lower() in language.suffixes:
            return language
    known = ", ".join(f"{language.name} ({' '.join(language.suffixes)})" for language in LANGUAGES)
    raise InputError(f"{path}: the suffix {path.suffix!r} names no known language; known: {known}")


@cache
def load_parser(language: Language) -> Parser:
    """Return the parser of a language; InputError if its package is not installed."""
    try:
        import tree_sitter

        grammar = import_module(language.grammar)
    except ImportError:
        raise InputError(
            f"sources in {language.name}: {language.grammar.replace('_', '-')} is not installed;"
            " pip install 'evaltune[source]'"
        ) from None
    return tree_sitter.Parser(tree_sitter.Language(grammar.language()))


PLAIN = re.compile(
    r"(?P<whole>\d[\d_']*)?(?P<point>\.(?P<part>\d[\d_']*)?)?(?P<exponent>[eE][+-]?\d[\d_]*)?"
    r"(?P<suffix>[A-Za-z_]\w*)?"
)
SEPARATORS = "_'"
BEYOND = "".join(chr(0x4E00 + byte) for byte in range(0x80, 0x100))  # letters, without case
BYTES = {**{chr(byte): byte for byte in range(0x80)}, **{c: 0x80 + k for k, c in enumerate(BEYOND)}}


def text_of(content: bytes) -> str:
    """Return a source with one character a byte; bytes beyond ASCII become letters, since they are
    parts of letters in names."""
    return content.decode("latin-1").translate(dict(zip(range(0x80, 0x100), BEYOND, strict=True)))


def bytes_of(text: str) -> bytes:
    """Return the bytes of such a text."""
    return text.encode() if text.isascii() else bytes(map(BYTES.__getitem__, text))


def readable(text: str) -> str:
    """Return such a text with its letters, of UTF-8 or else of Latin-1."""
    if text.isascii():
        return text
    content = bytes_of(text)
    try:
        return content.decode()
    except UnicodeDecodeError:
        return content.decode("latin-1")


BOM = text_of(b"\xef\xbb\xbf")  # of UTF-8
# suffixes that make a number a float
FLOATS = (
    "f",
    "F",
    "d",
    "D",
    "m",
    "M",
    "f32",
    "f64",
    "_f32",
    "_f64",
)


UNSIGNED = re.compile(r"_?u\d*|_?usize|l{0,2}ul{0,2}", re.IGNORECASE)  # suffixes


@dataclass(frozen=True, slots=True)
class Number:
    """A number of a source, from its sign on: where it is, its value and its style."""

    start: int
    end: int
    value: float
    sign: str  # "", "+" or "-"
    decimals: int  # digits after the point, -1 if there is none
    suffix: str
    separator: str  # between groups of three digits

    @property
    def is_float(self) -> bool:
        return self.decimals >= 0 or self.suffix in FLOATS

    @property
    def is_unsigned(self) -> bool:
        return UNSIGNED.fullmatch(self.suffix) is not None


def number_of(text: str, sign: str, start: int, end: int, octal: bool) -> Number | str:
    """Return a number, or why it is not one that can be replaced."""
    match = PLAIN.fullmatch(text)
    if (
        match is None
        or match["whole"] is None
        and match["part"] is None
        or text[:2].lower() in ("0x", "0b", "0o")
    ):
        return f"{text} is not decimal"
    whole, part = (re.sub(f"[{SEPARATORS}]", "", match[name] or "") for name in ("whole", "part"))
    is_whole = match["point"] is None and match["exponent"] is None
    if is_whole and len(whole) > 1 and whole[0] == "0" and octal:
        return f"{text} is octal"
    value = float(f"{whole or 0}.{part or 0}{(match['exponent'] or '').replace('_', '')}")
    separator = next((c for c in match["whole"] or "" if c in SEPARATORS), "")
    suffix = match["suffix"] or ""
    if (match["whole"] or "").endswith("_"):  # 15_i32
        suffix, separator = (
            f"_{suffix}",
            "" if separator == "_" and (match["whole"] or "").count("_") == 1 else separator,
        )
    return Number(
        start,
        end,
        -value if sign == "-" else value,
        sign,
        -1 if is_whole else max(1, len(part)),
        suffix,
        separator,
    )


def spelled(number: Number, value: float, decimals: int, as_float: bool) -> str:
    """Return a value in the style of the number that it replaces; `as_float`: with a point where
    the number has none."""
    digits = max(decimals, 1) if number.decimals >= 0 or as_float and decimals else 0
    text = f"{abs(value):.{digits}f}"
    if number.separator:
        whole, point, part = text.partition(".")
        text = f"{int(whole):,}".replace(",", number.separator) + point + part
    is_zero = float(f"{abs(value):.{digits}f}") == 0
    sign = "-" if value < 0 and not is_zero else "+" if number.sign == "+" else ""
    return f"{sign}{text}{number.suffix}"


class SourceText:
    """A source file: its path, its text (see `text_of`), and its syntax tree."""

    def __init__(self, path: str, text: str, language: Language) -> None:
        self.path, self.text, self.language = path, text, language
        self._lines = [0, *(match.end() for match in re.finditer("\n", text))]
        self.root = parse(text, language)

    @cached_property
    def comments(self) -> list[tuple[int, int]]:
        """Where comments begin and end, also those in macros."""
        ranges = []
        for node in every_node(self.root):
            if "comment" in node.type:
                ranges.append((node.start_byte, node.end_byte))
            elif node.type == "preproc_arg" and "/" in self.text[node.start_byte : node.end_byte]:
                shift = node.start_byte - len(self.language.fragment[0])
                ranges += [
                    (inner.start_byte + shift, inner.end_byte + shift)
                    for inner in every_node(self.fragment(node.start_byte, node.end_byte))
                    if "comment" in inner.type
                ]
        return ranges

    @cached_property
    def code(self) -> str:
        """The text with spaces in place of comments and of a byte order mark."""
        pieces, at = [], 0
        spans = [(0, len(BOM))] if self.text.startswith(BOM) else []
        for start, end in spans + self.comments:
            pieces += [self.text[at:start], " " * (end - start)]
            at = end
        return "".join([*pieces, self.text[at:]])

    def fragment(self, start: int, end: int) -> SyntaxNode:
        """Return the tree of a declaration whose value is this piece of the text; the piece begins
        in it after `language.fragment[0]`."""
        before, after = self.language.fragment
        return parse(before + self.text[start:end] + after, self.language)

    def line(self, position: int) -> int:
        """Return the line of a position, from 1."""
        return bisect_right(self._lines, position)

    def line_start(self, position: int) -> int:
        """Return where the line of a position begins."""
        return self._lines[self.line(position) - 1]

    def at(self, position: int) -> str:
        """Return file and line of a position as text."""
        return f"{self.path}:{self.line(position)}"


# attributes of GCC, which the grammars do not know behind a name
ATTRIBUTE = re.compile(r"__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)")


def parse(text: str, language: Language) -> SyntaxNode:
    """Return the root of the syntax tree of a text, see `text_of`."""
    text = ATTRIBUTE.sub(lambda match: re.sub(r"\S", " ", match[0]), text)
    content = bytes_of(text.replace(BOM, " " * len(BOM), 1))
    try:
        content.decode()
    except UnicodeDecodeError:  # the grammars read UTF-8; letters of Latin-1 keep their length
        content = re.sub(rb"[\x80-\xff]", b"x", content)
    return load_parser(language).parse(content).root_node


def every_node(root: SyntaxNode) -> Iterator[SyntaxNode]:
    """Yield the named nodes of a tree in the order of the text; deep trees need no deep stack."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += reversed(node.named_children)
