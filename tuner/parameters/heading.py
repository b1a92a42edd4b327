"""What a parameter file says before its numbers are read: its game, and which terms take part."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from games.record import available
from games.streams import InputError
from tuner.io.text import one_line
from tuner.parameters.own_layout import NAME, of_rows
from tuner.parameters.yaml_tree import read_tree


class Heading(NamedTuple):
    """What a parameter file says before its numbers: game, whether another program counts the terms, names of the terms."""

    game: str
    of_rows: bool
    terms: tuple[str, ...]
    line: int  # of the game


def heading_of(path: Path) -> Heading:
    """Read the heading of a parameter file; InputError if the game is missing, or unknown although its rules are needed."""
    root = read_tree(Path(path))
    if not isinstance(root.value, dict) or "game" not in root.value or not isinstance(root.value["game"].value, str):
        raise InputError(f"{path}:{root.line}: game is missing, expected for example `game: chess`")
    node, rows = root.value["game"], of_rows(root.value)
    if rows and not NAME.fullmatch(node.value):
        raise InputError(f"{path}:{node.line}: game is {one_line(node.value)[:40]!r}, expected a name")
    if not rows and node.value not in available():
        raise InputError(f"{path}:{node.line}: unknown game {node.value[:40]!r}; available: {', '.join(available())} (terms that "
                         "another program counts need `terms: rows` in this file)")
    weights = root.value.get("weights")
    names = tuple(weights.value) if weights is not None and isinstance(weights.value, dict) else ()
    return Heading(node.value, rows, names, node.line)


def game_of(path: Path) -> str:
    """Read the game of a parameter file; InputError if it is missing or unknown."""
    return heading_of(path).game
