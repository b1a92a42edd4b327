"""Programs that evaluate with other numbers than their source: by lines of their own, by one build
that reads numbers when it starts, or by a build for each."""

import os
import re
import shutil
import stat
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from queue import SimpleQueue
from typing import Protocol

import numpy as np

from games.streams import InputError
from tuner.export.into.source import SourceText, bytes_of, spelled
from tuner.measured.copies import BuildFault, build_in, copy_folder, touch_sources, words_in
from tuner.measured.evals import Evals, EvalsFault, evaluate
from tuner.measured.table import VALUES, Site, TableSources, edited, values_text

ROUNDS = 4  # of taking back what a compiler refuses
LOG, TREE = "build.log", "engine"
COMPILERS = ("cc", "gcc", "c++", "g++", "clang", "clang++")
QUICK = "-O1 -fno-lto -w"  # of compilers of C and C++, after the options of the build
QUICK_CARGO = {  # the same of Rust
    "CARGO_PROFILE_RELEASE_LTO": "off",
    "CARGO_PROFILE_RELEASE_OPT_LEVEL": "1",
    "CARGO_PROFILE_RELEASE_INCREMENTAL": "true",
    "CARGO_PROFILE_RELEASE_CODEGEN_UNITS": "64",
}
ALL_ERRORS = {  # options with which compilers show all errors
    "GOFLAGS": "-gcflags=-e",
    "JDK_JAVAC_OPTIONS": "-Xmaxerrs 100000",
    "CCC_OVERRIDE_OPTIONS": "+-ferror-limit=0",
}
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"]([^>"]+)[>"]', re.MULTILINE)


class Program(Protocol):
    """A program that evaluates with other values of numbers, by their places; `possible` are
    those that it can change."""

    possible: frozenset[int]

    def evaluate(
        self, values: Mapping[int, float], texts: Sequence[str], seconds: float
    ) -> np.ndarray:
        """Return the evaluations (n,) of positions; EvalsFault for a fault of the program."""
        ...


class WithLines:
    """A program that understands `set NAME VALUE` before the positions."""

    def __init__(self, evals: Evals, names: Sequence[str]) -> None:
        self.evals, self.names = evals, names
        self.possible = frozenset(range(len(names)))

    def evaluate(
        self, values: Mapping[int, float], texts: Sequence[str], seconds: float
    ) -> np.ndarray:
        """See `Program`."""
        lines = [f"set {self.names[k]} {value:.12g}" for k, value in values.items()]
        return evaluate(self.evals, texts, seconds, before=lines)


class WithTable:
    """A program whose numbers are read when it starts, see `tuner.measured.table`."""

    def __init__(self, evals: Evals, possible: frozenset[int]) -> None:
        self.evals, self.possible = evals, possible

    def evaluate(
        self, values: Mapping[int, float], texts: Sequence[str], seconds: float
    ) -> np.ndarray:
        """See `Program`."""
        with tempfile.NamedTemporaryFile("w", suffix=".values") as file:
            file.write(values_text(values))
            file.flush()
            return evaluate(self.evals, texts, seconds, {VALUES: file.name})


class WithBuilds:
    """A build for each change, in copies of the folder, one for each worker."""

    def __init__(
        self,
        folder: Path,
        source: Path,
        command: str,
        evals: Evals,
        sites: Sequence[Site],
        workers: int,
    ) -> None:
        self._command, self._evals, self._sites = command, evals, sites
        self._source, self.possible = source, frozenset(range(len(sites)))
        self._free: SimpleQueue[Path] = SimpleQueue()
        self._environment = quick_compilers(folder)
        for k in range(workers):
            place = folder / f"worker-{k}"
            place.mkdir(parents=True, exist_ok=True)
            copy_folder(source, place / TREE)
            touch_sources(place / TREE)
            self._build(place)
            self._free.put(place)

    def _build(self, place: Path) -> None:
        build_in(place / TREE, self._command, place / LOG, "a number", self._environment)

    def evaluate(
        self, values: Mapping[int, float], texts: Sequence[str], seconds: float
    ) -> np.ndarray:
        """See `Program`."""
        place = self._free.get()
        tree, changed = place / TREE, list[Path]()
        try:
            for source in {self._sites[k].source for k in values}:
                own = {k: v for k, v in values.items() if self._sites[k].source is source}
                path = tree / Path(source.path).relative_to(self._source)
                changed.append(path)
                path.write_bytes(bytes_of(_with_values(source, self._sites, own)))
            if changed:
                touch_users(tree, changed)
                self._build(place)
            return evaluate(in_tree(self._evals, tree), texts, seconds)
        except BuildFault as problem:
            raise EvalsFault(str(problem), "does not compile with another value") from None
        finally:
            for path in changed:
                path.write_bytes((self._source / path.relative_to(tree)).read_bytes())
            touch_users(tree, changed)
            self._free.put(place)


def _with_values(source: SourceText, sites: Sequence[Site], values: Mapping[int, float]) -> str:
    """Return a source with other values of some of its numbers."""
    edits = []
    for k, value in values.items():
        number = sites[k].number
        decimals = 6 if number.is_float else 0
        edits.append((number.start, number.end, spelled(number, value, decimals, number.is_float)))
    return edited(source.text, edits)


def in_tree(evals: Evals, tree: Path) -> Evals:
    """Return a program of a copy."""
    return replace(evals, words=tuple(words_in(tree, evals.command)))


def touch_users(tree: Path, changed: Sequence[Path]) -> None:
    """Make changed files, and all that include them, newer than what was built from them: a build
    may not know which files depend on a header."""
    users: dict[str, list[Path]] = {}
    for path in tree.rglob("*"):
        if path.suffix.lower() in (".c", ".cc", ".cpp", ".cxx", ".h", ".hpp", ".inc", ".hh"):
            for name in INCLUDE.findall(path.read_bytes().decode("latin-1")):
                users.setdefault(Path(name).name, []).append(path)
    waiting, touched = list(changed), set[Path]()
    while waiting:
        path = waiting.pop()
        if path not in touched:
            touched.add(path)
            os.utime(path)
            waiting += users.get(path.name, [])


def quick_compilers(folder: Path) -> dict[str, str]:
    """Return an environment in which the compilers of C, C++ and Rust optimize little, since every
    build is run a few times only."""
    place = folder / "compilers"
    place.mkdir(parents=True, exist_ok=True)
    for name in COMPILERS:
        if (real := shutil.which(name)) is not None:
            script = place / name
            script.write_text(f'#!/bin/sh\nexec "{real}" "$@" {QUICK}\n')
            script.chmod(script.stat().st_mode | stat.S_IXUSR)
    path = f"{place}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    return {"PATH": path, **QUICK_CARGO}


def table_of(
    folder: Path,
    source: Path,
    command: str,
    evals: Evals,
    sources: Sequence[SourceText],
    sites: Sequence[Site],
    base: tuple[Sequence[str], np.ndarray],
) -> WithTable | None:
    """Build the program whose numbers are read when it starts; None if its sources cannot be built
    so, or if it then evaluates differently than `base`, positions and their evaluations (n,)."""
    files = TableSources(source, sources, sites)
    if not files.usable:
        return None
    tree, log = folder / TREE, folder / LOG
    folder.mkdir(parents=True, exist_ok=True)
    environment = quick_compilers(folder) | ALL_ERRORS
    for _ in range(ROUNDS + 1):
        copy_folder(source, tree)
        for path, content in files.files(tree):
            path.write_bytes(content)
        touch_sources(tree)
        try:
            build_in(tree, command, log, "the table of numbers", environment)
            break
        except BuildFault:
            if not files.take_back(log.read_bytes().decode("utf-8", "replace")):
                return None
    else:
        return None
    program = WithTable(in_tree(evals, tree), frozenset(range(len(sites))) - files.back)
    texts, expected = base
    try:
        evaluated = program.evaluate({}, texts, 600.0)
    except InputError:
        return None
    return program if program.possible and (evaluated == expected).all() else None
