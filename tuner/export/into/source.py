"""Sources: their languages, split into tokens without a gap, and numbers as they are written."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, NoReturn

from games.streams import InputError


@dataclass(frozen=True)
class Language:
    """The differences between languages for readers of tokens and definitions."""

    name: str
    suffixes: tuple[str, ...]
    directives: bool = False  # lines that begin with #
    macros: bool = False  # `#define NAME value` is a definition, and a backslash continues a line
    nested_comments: bool = False
    separators: str = "_"  # between digits
    raw: str = ""  # kind of raw strings: cpp, rust, csharp, java, go
    lifetimes: bool = False  # 'a is a name, 'a' a character
    typed_after: bool = False  # `NAME: type = value`, and `field: value` in literals
    line_ends: bool = False  # the end of a line ends a definition
    octal: bool = True  # 010 is 8


LANGUAGES = (
    Language(
        "C or C++",
        (
            ".c",
            ".h",
            ".cc",
            ".cpp",
            ".cxx",
            ".c++",
            ".hh",
            ".hpp",
            ".hxx",
            ".inc",
            ".inl",
            ".ipp",
            ".tpp",
        ),
        directives=True,
        macros=True,
        separators="'",
        raw="cpp",
    ),
    Language(
        "Rust",
        (".rs",),
        nested_comments=True,
        raw="rust",
        lifetimes=True,
        typed_after=True,
        octal=False,
    ),
    Language("C#", (".cs",), directives=True, raw="csharp", octal=False),
    Language("Java", (".java",), raw="java"),
    Language("Go", (".go",), raw="go", typed_after=True, line_ends=True),
)


def language_of(path: Path) -> Language:
    """Return the language of a source by its suffix; InputError if it is not known."""
    for language in LANGUAGES:
        if path.suffix.lower() in language.suffixes:
            return language
    known = ", ".join(f"{language.name} ({' '.join(language.suffixes)})" for language in LANGUAGES)
    raise InputError(f"{path}: the suffix {path.suffix!r} names no known language; known: {known}")


PLAIN = re.compile(
    r"(?P<whole>\d[\d_']*)?(?P<point>\.(?P<part>\d[\d_']*)?)?(?P<exponent>[eE][+-]?\d[\d_]*)?"
    r"(?P<suffix>[A-Za-z_]\w*)?"
)
SEPARATORS = "_'"
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


@dataclass(frozen=True)
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
        return self.suffix.lower().lstrip("_").startswith("u")


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


SPACE, COMMENT, STRING, NUMBER, WORD, SIGN = "space", "comment", "string", "number", "word", "sign"
DIRECTIVE, DEFINE, END = "line", "define", "end"
MAX_STRING_DEPTH = 64  # strings within strings
BOM = "\xef\xbb\xbf"
SPACES = re.compile(r"(?:[ \t\r\n\f\v]|\\\r?\n)+")
ONE_SPACE = re.compile(r" (?![ \t\r\n\f\v\\])")
COMMENT_MARK = re.compile(r"/\*|\*/")
SPACES_IN_LINE = re.compile(r"(?:[ \t\f\v]|\r(?!\n)|\\\r?\n)+")
LINE_END = re.compile(r"\r?\n")
# neither a prefix of a string nor the half of a name
PLAIN_NAME = re.compile(r"[A-Za-z_]\w*(?![\w\"'#$\x80-\xff])", re.ASCII)
NAME = re.compile(r"[A-Za-z_$@\x80-\xff][\w$\x80-\xff]*", re.ASCII)
SIGNS = re.compile(
    r"<<=|>>=|\.\.[.=]?|::|->|=>|==|!=|<=|>=|&&|\|\||[-+*/%&|^:]=|\+\+|--|.", re.DOTALL
)
QUOTED = re.compile(r'"(?:[^"\\\n]|\\.)*"', re.DOTALL)
QUOTED_LINES = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
CHARACTER = re.compile(r"'(?:[^'\\\n]|\\[^\n])+'")
# of Rust: one character, of up to four bytes, or an escape
RUST_CHARACTER = re.compile(
    r"'(?:[^\\'\n\x80-\xff]|[\xc0-\xff][\x80-\xbf]{1,3}|\\(?:u\{[0-9A-Fa-f_]+\}|x[0-9A-Fa-f]{2}|.))'"
)
HEXADECIMAL = r"0[xXbBoO][\w']*(?:\.[\w']*)?(?:(?<=[pP])[+-]\d+)?"
EXPONENT = r"(?:[eE][+-]?\d[\d_]*)?"
NUMBERS = {
    "'": re.compile(
        rf"{HEXADECIMAL}|(?:\d(?:'?\d)*(?:\.(?!\.)(?:\d(?:'?\d)*)?)?|\.\d(?:'?\d)*){EXPONENT}\w*",
        re.ASCII,
    ),
    "_": re.compile(
        rf"{HEXADECIMAL}|(?:\d[\d_]*(?:\.(?![._A-Za-z])(?:\d[\d_]*)?)?|\.\d[\d_]*){EXPONENT}\w*",
        re.ASCII,
    ),
}
CPP_RAW = re.compile(r'(?:u8|[uUL])?R"([^()\\\s]{0,16})\(')
RUST_RAW = re.compile(r'(?:b|c)?r(#*)"')
PREFIXED = re.compile(r"(?:u8|[uULbc])(?=[\"'])")
THREE_QUOTES = re.compile(r'\$*("{3,})')
CSHARP_STRING = re.compile(r'(?=[$@]{1,2}")(\$?)(@?)(\$?)"')


class Token(NamedTuple):
    """A piece of the text."""

    kind: str
    start: int
    end: int


class SourceText:
    """A source file: its path, its text (one character a byte), and its tokens."""

    def __init__(self, path: str, text: str, language: Language) -> None:
        self.path, self.text, self.language = path, text, language
        self._lines = [0, *(match.end() for match in re.finditer("\n", text))]
        self.tokens = _tokens(self)
        self.code = [token for token in self.tokens if token.kind not in (SPACE, COMMENT)]

    def of(self, token: Token) -> str:
        """Return the text of a token."""
        return self.text[token.start : token.end]

    @cached_property
    def words(self) -> list[str]:
        """The texts of the tokens of code."""
        return [self.of(token) for token in self.code]

    def line(self, position: int) -> int:
        """Return the line of a position, from 1."""
        return bisect_right(self._lines, position)

    def line_start(self, position: int) -> int:
        """Return where the line of a position begins."""
        return self._lines[self.line(position) - 1]

    def at(self, position: int) -> str:
        """Return file and line of a position as text."""
        return f"{self.path}:{self.line(position)}"


def _tokens(source: SourceText) -> list[Token]:
    reader, found, at = _SourceReader(source), [], 0
    while at < len(source.text):
        token = reader.token(at)
        assert token.start == at < token.end
        found.append(token)
        at = token.end
    if reader.in_define:
        found.append(Token(END, at, at))
    return found


class _SourceReader:
    """Reads one token after another; knows what came before on the line."""

    def __init__(self, source: SourceText) -> None:
        self.source, self.text, self.language = source, source.text, source.language
        self.in_define = False
        self.line_begins = True  # only spaces and comments so far on this line
        self.nested = 0  # strings within holes of strings, in C#
        # the last token of code was a name, a number or a closing bracket: `x.0` has no number .0
        self.after_value = False

    def token(self, at: int) -> Token:
        if match := PLAIN_NAME.match(self.text, at):
            self.line_begins, self.after_value = False, True
            return Token(WORD, at, match.end())
        if match := ONE_SPACE.match(self.text, at):
            return Token(SPACE, at, at + 1)
        token = self._token(at)
        if token.kind in (SPACE, COMMENT, END, DIRECTIVE):
            self.line_begins |= "\n" in self.source.of(token)
        else:
            self.line_begins = False
            self.after_value = token.kind in (WORD, NUMBER) or self.source.of(token) in (")", "]")
        return token

    def _token(self, at: int) -> Token:
        text, language = self.text, self.language
        if at == 0 and text.startswith(BOM):
            return Token(SPACE, 0, len(BOM))
        if self.in_define and (match := LINE_END.match(text, at)):
            self.in_define = False
            return Token(END, at, match.end())
        if match := (SPACES_IN_LINE if self.in_define else SPACES).match(text, at):
            return Token(SPACE, at, match.end())
        if text.startswith("//", at):
            return Token(COMMENT, at, self._end_of_line(at))
        if text.startswith("/*", at):
            return Token(COMMENT, at, self._end_of_block(at))
        if language.directives and text[at] == "#" and self.line_begins:
            return self._directive(at)
        if end := self._string(at):
            return Token(STRING, at, end)
        if (text[at].isdigit() or text[at] == "." and not self.after_value) and (
            match := NUMBERS[language.separators].match(text, at)
        ):
            return Token(NUMBER, at, match.end())
        if match := NAME.match(text, at):
            return Token(WORD, at, match.end())
        match = SIGNS.match(text, at)
        assert match is not None
        return Token(SIGN, at, match.end())

    def _end_of_line(self, at: int) -> int:
        """Where a line ends, before its line end; a backslash of C continues it."""
        end = self.text.find("\n", at)
        while (
            end > 0
            and self.language.macros
            and self.text[end - 1 - (self.text[end - 1] == "\r")] == "\\"
        ):
            end = self.text.find("\n", end + 1)
        end = len(self.text) if end < 0 else end
        return end - (self.text[end - 1] == "\r" and end > at + 1)

    def _end_of_block(self, at: int) -> int:
        depth = 1
        for match in COMMENT_MARK.finditer(self.text, at + 2):
            if match[0] == "*/":
                depth -= 1
            elif self.language.nested_comments:
                depth += 1
            if not depth:
                return match.end()
        self._fail(at, "this comment does not end")

    def _directive(self, at: int) -> Token:
        match = re.compile(r"#[ \t]*(\w*)").match(self.text, at)
        assert match is not None
        if self.language.macros and match[1] == "define":
            self.in_define = True
            return Token(DEFINE, at, at + 1)
        end = self._end_of_line(at)
        comment = min(
            (k for k in (self.text.find(mark, at, end) for mark in ("//", "/*")) if k > at),
            default=end,
        )
        # `#include <a//b>` keeps its name; what follows a comment within the line is of no interest
        return Token(
            DIRECTIVE,
            at,
            end if match[1] in ("include", "region", "error", "warning", "pragma") else comment,
        )

    def _string(self, at: int) -> int:
        """Where the string or character that begins here ends; 0 if none does."""
        text, raw = self.text, self.language.raw
        if raw == "cpp" and (match := CPP_RAW.match(text, at)):
            return self._after(f'){match[1]}"', match.end(), at)
        if raw == "rust" and (match := RUST_RAW.match(text, at)):
            return self._after('"' + match[1], match.end(), at)
        if raw == "go" and text[at] == "`":
            return self._after("`", at + 1, at)
        if raw in ("java", "csharp") and (match := THREE_QUOTES.match(text, at)):
            return self._three_quotes(at, match)
        if raw == "csharp" and (match := CSHARP_STRING.match(text, at)):
            return self._csharp(match.end(), at, bool(match[1] or match[3]), bool(match[2]))
        if raw in ("cpp", "rust") and (match := PREFIXED.match(text, at)):
            return self._quoted(match.end()) or 0
        return self._quoted(at)

    def _quoted(self, at: int) -> int:
        if self.text[at] == "'":
            match = (RUST_CHARACTER if self.language.lifetimes else CHARACTER).match(self.text, at)
            return (
                match.end() if match else 0
            )  # an apostrophe in a branch of `#if 0`, or a lifetime
        if self.text[at] != '"':
            return 0
        match = (QUOTED_LINES if self.language.raw == "rust" else QUOTED).match(self.text, at)
        if match is None:
            self._fail(at, "this string does not end")
        return match.end()

    def _three_quotes(self, at: int, match: re.Match[str]) -> int:
        """A text block of Java, in which a backslash escapes, or a raw string of C#, with as many
        quotes at both ends."""
        if self.language.raw == "csharp":
            return self._after(match[1], match.end(), at)
        found = re.compile(r'(?:[^"\\]|\\.|"(?!""))*"""', re.DOTALL).match(self.text, at + 3)
        if found is None:
            self._fail(at, "this text block does not end")
        return found.end()

    def _csharp(self, position: int, at: int, holes: bool, verbatim: bool) -> int:
        """A string of C# with holes {…}, in which strings may be, or one in which only "" is an
        escape."""
        depth, text = 0, self.text
        self.nested += 1
        if self.nested > MAX_STRING_DEPTH:
            self._fail(at, f"strings nested deeper than {MAX_STRING_DEPTH}")
        while position < len(text):
            c = text[position]
            if depth and (end := self._string(position)):
                position = end
            elif not depth and (
                c == "\\"
                and not verbatim
                or verbatim
                and text.startswith('""', position)
                or holes
                and text[position : position + 2] in ("{{", "}}")
            ):
                position += 2
            elif not depth and c == '"':
                self.nested -= 1
                return position + 1
            else:
                depth = max(0, depth + (c == "{") - (c == "}")) if holes else 0
                position += 1
        self._fail(at, "this string does not end")

    def _after(self, closing: str, position: int, at: int) -> int:
        end = self.text.find(closing, position)
        if end < 0:
            self._fail(at, "this string does not end")
        return end + len(closing)

    def _fail(self, at: int, text: str) -> NoReturn:
        raise InputError(f"{self.source.at(at)}: {text}; is this {self.language.name}?")
