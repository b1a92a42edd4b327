"""Check the values of a YAML file; errors name the file and the line."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, NoReturn

from games.streams import InputError
from tuner.parameters.yaml_tree import Node

LARGEST_WHOLE = 2**63  # of plain data


class Checks:
    """Checks of the nodes of one file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def fail(self, node: Node, text: str) -> NoReturn:
        raise InputError(f"{self.path}:{node.line}: {text}")

    def mapping(self, node: Node, what: str) -> dict[str, Node]:
        if not isinstance(node.value, dict):
            self.fail(node, f"{what} is {shown(node)}, expected a mapping")
        return node.value

    def number(self, node: Node, what: str) -> float:
        if isinstance(node.value, str):
            try:
                value = float(node.value)
            except ValueError:
                value = math.nan
            if math.isfinite(value):
                return value
        self.fail(node, f"{what} is {shown(node)}, expected a number")


def shown(node: Node) -> str:
    """The value of a node for an error message."""
    if isinstance(node.value, str):
        return repr(node.value) if node.value else "empty"
    return "a list" if isinstance(node.value, list) else "a mapping"


def plain(node: Node) -> Any:
    """The tree as plain data; scalars that read as numbers are numbers."""
    if isinstance(node.value, dict):
        return {name: plain(value) for name, value in node.value.items()}
    if isinstance(node.value, list):
        return [plain(value) for value in node.value]
    if node.value == "null":
        return None
    for kind in (int, float):
        try:
            value = kind(node.value)
        except ValueError:
            continue
        if abs(value) < (LARGEST_WHOLE if kind is int else math.inf):
            return value
    return node.value
