"""Weights as options of an engine: which option each number of a parameter file means, and its whole value."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from games.evaluators import EngineOption
from games.streams import InputError, lines
from tuner.export.names import identifier, unique
from tuner.parameters.checks import Checks
from tuner.parameters.yaml_tree import Node, read_tree

TERM = "options"  # of the parameters that `tuner probe` makes of an engine's options
SETTING = re.compile(r"setoption\s+name\s+(.+?)\s+value\s+(.*)")
PASSED_OVER = ("#", "info ", "option ")  # lines of an export for UCI that set nothing


def parameter_names(options: Sequence[str]) -> list[str]:
    """Return a parameter name for each option of an engine: `Piece_Activity`. The names depend on all its options, so that they
    lead back to them."""
    names = [identifier(name) for name in options]
    return unique([name if name.isidentifier() else f"option_{name}".rstrip("_") for name in names])


def settings_of(path: Path, options: Mapping[str, EngineOption], engine: str) -> tuple[dict[str, str], list[str]]:
    """Return values of the engine's options by their names, and notes about rounding, from a file.

    A parameter file (.yaml) names them as `tuner probe` does, or as `tuner uci --options`; any other file has lines NAME=VALUE or
    `setoption name NAME value VALUE`. InputError for unknown options, and for values out of range.
    """
    numbers = _of_parameters(path, options, engine) if path.suffix in (".yaml", ".yml") else _of_lines(path)
    found: dict[str, str] = {}
    rounded = []
    for where, name, text in numbers:
        option = options.get(name)
        if option is None:
            raise InputError(f"{where}: {engine} has no option {name!r}")
        if name in found:
            raise InputError(f"{where}: the option {name!r} is set twice")
        if option.kind == "spin":
            text, change = _whole(text, where, option, engine)
            rounded += [change] if change else []
        found[name] = text
    notes = [f"{path}: {len(rounded)} of {len(found)} values are rounded to whole numbers, by at most {max(rounded):.2g}"
             ] if rounded else []
    return found, notes


def _whole(text: str, where: str, option: EngineOption, engine: str) -> tuple[str, float]:
    """The whole number nearest to a value, and by how much it differs; InputError if it is out of range."""
    try:
        exact = float(text)
        value = round(exact)
    except (ValueError, OverflowError):
        raise InputError(f"{where}: {option.name!r} is {text[:40]!r}, expected a number") from None
    assert option.low is not None and option.high is not None
    if not option.low <= value <= option.high:
        raise InputError(f"{where}: {option.name!r} is {exact:g}, {engine} accepts {option.low} to {option.high}")
    return str(value), abs(exact - value)


def _of_parameters(path: Path, options: Mapping[str, EngineOption], engine: str) -> Iterator[tuple[str, str, str]]:
    """Place, option and value of each weight of a parameter file, of whatever terms."""
    own = dict(zip(parameter_names(list(options)), options, strict=True))
    checks = Checks(path)
    top = checks.mapping(read_tree(path), "the file")
    if "weights" not in top:
        raise InputError(f"{path}: weights is missing, expected a parameter file")
    for term, entries in checks.mapping(top["weights"], "weights").items():
        for name, entry in checks.mapping(entries, term).items():
            stages = entry.value.items() if isinstance(entry.value, dict) else [("", entry)]
            for stage, node in stages:
                for place, leaf in _leaves(node):
                    label = f"{term}.{name}{place}{'.' * bool(stage)}{stage}"
                    option = own.get(name, "") if term == TERM and not place and not stage else label
                    if option not in options:
                        raise InputError(f"{path}:{leaf.line}: {engine} has no option for {label}; expected weights of its "
                                         "options, as `tuner probe` writes them")
                    yield f"{path}:{leaf.line}", option, str(leaf.value)


def _leaves(node: Node) -> Iterator[tuple[str, Node]]:
    """The numbers of a weight with their indices; grids have their last row on top."""
    if not isinstance(node.value, list):
        yield "", node
        return
    rows = node.value[::-1] if node.value and isinstance(node.value[0].value, list) else node.value
    for i, item in enumerate(rows):
        for place, leaf in _leaves(item):
            yield f"[{i}]{place}", leaf


def _of_lines(path: Path) -> Iterator[tuple[str, str, str]]:
    """Place, option and value of each line that sets one."""
    for number, line in enumerate(lines(path), 1):
        text = line.decode("utf-8", "replace").strip()
        if not text or text.startswith(PASSED_OVER):
            continue
        match = SETTING.fullmatch(text)
        name, separator, value = (match[1], "=", match[2]) if match else text.partition("=")
        if not separator or not name.strip():
            raise InputError(f"{path}:{number}: {text[:40]!r}, expected NAME=VALUE or setoption name NAME value VALUE")
        yield f"{path}:{number}", name.strip(), value.strip()
