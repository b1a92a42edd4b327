"""Boards of the page: tables of weights with a cell for each number and the last row on top."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tuner.parameters.diff import Comparison
from tuner.parameters.layout import Place
from tuner.report.formatting import number, signed
from tuner.report.significance import CHANCE, HELD, SURE, UNIDENTIFIED, Significance

STRONGEST = 0.9  # opacity of the largest number of a board
LEAST = 0.5  # centipawns; smaller differences are rounded to 0
WEAK = 0.3  # share of the opacity of a number whose change is not significant


@dataclass(frozen=True)
class Cell:
    """A number: its text, the colour of its sign, the opacity of this colour, and a mark ("weak": not significant,
    "unknown": not identified). `said` are the details in words."""

    text: str
    colour: str
    strength: float
    mark: str
    said: str


@dataclass(frozen=True)
class Board:
    """Cells of initial values, learned values or their differences; `largest` is the number at full strength."""

    kind: str
    rows: list[list[Cell]]
    largest: float


@dataclass(frozen=True)
class Table:
    """The boards of a parameter in one stage."""

    parameter: str
    stage: str
    boards: list[Board]


def tables(found: Comparison, significance: Significance) -> list[Table]:
    """The boards of all parameters with rows and columns, stage by stage."""
    return [_table(found, significance, place, s) for place in found.layout.places if len(place.shape) > 1
            for s in range(len(found.stages))]


def _table(found: Comparison, significance: Significance, place: Place, s: int) -> Table:
    shape = (-1, place.shape[-1])
    before, after = (p.weights[s, place.columns].reshape(shape) for p in found.files)
    change, errors, marks = (array[s, place.columns].reshape(shape) for array in (
        found.change[0], (found.evidence.reach * found.evidence.error)[0], significance.marks))
    labels = np.array(place.labels()).reshape(shape)
    most, furthest = float(max(np.abs(before).max(), np.abs(after).max())), float(np.abs(change).max())
    boards = []
    for kind, numbers, largest in (("initial", before, most), ("learned", after, most),
                                   ("difference", change, furthest if furthest >= LEAST else 0.0)):
        rows = [[_cell(kind, float(numbers[i, j]), largest, _faint(kind, marks[i, j]),
                       f"{labels[i, j]}: {number(before[i, j])} → {number(after[i, j])}, "
                       f"{signed(change[i, j]) or 'unchanged'}{error_text(marks[i, j], float(errors[i, j]))}")
                 for j in range(numbers.shape[1])] for i in range(len(numbers) - 1, -1, -1)]
        boards.append(Board(kind, rows, largest))
    return Table(place.path, found.stages[s] if len(found.stages) > 1 else "", boards)


def _faint(kind: str, sure: str) -> str:
    """The mark of a number: changes are weak if not significant."""
    if kind == "initial":
        return ""
    if sure == UNIDENTIFIED:
        return "unknown"
    return "weak" if kind == "difference" and sure == CHANCE else ""


def _cell(kind: str, value: float, largest: float, mark: str, said: str) -> Cell:
    strength = STRONGEST * abs(value) / largest if largest > 0 else 0.0
    if mark == "weak":
        strength *= WEAK
    text = signed(value, 0) if kind == "difference" else number(value, 0)
    return Cell(text, "more" if value > 0 else "less", round(strength, 2), mark, said)


def error_text(sure: str, error: float) -> str:
    """The error of a change as text to append to it."""
    if sure in (CHANCE, SURE) and np.isfinite(error):
        return f" ± {number(error)}"
    return f", {sure}" if sure in (UNIDENTIFIED, HELD) else ""
