"""Parameter files whose terms another program counts: the file itself says which parameters there
are."""

import re
from pathlib import Path

import numpy as np
import pytest

from games.record import available
from tests.support import file_with, refusal
from tuner.evaluation.loading import load_engine, load_parameters
from tuner.parameters.diff import aligned, union_of
from tuner.parameters.parameters import Layout, Parameters, Place
from tuner.parameters.reader import game_of
from tuner.parameters.writer import write_parameters

TEXT = """game: othello
stages: [early, late]
terms: rows
phases: 60
fixed: [discs.corner]
weights:
  discs:
    corner: {early: 800, late: 250}
    edge table:
      early:
        - [1, 2, 3]
        - [4, 5, 6]
      late:
        - [7, 8, 9]
        - [10, 11, 12]
  mobility:
    moves: {early: [0, 5, 8], late: [0, 2, 3]}
"""


def read(folder: Path, text: str) -> Parameters:
    (folder / "my.yaml").write_text(text)
    return load_parameters(folder / "my.yaml")


def test_the_file_gives_game_stages_names_and_shapes(tmp_path):
    p = read(tmp_path, TEXT)
    assert (p.game, p.stages, p.phases, p.of_rows) == ("othello", ("early", "late"), 60, True)
    assert p.layout.describe() == [
        ["discs.corner", []],
        ["discs.edge table", [2, 3]],
        ["mobility.moves", [3]],
    ]
    # the last row of a table is on top
    assert p.weights[0].tolist() == [
        800,
        4,
        5,
        6,
        1,
        2,
        3,
        0,
        5,
        8,
    ]
    assert p.fixed == ("discs.corner",)
    assert read(tmp_path, TEXT.replace("phases: 60\n", "")).phases == 24


def test_it_is_written_as_it_was_read(tmp_path):
    p = read(tmp_path, TEXT)
    write_parameters(tmp_path / "again.yaml", p.with_weights(p.weights + 0.25))
    again = load_parameters(tmp_path / "again.yaml")
    assert (again.game, again.stages, again.phases, again.layout) == (
        p.game,
        p.stages,
        p.phases,
        p.layout,
    )
    assert np.array_equal(again.weights, p.weights + 0.25)


@pytest.mark.parametrize(
    ("old", "new", "where"),
    [
        (
            "terms: rows\n",
            "",
            (
                f":1: unknown game 'othello'; available: {', '.join(available())} (terms that"
                " another program counts"
            ),
        ),
        ("phases: 60", "phases: 1.5", ":4: phases is 1.5, expected a whole number from 1 to 65535"),
        ("phases: 60", "phases: 0", ":4: phases is 0, expected a whole number from 1 to 65535"),
        (
            "late: [0, 2, 3]",
            "late: [0, 2]",
            ":17: mobility.moves.late has 2 numbers, the term declares 3",
        ),
        ("early: [0, 5, 8]", "early: []", ":17: mobility.moves is an empty list, expected numbers"),
        (
            "- [1, 2, 3]\n",
            "- [1, 2]\n",
            ":12: discs.edge table.early has 3 numbers, the term declares 2",
        ),
        ("edge table", "edge.table", ":9: 'edge.table' is not a name, expected a letter"),
        ("  mobility:\n    moves", "  mobility:\n    mo[1]", ":17: 'mo[1]' is not a name"),
        (
            "fixed: [discs.corner]",
            "fixed: [discs.centre]",
            ":5: fixed: 'discs.centre' names no parameter",
        ),
        (
            "corner: {early: 800, late: 250}",
            "corner: {early: 800}",
            ":8: discs.corner lacks the stage late",
        ),
        (TEXT[TEXT.index("weights:") :], "weights: {}\n", ":6: weights names no parameter"),
    ],
)
def test_a_mistake_is_named_with_its_line(tmp_path, old, new, where):
    assert old in TEXT
    said = refusal(read, tmp_path, TEXT.replace(old, new))
    assert said.startswith(f"{tmp_path / 'my.yaml'}{where}")


def test_positions_cannot_be_evaluated(tmp_path):
    read(tmp_path, TEXT)
    assert "my.yaml:3: another program counts these terms (`terms: rows`)" in refusal(
        load_engine, tmp_path / "my.yaml"
    )
    assert game_of(tmp_path / "my.yaml") == "othello"


def test_a_file_decides_which_terms_take_part(tmp_path):
    names = [
        place.path for place in load_parameters("classic").layout.places if place.term == "space"
    ]
    weights = "".join(f"    {name.partition('.')[2]}: {{mg: 3, eg: 1}}\n" for name in names)
    (tmp_path / "part.yaml").write_text(
        f"game: chess\nstages: [mg, eg]\nweights:\n  space:\n{weights}"
    )
    engine, p = load_engine(tmp_path / "part.yaml")
    assert [place.path for place in p.layout.places] == names and engine.layout == p.layout
    whole, all_terms = load_engine("classic")
    found = np.zeros(all_terms.weights.shape)
    found[
        :, [i for i, label in enumerate(all_terms.layout.labels()) if label.startswith("space.")]
    ] = [[3], [1]]
    words = engine.game.position(
        "r1bq1rk1/ppp2ppp/2np1n2/2b1p3/2B1P3/2PP1N2/PP3PPP/RNBQ1RK1 w - - 0 1"
    )[None, :]
    assert engine.evaluate(words, p) == whole.evaluate(words, all_terms.with_weights(found))
    (tmp_path / "none.yaml").write_text("game: chess\nstages: [mg, eg]\nweights: {}\n")
    assert "none.yaml:3: weights names no term" in refusal(load_engine, tmp_path / "none.yaml")


def test_files_with_different_terms_have_a_common_layout():
    one = Layout((Place("a", "x", (), 0), Place("b", "y", (2,), 1)))
    other = Layout((Place("b", "z", (), 0), Place("b", "y", (2,), 1), Place("c", "x", (), 3)))
    both = union_of([one, other])
    assert both.describe() == [["a.x", []], ["b.y", [2]], ["b.z", []], ["c.x", []]]
    p = Parameters(
        "chess",
        other,
        ("all",),
        np.array([[1.0, 2, 3, 4]]),
        standard_errors=np.array([[5.0, 6, 7, 8]]),
    )
    found = aligned(p, both)
    assert found.weights.tolist() == [[0, 2, 3, 1, 4]] and found.standard_errors.tolist() == [
        [0, 6, 7, 5, 8]
    ]
    assert re.search(
        r"^b\.y$", refusal(union_of, [one, Layout((Place("b", "y", (3,), 0),))], error=ValueError)
    )


def test_tied_parameters_have_one_number_and_stay_tied(tmp_path):
    text = (
        "game: chess\nstages: [mg, eg]\nterms: rows\n{}weights:\n"
        "  a: {{b: {{mg: 5, eg: {}}}, c: {{mg: [1, 2], eg: [1, 2]}}}}\n"
    )
    path = file_with(tmp_path / "a.yaml", text.format("tied: [a.b, a.c]\n", 5))
    p = load_parameters(path)
    assert p.tied == ("a.b", "a.c")
    write_parameters(tmp_path / "b.yaml", p)
    assert load_parameters(tmp_path / "b.yaml").tied == p.tied
    for names, eg, said in (("a.b", 6, "does not have the same"), ("a.d", 5, "names no")):
        path.write_text(text.format(f"tied: [{names}]\n", eg))
        assert re.search(said, refusal(load_parameters, path))


def test_one_stage_of_one_number_can_be_named():
    layout = Layout((Place("a", "b", (2, 3), 0), Place("a", "c", (), 6)))
    for name, places in (
        ("a.b[1][2].eg", [(1, 5)]),
        ("a.b[1][2]", [(0, 5), (1, 5)]),
        ("a.c.mg", [(0, 6)]),
        ("a.b[1][2].xx", []),
    ):
        found = np.argwhere(layout.matching(name, ("mg", "eg")))
        assert [tuple(place) for place in found.tolist()] == places


def test_symmetric_tables_mirror_their_left_half_and_stay_so(tmp_path):
    layout = Layout((Place("a", "board", (8, 8), 0), Place("a", "list", (8,), 64)))
    row = [1.0, 2.0, 3.0, 4.0, 4.0, 3.0, 2.0, 1.0]
    weights = np.tile([*(row * 8), *range(8)], (2, 1))
    p = Parameters("othello", layout, ("mg", "eg"), weights, phases=24, symmetric=("a.board",))
    write_parameters(tmp_path / "a.yaml", p)
    assert load_parameters(tmp_path / "a.yaml").symmetric == ("a.board",)
    text = (tmp_path / "a.yaml").read_text()
    for wrong in (
        text.replace('"a.board', '"a.list'),
        text.replace("4, 3, 2, 1]", "4, 3, 2, 0]", 1),
    ):
        (tmp_path / "b.yaml").write_text(wrong)
        assert re.search(
            r"symmetric: a\.\w+ is no table whose right half",
            refusal(load_parameters, tmp_path / "b.yaml"),
        )
