"""The layout that a parameter file itself gives, for terms that another program counts (`terms: rows`)."""

from __future__ import annotations

import re

from tuner.parameters.checks import Checks, shown
from tuner.parameters.layout import Layout, Place
from tuner.parameters.yaml_tree import Node

ROWS = "rows"  # the value of `terms`
NAME = re.compile(r"[^\W\d](?:[^.\[\]:*?,\"'\x00-\x1f\x7f]{0,98}[^.\[\]:*?,\"'\s\x00-\x1f\x7f])?")
MOST_COLUMNS = 1 << 16  # of a dataset
MOST_DIMENSIONS = 8


def of_rows(top: dict[str, Node]) -> bool:
    """Return whether the terms of a file, given by its top level, are counted by another program."""
    return "terms" in top and top["terms"].value == ROWS


def layout_of_file(checks: Checks, weights: Node, stages: tuple[str, ...]) -> Layout:
    """Return names and shapes of the weights in the order of the file; InputError for a wrong name or an empty file."""
    places: list[Place] = []
    first = 0
    for term, entries in checks.mapping(weights, "weights").items():
        for name, node in checks.mapping(entries, _named(checks, entries, term)).items():
            _named(checks, node, name)
            places.append(Place(term, name, _shape(checks, node, f"{term}.{name}", stages), first))
            first += places[-1].size
            if first > MOST_COLUMNS:
                checks.fail(node, f"{places[-1].path} ends at number {first:,}, expected at most {MOST_COLUMNS:,} in a file")
    if not places:
        checks.fail(weights, "weights names no parameter; expected terms with parameters, such as `mobility: {knight: [0, 0]}`")
    return Layout(tuple(places))


def _named(checks: Checks, node: Node, name: str) -> str:
    if not NAME.fullmatch(name):
        checks.fail(node, f"{name[:40]!r} is not a name, expected a letter, then letters, digits, blanks, _ or -")
    return name


def _shape(checks: Checks, node: Node, what: str, stages: tuple[str, ...]) -> tuple[int, ...]:
    """Return the shape of a parameter, taken from its first stage; the reader compares the numbers with it."""
    if len(stages) > 1:
        entries = checks.mapping(node, what)
        if stages[0] not in entries:
            checks.fail(node, f"{what} lacks the stage {stages[0]}")
        node = entries[stages[0]]
    shape: list[int] = []
    while isinstance(node.value, list):
        shape.append(len(node.value))
        if not node.value or len(shape) > MOST_DIMENSIONS:
            checks.fail(node, f"{what} is {'an empty list' if not node.value else 'nested too deeply'}, expected numbers")
        node = node.value[0]
    if isinstance(node.value, dict):
        checks.fail(node, f"{what} is {shown(node)}, expected a number or a list of numbers")
    return tuple(shape)
