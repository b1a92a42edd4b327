"""Tables as boards: what stands where, how strong its color is, and what marks it."""

from dataclasses import replace

import numpy as np
import pytest

from tests.tuner.report.support import learned_from
from tuner.evaluation.loading import load_parameters
from tuner.parameters.diff import compare
from tuner.parameters.parameters import Layout, Parameters, Place
from tuner.report.weights import significance_of, tables


def tables_of(initial: Parameters, learned: Parameters):
    found = compare((initial, learned))
    return tables(found, significance_of(found))[0]


@pytest.fixture(scope="module")
def pair():
    initial = load_parameters("classic")
    return initial, learned_from(initial)


def number_of(text: str) -> int:
    return int(text.replace("−", "-") or 0)


def test_boards_stand_as_they_do_in_the_file(pair):
    """The text of the file has the last row on top too."""
    initial, learned = pair
    lines = [line.strip() for line in open("params/chess/classic.yaml", encoding="utf-8")]
    begin = lines.index("pawn:", lines.index("piece_square:")) + 2
    written = [
        [int(number) for number in line.removeprefix("- [").removesuffix("]").split(",")]
        for line in lines[begin : begin + 8]
    ]
    table = tables_of(initial, learned)[0]
    assert (table.parameter, table.stage) == ("piece_square.pawn", "mg")
    assert [[number_of(cell.text) for cell in row] for row in table.boards[0].rows] == written
    assert table.boards[0].rows[1][2].said.startswith("piece_square.pawn[6][2]: 61.0 → ")


def test_differences_that_may_be_chance_are_faint_and_unknown_ones_marked(pair):
    initial, learned = pair
    marks = {"weak": 0, "unknown": 0, "": 0}
    for s, stage in enumerate(learned.stages):
        for table, place in zip(
            [t for t in tables_of(initial, learned) if t.stage == stage],
            [p for p in learned.layout.places if len(p.shape) == 2],
            strict=True,
        ):
            change = (learned.weights - initial.weights)[s, place.columns].reshape(place.shape)[
                ::-1
            ]
            error = learned.standard_errors[s, place.columns].reshape(place.shape)[::-1]
            for i, row in enumerate(table.boards[2].rows):
                for j, cell in enumerate(row):
                    marks[cell.mark] += 1
                    z = abs(change[i, j]) / error[i, j] if error[i, j] else np.inf
                    assert cell.mark == (
                        "unknown" if np.isnan(error[i, j]) else "weak" if z <= 1.96 else ""
                    )
                    share = (
                        abs(change[i, j]) / abs(change).max() * (0.3 if cell.mark == "weak" else 1)
                    )
                    assert cell.strength == pytest.approx(0.9 * share, abs=0.0051)
                    if cell.strength:
                        assert cell.colour == ("more" if change[i, j] > 0 else "less")
                    assert number_of(cell.text) == pytest.approx(change[i, j], abs=0.51)
                    assert ("not identified" in cell.said) == (cell.mark == "unknown")
                    assert ("held" in cell.said) == (error[i, j] == 0)
    assert min(marks.values()) > 50


def test_without_standard_errors_nothing_is_judged_so_nothing_is_pale(pair):
    initial, learned = pair
    for table in tables_of(initial, replace(learned, standard_errors=None)):
        for board in table.boards:
            assert {cell.mark for row in board.rows for cell in row} == {""}


def test_tables_of_any_size_are_boards():
    layout = Layout((Place("a", "flat", (2, 5), 0), Place("a", "deep", (2, 3, 4), 10)))
    weights = np.arange(34.0)[None]
    one = Parameters("tictactoe", layout, ("all",), weights)
    flat, first, second = tables_of(one, one)
    assert [[number_of(cell.text) for cell in row] for row in flat.boards[1].rows] == [
        [5, 6, 7, 8, 9],
        [0, 1, 2, 3, 4],
    ]
    assert (first.parameter, second.parameter) == ("a.deep[0]", "a.deep[1]")
    assert len(first.boards[1].rows) == len(second.boards[1].rows) == 3
    assert second.boards[1].rows[0][3].said.startswith("a.deep[1][2][3]: 33.0")
    assert flat.stage == "" and flat.boards[2].largest == 0.0
