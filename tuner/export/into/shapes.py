"""Which number of a definition is which of a parameter: stages first, stages last, rows and columns, or all in one list."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import numpy as np

from tuner.export.into.literals import Number
from tuner.export.into.values import Items, Node, Other

STAGE_NAMES = ({"mg", "midgame", "middlegame", "opening", "mid"}, {"eg", "endgame", "ending", "end", "late"})
STEP = re.compile(r"\[([^\[\]]+)\]|\.(\w+)")


class ShapeError(Exception):
    """A definition does not hold the numbers of a parameter; the text says what it holds, and where that begins."""

    def __init__(self, text: str, start: int) -> None:
        super().__init__(text)
        self.start = start


def stage_words(stage: str) -> set[str]:
    """The names of a stage in sources, in lower case: `midgame` for mg, `endgame` for eg."""
    return next((names for names in STAGE_NAMES if stage.lower() in names), set()) | {stage.lower()}


def parts_of(node: Node, path: str) -> Node:
    """Return a part of a value: `[2]`, `[KNIGHT]`, `.mg`, one after another; `[*]` takes what follows of every item."""
    match = STEP.match(path)
    if match is None:
        return node
    step, rest = (match[1] or match[2]).strip(), path[match.end():]
    if not isinstance(node, Items):
        raise ShapeError(f"has no item {match[0]}: it is {_kind(node)}", node.start)
    if step == "*":
        return Items(tuple(parts_of(value, rest) for value in node.values), node.labels, False, node.start)
    if step in node.labels:
        return parts_of(node.values[node.labels.index(step)], rest)
    if step.isdigit() and int(step) < len(node.values) and not any(node.labels):
        return parts_of(node.values[int(step)], rest)
    names = ", ".join(label for label in node.labels if label)
    items = f"its items are {names}" if names else f"it has {len(node.values)}"
    if not names and not step.isdigit():
        items += ", without names: write its index, from 0"
    raise ShapeError(f"has no item {match[0]}, {items}", node.start)


def numbers_of(node: Node, stages: Sequence[str], shape: tuple[int, ...]) -> list[list[Number]]:
    """Return the numbers of a value for each stage, row after row. ShapeError if it has other ones, or if their order is open."""
    dims, numbers, stage_axis, pairs = _regular(node, stages)
    places = np.arange(len(numbers)).reshape(dims)
    if stage_axis is not None:
        places = np.moveaxis(places, stage_axis, 0)
        orders = [0]
    else:
        orders = [0] if len(stages) == 1 else [-1] if pairs else [0, -1]
    wanted = {tuple(n for n in form if n > 1) for form in (shape, (math.prod(shape),))}
    found = []
    for order in orders:
        moved = places[None] if len(stages) == 1 else _with_stage_first(places, order, len(stages))
        if moved is not None and tuple(n for n in moved.shape[1:] if n > 1) in wanted:
            found.append(moved.reshape(len(stages), -1))
    if not found:
        sizes = " x ".join(str(n) for n in (*((len(stages),) if len(stages) > 1 else ()), *shape)) or "1"
        raise ShapeError(f"has {' x '.join(map(str, dims)) or 'one'} number{'s' * (len(numbers) != 1)}, expected {sizes}"
                         + (f" (stages {', '.join(stages)})" if len(stages) > 1 else ""), node.start)
    if any((other != found[0]).any() for other in found):
        raise ShapeError(f"has {' x '.join(map(str, dims))} numbers, and either the first or the last may be the stages; name "
                         f"them in the map as `{{{stages[0]}: 'NAME[0]', {stages[1]}: 'NAME[1]'}}` or "
                         f"`{{{stages[0]}: 'NAME[*][0]', {stages[1]}: 'NAME[*][1]'}}`", node.start)
    return [[numbers[k] for k in row] for row in found[0].tolist()]


def _with_stage_first(places: np.ndarray, order: int, stages: int) -> np.ndarray | None:
    """The array with its first or last axis, of those longer than 1, in front; None if that is not as long as the stages."""
    squeezed = places.squeeze()
    if not squeezed.ndim or squeezed.shape[order] != stages:
        return None
    return np.moveaxis(squeezed, order, 0)


def _regular(node: Node, stages: Sequence[str]) -> tuple[tuple[int, ...], list[Number], int | None, bool]:
    """Lengths of nested lists that are all alike, their numbers, the axis of the stages if its items are named by them, and
    whether the innermost lists are calls with a number for each stage: `S(mg, eg)`."""
    if isinstance(node, Number):
        return (), [node], None, False
    if isinstance(node, Other):
        raise ShapeError(f"holds {node.reason}, expected numbers", node.start)
    values = _in_order(node, stages)
    if not values:
        raise ShapeError("is an empty list", node.start)
    inner = [_regular(value, stages) for value in values]
    for value, other in zip(values, inner, strict=True):
        if other[0] != inner[0][0] or other[2] != inner[0][2]:
            raise ShapeError(f"has lists of different lengths: {_sizes(inner[0][0])} and {_sizes(other[0])}",
                             value.start)
    dims, axis = inner[0][0], inner[0][2]
    own = len(stages) > 1 and any(node.labels) and _stage_order(node, stages) is not None
    pairs = inner[0][3] or not dims and node.called and len(values) == len(stages) > 1
    return ((len(values), *dims), [number for other in inner for number in other[1]],
            0 if own else None if axis is None else axis + 1, pairs)


def _in_order(node: Items, stages: Sequence[str]) -> list[Node]:
    """The items of a list: named items in the order of the stages, or of the numbers that they are named by."""
    if not any(node.labels):
        return list(node.values)
    order = _stage_order(node, stages)
    if order is None and all(label is not None and label.isdigit() for label in node.labels):
        places = [int(label) for label in node.labels if label is not None]
        order = [places.index(i) for i in range(len(places))] if sorted(places) == list(range(len(places))) else None
    if order is None:
        names = ", ".join(str(label) for label in node.labels[:4])
        raise ShapeError(f"has items with names ({names}), so their order is open; name each in the map as "
                         f"NAME[{node.labels[0]}]", node.start)
    return [node.values[i] for i in order]


def _stage_order(node: Items, stages: Sequence[str]) -> list[int] | None:
    """For each stage the item that is named by it; None if the items are not the stages."""
    labels = [(label or "").lower() for label in node.labels]
    found = [[i for i, label in enumerate(labels) if label in stage_words(stage)] for stage in stages]
    if len(labels) != len(stages) or any(len(places) != 1 for places in found):
        return None
    return [places[0] for places in found]


def _kind(node: Node) -> str:
    return "one number" if isinstance(node, Number) else node.reason if isinstance(node, Other) else "a list"


def _sizes(dims: tuple[int, ...]) -> str:
    return " x ".join(map(str, dims)) or "one number"
