"""Sources whose numbers are read when the program starts: one build, in which every number is a
call that looks its value up in a table.

C++, Java and Go call functions in initializers. In C a function that runs before `main` writes
the numbers again. Lines that a compiler refuses are taken back."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tuner.export.into.definitions import OUTER, Definition, Items, Node, numbers_in
from tuner.export.into.source import Number, SourceText, bytes_of, every_node
from tuner.export.into.types import limits_at

VALUES = "EVALTUNE_VALUES"  # in the environment: the file with the values of numbers
INCLUDED = (".inc", ".inl", ".ipp", ".tpp", ".def")  # in the middle of other files
CPP_SUFFIXES = (".cc", ".cpp", ".cxx", ".c++")
NAME = re.compile(r"[^\W\d]\w*")
NAME_BEFORE = re.compile(r"[\w:]+\s*$")
LABEL = re.compile(r"([\[.])\s*(\w+)\s*\]?\s*=\s*$")
PLACE = re.compile(r"^(?:\[\w+\]\s+)?(?P<file>[^\s:(][^:(\n]*?)(?::\[?|\()(?P<line>\d+)\b")
PACKAGE = re.compile(r"^\s*package\s+(\w+)", re.MULTILINE)
# types that compilers name where a call returns another one
GO_TYPE = re.compile(r"\) as (?:type )?([\w.]+) |mismatched types (?!int |float64 )([\w.]+) and")
SIZED = re.compile(r"u?int\d+|short|byte|char")  # types that need a cast
JAVA_TYPE = re.compile(r"lossy conversion from \w+ to (\w+)")

TEMPLATES = Path(__file__).parent / "templates"
GO_IMPORTS = 'import (evaltuneFmt "fmt"; evaltuneOs "os")'
LANGUAGES = {"C", "C++", "Java", "Go"}
ASSIGNED = "evaltune_assigned"  # the file that compilers name for assignments of C
CONSTEXPR = "constexpr"


@dataclass(frozen=True)
class Site:
    """A number of the sources, with the definition that holds it."""

    number: Number
    definition: Definition

    @property
    def source(self) -> SourceText:
        return self.definition.source

    @property
    def text(self) -> str:
        """The number as the source has it."""
        return self.source.text[self.number.start : self.number.end]


@dataclass(frozen=True)
class _Constexpr:
    """A variable of C++ that is declared `constexpr`: where that word is, and where it ends."""

    word: int
    end: int
    names: frozenset[str]
    in_class: bool


class TableSources:
    """The sources of an engine with calls in place of numbers, but those that were taken back."""

    def __init__(self, root: Path, sources: Sequence[SourceText], sites: Sequence[Site]) -> None:
        self._root, self.sources, self.sites = root, sources, sites
        self.back = {k for k, each in enumerate(sites) if source_language(each) not in LANGUAGES}
        self._casts: dict[int, str] = {}  # types of calls, where they are of another one
        self._strict: set[str] = set()  # names that have to be constant
        suffixes = {path.suffix.lower() for path in root.rglob("*")}
        # headers of C look like those of C++
        self._is_c = ".c" in suffixes and suffixes.isdisjoint(CPP_SUFFIXES)
        self._constexpr = {source: list(_constexpr(source)) for source in sources}
        self._named = defaultdict[str, set[int]](set)
        for k, site in enumerate(sites):
            self._named[site.definition.name].add(k)
            if source_language(site) in ("Go", "Java"):
                types = site.definition.types
                limits = limits_at(site.number, site.source, types, tuple(sources))
                if limits and SIZED.fullmatch(limits.type):
                    self._casts[k] = limits.type

    @property
    def usable(self) -> bool:
        """Whether there is a number in a language in which that is possible."""
        return len(self.back) < len(self.sites)

    def files(self, tree: Path) -> Iterator[tuple[Path, bytes]]:
        """Yield the files that are written, in a copy of the folder."""
        for place, source in enumerate(self.sources):
            path = tree / Path(source.path).relative_to(self._root)
            yield path, bytes_of(self._text(source, place))

    def _text(self, source: SourceText, place: int) -> str:
        language = "C" if self._is_c and source.language.name == "C++" else source.language.name
        if language not in LANGUAGES:
            return source.text
        kept = {
            k: site
            for k, site in enumerate(self.sites)
            if site.source is source and k not in self.back
        }
        late = {k for k, site in kept.items() if language == "C" and _is_assigned(site)}
        edits = [
            (site.number.start, site.number.end, self._call(k, site, place))
            for k, site in kept.items()
            if k not in late
        ]
        edits += [
            (each.word, each.word + len(CONSTEXPR), "const" + " inline" * each.in_class)
            for each in self._constexpr[source]
            if not each.names & self._strict
        ]
        text, count = edited(source.text, edits), str(len(self.sites))
        if language == "Java":
            return text + _template("numbers.java").replace("NAME", f"Evaltune{place}").replace(
                "COUNT", count
            )
        if language == "Go":
            return self._with_go(source, text)
        if Path(source.path).suffix.lower() in INCLUDED:
            return text
        head = _template("numbers.c" if language == "C" else "numbers.cpp").replace("COUNT", count)
        tail = ""
        if late:
            lines = [
                f'#line {min(numbers) + 1} "{ASSIGNED}"\n{text}\n'
                for numbers, text in self._assignments(source, late, place)
            ]
            tail = (
                f"\n#ifndef EVALTUNE_ASSIGN_{place}\n#define EVALTUNE_ASSIGN_{place}\n"
                "__attribute__((constructor(101)))"
                f" static void evaltune_assign_{place}(void) {{\n{''.join(lines)}}}\n#endif\n"
            )
        return f"{head}#line 1\n{text}{tail}"

    def _with_go(self, source: SourceText, text: str) -> str:
        """Return a source of Go with the functions that are called, if it is the first of its
        package; its lines keep their numbers."""
        folder = Path(source.path).parent
        beside = [each for each in self.sources if Path(each.path).parent == folder]
        package = PACKAGE.search(source.code)
        if beside[0] is not source or package is None:
            return text
        head = f"{text[: package.end()]}; {GO_IMPORTS}{text[package.end() :]}"
        return head + _template("numbers.go")

    def _call(self, k: int, site: Site, place: int) -> str:
        language, text = source_language(site), site.text
        if language == "Java":
            call = f"Evaltune{place}.n({k}, {text})"
            return f"({self._casts[k]}) {call}" if k in self._casts else call
        if language == "Go":
            call = f"evaltune{'F' if site.number.is_float else 'N'}({k}, {text})"
            return f"{self._casts[k]}({call})" if k in self._casts else call
        return f"evaltune_n({k}, {text})"

    def _assignments(
        self, source: SourceText, late: set[int], place: int
    ) -> Iterator[tuple[set[int], str]]:
        """Yield the assignments of numbers of C, each with the numbers that it has."""
        at = {self.sites[k].number.start: k for k in late}
        definitions = {id(self.sites[k].definition): self.sites[k].definition for k in late}
        for definition in definitions.values():
            for steps, node in _elements(definition.node, source.text):
                own = {at[n.start]: n for n in numbers_in(node) if n.start in at}
                if not own:
                    continue
                start, end = node.start, node.end
                if isinstance(node, Items) and (
                    name := NAME_BEFORE.search(source.text, max(0, start - 100), start)
                ):
                    start = name.start()
                edits = [
                    (n.start - start, n.end - start, self._call(k, self.sites[k], place))
                    for k, n in own.items()
                ]
                value = " ".join(edited(source.text[start:end], edits).split())
                yield set(own), f"{definition.name}{steps} = {value};"

    def take_back(self, output: str) -> bool:
        """Take back what a compiler refuses, by the lines that it names; return whether anything
        was."""
        before, cast = (len(self.back), len(self._casts), len(self._strict)), dict(self._casts)
        for line in output.splitlines():
            place = PLACE.match(line)
            if place is None or re.search(r"\b(warning|note):|required from|In file", line):
                continue
            number = int(place["line"])
            if place["file"].endswith(ASSIGNED):
                beside = self.sites[number - 1].definition
                self.back.add(number - 1)
                self._take_back_beside(beside, number - 1)
                continue
            source = self._source_of(place["file"])
            own = {
                k
                for k, site in enumerate(self.sites)
                if site.source is source and site.source.line(site.number.start) == number
            } - self.back
            types = GO_TYPE.search(line) or JAVA_TYPE.search(line)
            kind = next(filter(None, types.groups())) if types else ""
            if kind and any(cast.get(k) != kind for k in own):
                self._casts |= dict.fromkeys(own, kind)
            elif own:
                self.back |= own
                for k in own:
                    self._strict.add(self.sites[k].definition.name)
            else:
                for name in NAME.findall(_line(self._root, place["file"], number)):
                    self._make_constant(name)
        return before != (len(self.back), len(self._casts), len(self._strict))

    def _take_back_beside(self, definition: Definition, k: int) -> None:
        """Take back the numbers that are assigned together with one."""
        for _, node in _elements(definition.node, definition.source.text):
            starts = {n.start for n in numbers_in(node)}
            if self.sites[k].number.start in starts:
                own = (j for j in self._named[definition.name])
                self.back |= {j for j in own if self.sites[j].number.start in starts}

    def _make_constant(self, name: str) -> None:
        """Take back the numbers of a name, and of the names in its value."""
        waiting = [name]
        while waiting:
            name = waiting.pop()
            if name in self._strict:
                continue
            known = name in self._named
            self.back |= self._named.get(name, set())
            for source, declared in self._constexpr.items():
                for each in declared:
                    if name in each.names:
                        known = True
                        waiting += NAME.findall(source.code[each.word : each.end])
            if known:
                self._strict.add(name)

    def _source_of(self, file: str) -> SourceText | None:
        """Return the source that a compiler names."""
        parts = [p for p in Path(file).parts if p not in (".", "..", "/")]
        ends = [s for s in self.sources if list(Path(s.path).parts)[-len(parts) :] == parts]
        named = [s for s in self.sources if Path(s.path).name == Path(file).name]
        return next(iter(ends or (named if len(named) == 1 else [])), None)


@cache
def _template(name: str) -> str:
    return (TEMPLATES / name).read_text(encoding="utf-8")


def source_language(site: Site) -> str:
    """Return the name of the language of a number's source."""
    return site.source.language.name


def _is_assigned(site: Site) -> bool:
    """Return whether a number of C is written by a function, since its initializer is constant."""
    return site.definition.kind == OUTER and "define" not in site.definition.types


def _elements(node: Node, text: str, steps: str = "") -> Iterator[tuple[str, Node]]:
    """Yield the values of a list of C that can be assigned, each with the steps to it."""
    if not isinstance(node, Items) or node.called:
        yield steps, node
        return
    for k, (value, label) in enumerate(zip(node.values, node.labels, strict=True)):
        step = f"[{k}]"
        if label is not None:
            before = LABEL.search(text, max(0, value.start - 200), value.start)
            step = f".{label}" if before and before[1] == "." else f"[{label}]"
        yield from _elements(value, text, steps + step)


def _constexpr(source: SourceText) -> Iterator[_Constexpr]:
    """Yield the variables of a source of C++ that are constexpr."""
    if source.language.name != "C++":
        return
    for node in every_node(source.root):
        if node.type not in ("declaration", "field_declaration"):
            continue
        values = ("init_declarator", "initializer_list")
        has_value = any(c.type in values for c in node.named_children)
        has_value = has_value or node.child_by_field_name("default_value") is not None
        words = [c for c in node.named_children if c.type == "type_qualifier"]
        own = [c for c in words if source.text[c.start_byte : c.end_byte] == CONSTEXPR]
        if own and has_value:
            head = source.code[node.start_byte : node.end_byte]
            names = frozenset(NAME.findall(head.partition("=")[0].partition("{")[0]))
            yield _Constexpr(
                own[0].start_byte,
                node.end_byte,
                names - {CONSTEXPR, "const", "static", "inline", "int", "auto"},
                node.type == "field_declaration",
            )


def edited(text: str, edits: Iterable[tuple[int, int, str]]) -> str:
    """Return a text with pieces replaced."""
    pieces, at = [], 0
    for start, end, new in sorted(edits):
        pieces += [text[at:start], new]
        at = end
    return "".join([*pieces, text[at:]])


def _line(tree: Path, file: str, number: int) -> str:
    """Return a line of a file of a folder that a compiler names; empty if it is not found."""
    parts = [part for part in Path(file).parts if part not in (".", "..", "/")]
    matching = [p for p in tree.rglob(parts[-1]) if list(p.parts)[-len(parts) :] == parts]
    matching = matching or sorted(tree.rglob(parts[-1]))
    if not matching or not matching[0].is_file():
        return ""
    lines = matching[0].read_bytes().decode("latin-1").splitlines()
    return lines[number - 1] if number <= len(lines) else ""


def values_text(values: Mapping[int, float]) -> str:
    """Return the values of numbers as a program with calls reads them."""
    return "".join(f"{k} {value:.12g}\n" for k, value in values.items())
