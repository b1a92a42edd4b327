"""Languages whose sources are read, by the suffix of the file: the form of their comments, strings, numbers and lists."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from games.streams import InputError


@dataclass(frozen=True)
class Language:
    """What differs between languages for those who read tokens and definitions."""

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
    Language("C or C++", (".c", ".h", ".cc", ".cpp", ".cxx", ".c++", ".hh", ".hpp", ".hxx", ".inc", ".inl", ".ipp", ".tpp"),
             directives=True, macros=True, separators="'", raw="cpp"),
    Language("Rust", (".rs",), nested_comments=True, raw="rust", lifetimes=True, typed_after=True, octal=False),
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
