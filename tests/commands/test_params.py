"""`tuner params`: checking a file, and starting one."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.commands.support import done, refused, tuner
from tests.tuner.datasets.rows.files import write_rows
from tests.tuner.datasets.rows.support import ENGINE, random_rows
from tuner.evaluation.loading import load_parameters
from tuner.evaluation.networks.files import holds_network
from tuner.io.files import bundled
from tuner.parameters.writer import to_text
from tuner.parameters.yaml_tree import comments_of, read_source


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_a_new_file_has_the_bundled_terms_that_are_named():
    ran = done("params", "--new", "material", "mobility", "-o", "small.yaml")
    p = load_parameters("small.yaml")
    assert {place.term for place in p.layout.places} == {
        "material",
        "mobility",
    } and not p.weights.any()
    assert not p.of_rows and p.stages == ("mg", "eg")
    assert "learn them with `tuner tune small.yaml GAMES -o learned.yaml`" in ran.out
    checked = done("params", "small.yaml")
    assert f"small.yaml: chess, {p.layout.size} parameters x 2 stages" in checked.out
    assert "terms that take no part: piece_square, pawns" in checked.out
    assert json.loads(done("params", "small.yaml", "--json").out)["without"][:2] == [
        "piece_square",
        "pawns",
    ]
    whole = done("params", "classic")
    assert "terms that take no part: imbalance, tactics, turn, king_danger, late_scale" in whole.out
    assert "take no part" not in done("params", "modern").out


def test_a_new_file_has_the_parameters_that_another_program_counts():
    done(
        "params",
        "--new",
        "discs.corner",
        "discs.edge[4][2]",
        "mobility.moves[12]",
        "--game",
        "othello",
        "--stages",
        "all",
        "--phases",
        60,
        "-o",
        "o.yaml",
    )
    p = load_parameters("o.yaml")
    assert p.of_rows and (p.game, p.stages, p.phases) == ("othello", ("all",), 60)
    assert p.layout.describe() == [
        ["discs.corner", []],
        ["discs.edge", [4, 2]],
        ["mobility.moves", [12]],
    ]
    told = done("params", "o.yaml").out
    assert (
        "othello, 21 parameters x 1 stages, scale 0.00255, counted by another program in 60 steps"
        in told
    )


def test_a_new_file_has_the_parameters_of_rows():
    write_rows("rows.jsonl", [random_rows(1, 200, ENGINE)], ENGINE)
    ran = done("params", "--from-rows", "rows.jsonl", "-o", "mine.yaml")
    p = load_parameters("mine.yaml")
    assert sorted(p.layout.describe()) == sorted(ENGINE.describe()) and (p.stages, p.phases) == (
        ("mg", "eg"),
        24,
    )
    assert "every number is 0: read those of your engine with" in ran.out
    assert np.array_equal(p.weights, np.zeros((2, ENGINE.size)))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("", "params: nothing named; expected a parameter file, such as classic"),
        (
            "--new -o a.yaml",
            (
                "params --new: nothing named; expected terms or parameters, such as"
                " 'mobility.knight[9]'"
            ),
        ),
        ("--new material", "--new: expected -o OUT, the file to write"),
        (
            "--new materiel -o a.yaml",
            "materiel: no term of chess, which has material, piece_square",
        ),
        (
            "--new material x.y -o a.yaml",
            "material: not a parameter, expected term.name, with its shape",
        ),
        ("--new x.y[0] -o a.yaml", "x.y[0]: has a size of 0, expected 1 or more"),
        ("--new x.y[9] x.y -o a.yaml", "x.y: x.y is named twice"),
        (
            "--new x.y[99999999] -o a.yaml",
            "x.y[99999999]: the parameters are 99,999,999 numbers, expected at most 16,777,216",
        ),
        (
            "--new x.y --stages a b c -o a.yaml",
            "--stages a b c: expected one or two different names, such as mg eg",
        ),
        (
            "--new material --game othello -o a.yaml",
            "--game othello: its terms are not known; name parameters",
        ),
        (
            "--new material --phases 24 -o a.yaml",
            "--phases 24: chess has its own phase; leave it out",
        ),
        ("--new x.y --game a.b -o a.yaml", "--game a.b: not a name"),
        ("--new x.y -o there.yaml", "there.yaml: exists"),
        ("--from-rows nothing.jsonl -o a.yaml", "nothing.jsonl: no such file"),
        ("classic classic", "classic: a second file, expected one; or --new before names"),
        ("classic --phases 3", "--phases: only --new and --from-rows use it; leave it out"),
        (
            "mine.yaml --add-missing -o a.yaml",
            "mine.yaml: another program counts its terms, so the file itself says which there are",
        ),
        (
            "mine.yaml --terms x.py",
            (
                "--terms x.py: another program counts the terms of mine.yaml, so the file itself"
                " says which"
            ),
        ),
        (
            "--from-rows rows.jsonl --terms x.py -o a.yaml",
            "--terms x.py: another program counts the terms of rows; leave it out",
        ),
    ],
)
def test_a_mistake_is_one_line_and_writes_nothing(arguments, said):
    Path("there.yaml").write_text("mine")
    done("params", "--new", "x.y", "-o", "mine.yaml")
    assert refused("params", *arguments.split()).startswith(f"tuner: {said}")
    assert sorted(path.name for path in Path().iterdir()) == ["mine.yaml", "there.yaml"]
    assert Path("there.yaml").read_text() == "mine"


def test_params_summarises_a_file_and_adds_what_it_lacks(tmp_path):
    said = json.loads(done("params", "tictactoe/classic", "--json").out)
    assert (said["game"], said["parameters"], said["stages"]) == ("tictactoe", 7, ["all"])
    assert sum(said["terms"].values()) == 7
    path, full = tmp_path / "short.yaml", load_parameters("tictactoe/classic")
    weights = "{lines: {win: 250.5}, squares: {tempo: 3}}"
    path.write_text(
        f"game: tictactoe\nscale: 0.004\nstages: [all]\nfixed: ['lines.*']\nweights: {weights}\n"
    )
    assert tuner("params", path).status == 2
    ran = done("params", path, "--add-missing", "-o", tmp_path / "full.yaml")
    assert "full.yaml: added lines.open, squares.centre, squares.corner, squares.edge\n" in ran.out
    found = load_parameters(tmp_path / "full.yaml")
    place = next(place for place in full.layout.places if place.path == "lines.win")
    assert found.weights[0, place.first] == 250.5 and np.count_nonzero(found.weights) == 2
    assert (found.scale, found.fixed) == (0.004, ("lines.*",))
    assert "weights: {lines" in path.read_text()  # the file itself is as it was
    again = done("params", tmp_path / "full.yaml", "--add-missing", "-o", tmp_path / "again.yaml")
    assert "added nothing" in again.out
    assert (tmp_path / "again.yaml").read_bytes() == (tmp_path / "full.yaml").read_bytes()


def test_what_a_file_lacks_is_added_to_it_where_all_of_its_lines_stay(tmp_path):
    path = tmp_path / "mine.yaml"
    done("params", "tictactoe/classic", "--add-missing", "-o", path)
    whole = path.read_text()
    lines = [line for line in whole.splitlines() if "open:" not in line and "edge:" not in line]
    path.write_text("\n".join(["# of mine", *lines, ""]))
    ran = done("params", path, "--add-missing")
    assert "mine.yaml: added lines.open, squares.edge\n" in ran.out
    added = whole.replace("open: [10, 60]", "open: [0, 0]").replace("edge: 10", "edge: 0")
    assert path.read_text() == f"# of mine\n{added}"
    before = path.stat()
    assert "wrote" not in done("params", path, "--add-missing").out and path.stat() == before
    untidy = path.read_text().replace("    edge: 0\n", "").replace("tempo: ", "tempo:   ")
    path.write_text(untidy)
    line = 1 + [line.startswith("    tempo:   ") for line in untidy.splitlines()].index(True)
    said = refused("params", path, "--add-missing")
    assert f"mine.yaml:{line}: this line would be written differently; `tuner params" in said
    assert path.read_text() == untidy


@pytest.mark.parametrize(
    "path", [path for path in bundled().values() if not holds_network(path)], ids=lambda p: p.stem
)
def test_add_missing_keeps_every_line_of_a_bundled_file(path):
    """As a contributor calls it, who has added a term."""
    comments = comments_of(read_source(path))
    text = to_text(replace(load_parameters(path), comments=comments), path.parent)
    kept = iter(text.split("\n"))
    assert all(line in kept for line in path.read_text().split("\n"))
