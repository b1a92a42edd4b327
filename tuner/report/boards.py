"""Tables of weights as boards: a cell for each number, the last row on top."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tuner.layout import Place
from tuner.parameters import Parameters
from tuner.quantile import NORMAL
from tuner.report.text import number, signed

STRONGEST = 0.9  # opacity of the largest number of a board
LEAST = 0.5  # centipawns, a difference that is written as one
WEAK = 0.3  # how much of its colour a difference keeps that may be chance


@dataclass(frozen=True)
class Cell:
    """A number: its text, its sign as the name of a colour, how strong that is, and what else marks it ("weak": it may be
    chance; "unknown": not identified); `said` is the whole of it in words."""

    text: str
    colour: str
    strength: float
    mark: str
    said: str


@dataclass(frozen=True)
class Board:
    """Cells of initial values, learned ones or their difference; `largest` is the number of the strongest colour."""

    kind: str
    rows: list[list[Cell]]
    largest: float


@dataclass(frozen=True)
class Table:
    """The boards of a parameter in one stage."""

    parameter: str
    stage: str
    boards: list[Board]


def tables(initial: Parameters, learned: Parameters) -> list[Table]:
    """All parameters with rows and columns, stage by stage."""
    return [_table(place, s, stage, initial, learned) for place in learned.layout.places if len(place.shape) > 1
            for s, stage in enumerate(learned.stages)]


def _table(place: Place, s: int, stage: str, initial: Parameters, learned: Parameters) -> Table:
    shape = (-1, place.shape[-1])
    before, after = (p.weights[s, place.columns].reshape(shape) for p in (initial, learned))
    errors = np.zeros(before.shape) if learned.standard_errors is None else \
        learned.standard_errors[s, place.columns].reshape(shape)
    labels = np.array(place.labels()).reshape(shape)
    change = after - before
    known = learned.standard_errors is not None
    most = max(np.abs(before).max(), np.abs(after).max())
    boards = []
    furthest = np.abs(change).max()
    furthest = furthest if furthest >= LEAST else 0.0
    for kind, numbers, largest in (("initial", before, most), ("learned", after, most), ("difference", change, furthest)):
        rows = []
        for i in range(len(numbers) - 1, -1, -1):
            rows.append([_cell(kind, float(numbers[i, j]), float(largest), float(errors[i, j]) if known else None,
                               _said(labels[i, j], before[i, j], after[i, j], float(errors[i, j]) if known else None))
                         for j in range(numbers.shape[1])])
        boards.append(Board(kind, rows, float(largest)))
    return Table(place.path, stage if len(learned.stages) > 1 else "", boards)


def _cell(kind: str, value: float, largest: float, error: float | None, said: str) -> Cell:
    strength = STRONGEST * abs(value) / largest if largest > 0 else 0.0
    mark = ""
    if kind != "initial" and error is not None and np.isnan(error):
        mark = "unknown"
    elif kind == "difference" and error and abs(value) <= NORMAL * error:
        mark, strength = "weak", strength * WEAK
    text = signed(value, 0) if kind == "difference" else number(value, 0)
    return Cell(text, "more" if value > 0 else "less", round(strength, 2), mark, said)


def _said(label: str, before: float, after: float, error: float | None) -> str:
    change = signed(after - before) or "unchanged"
    return f"{label}: {number(before)} → {number(after)}, {change}{error_text(error)}"


def error_text(error: float | None) -> str:
    """What is known of a number's error, to stand behind it."""
    if error is None:
        return ""
    if np.isnan(error):
        return ", not identified"
    return f" ± {number(NORMAL * error)}" if error else ", held"
