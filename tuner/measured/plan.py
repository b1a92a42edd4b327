"""What is measured: sources with numbers, their build, and the program that evaluates."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path

from games.record import available
from games.streams import InputError
from games.system import split
from tuner.core.records import Count, PositiveCount, Scalar
from tuner.export.into.source import language_of, load_parser
from tuner.measured.evals import UCI, Evals
from tuner.parameters.yaml_tree import convert_tree, read_tree

GROUPS = re.compile(r"(?<!\\)\((?!\?)")


@dataclass(frozen=True)
class SourceFiles:
    """The sources with the numbers: the folder that is copied and built, the files in it, and what
    `tuner export --into` is told about them. `only` are names or globs of what is measured."""

    files: list[str]
    folder: str = "."
    map: str | None = None
    flip: bool = False
    decimals: Count = 0
    only: list[str] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class EvalsPlan:
    """Sources that are built by `build`, after which `evals` prints evaluations: a command, or
    `uci:COMMAND` and `eval_line`, a pattern whose group is the number that its `eval` prints."""

    evals: str
    source: SourceFiles
    build: str
    game: str = "chess"
    eval_line: str | None = None
    workers: PositiveCount | None = None
    options: dict[str, Scalar] = field(default_factory=dict)


def read_evals_plan(path: Path) -> EvalsPlan:
    """Read the part of a plan that says what is measured; the rest is that of a loop."""
    tree = read_tree(path)
    if isinstance(tree.value, dict):
        known = {each.name for each in fields(EvalsPlan)}
        tree = tree._replace(value={k: v for k, v in tree.value.items() if k in known})
    evals: EvalsPlan = convert_tree(tree, EvalsPlan, path)
    base = Path(os.path.abspath(path)).parent
    names = None if evals.source.map is None else str(base / evals.source.map)
    folder = os.path.normpath(base / evals.source.folder)
    source = SourceFiles(**{**vars(evals.source), "folder": folder, "map": names})
    evals = EvalsPlan(**{**vars(evals), "source": source})
    require_sources(evals.source, evals.build, str(path))
    require_evals(evals, str(path))
    return evals


def require_evals(plan: EvalsPlan, place: str) -> None:
    """InputError if a plan names no program that evaluates, or no game."""
    evals_of(plan.evals, plan.eval_line, plan.options, place)
    if plan.game not in available():
        raise InputError(f"{place}: game: {plan.game}, expected {', '.join(available())}")


def require_sources(source: SourceFiles, build: str, place: str) -> None:
    """InputError for sources that are not there, or cannot be built in a copy of their folder."""
    if not source.files:
        raise InputError(f"{place}: source.files is empty, expected the files with the numbers")
    folder = Path(source.folder)
    if not os.path.isdir(folder):  # which takes names of any length
        raise InputError(f"{place}: source.folder is {folder}, which is no folder")
    if not build.strip():
        raise InputError(f"{place}: build is empty, expected a command")
    if re.search(rf"{re.escape(str(folder))}(?![\w.-])", build):
        raise InputError(
            f"{place}: build names {folder} itself, expected names relative to the folder: versions"
            " are built in copies of it"
        )
    if len(set(source.files)) < len(source.files):
        raise InputError(f"{place}: source.files names a file twice")
    for name in source.files:
        inside = Path(os.path.normpath(folder / name))
        if folder not in inside.parents:
            raise InputError(f"{place}: source.files: {name} is not in {folder}, which is copied")
        if not os.path.isfile(inside):
            raise InputError(f"{place}: source.files: {name}: no such file in {folder}")
        load_parser(language_of(inside))
    if source.map is not None and not os.path.exists(source.map):
        raise InputError(f"{place}: source.map: {source.map}: no such file")


def evals_of(command: str, line: str | None, options: Mapping[str, Scalar], place: str) -> Evals:
    """Return the program that a plan names; InputError if it names none."""
    is_uci = command.startswith(UCI)
    if is_uci and (line is None or len(GROUPS.findall(line)) != 1 or not _compiles(line)):
        raise InputError(
            f"{place}: eval_line is {line!r}, expected a pattern with one group, the number that"
            r" `eval` prints, such as 'Final evaluation +([-+]?[\d.]+)'"
        )
    if not is_uci and line is not None:
        raise InputError(f"{place}: eval_line is of `evals: uci:COMMAND`; leave it out")
    text = command.removeprefix(UCI)
    try:
        words = split(text)
    except ValueError as problem:
        raise InputError(f"{place}: evals: {text}: {str(problem).lower()}") from None
    if not words:
        raise InputError(f"{place}: evals is empty, expected a command")
    return Evals(text, line, options)


def _compiles(pattern: str) -> bool:
    try:
        re.compile(pattern)
    except re.error:
        return False
    return True
