"""`tuner export`: every format is read back, by compilers where there are some, and holds the
rounded numbers of the file."""

import json
import re
import sys
from pathlib import Path

import chess.engine
import numpy as np
import pytest

from tests.commands.export_support import (
    STAGES,
    arrays_of_c,
    arrays_of_rust,
    numbers_of,
    printed_by_rust,
    rounded,
    write_learned,
)
from tests.commands.support import done, refused
from tests.support import file_with
from tuner.evaluation.loading import load_parameters, parameter_path
from tuner.export.numbers import c_names, rust_names

ENGINE = """
import sys
options = [line for line in open(sys.argv[1]) if line.startswith(("option ", "info "))]
for line in sys.stdin:
    if line == "uci\\n":
        print("id name exported\\n" + "".join(options) + "uciok", flush=True)
    elif line == "isready\\n":
        print("readyok", flush=True)
    elif line == "quit\\n":
        break
"""


@pytest.fixture(scope="module")
def learned(tmp_path_factory) -> Path:
    return write_learned(tmp_path_factory.mktemp("export") / "learned.yaml")


def test_json_holds_the_rounded_numbers_under_nested_names(learned):
    said = json.loads(done("export", learned, "--format", "json").out)
    found = {
        f"{term}.{name}": [
            value if isinstance(value, list) else [value] for value in (stages[s] for s in STAGES)
        ]
        for term, names in said["weights"].items()
        for name, stages in names.items()
    }
    assert found == rounded(numbers_of(learned))
    assert all(
        isinstance(value, int) for stages in found.values() for stage in stages for value in stage
    )
    p = load_parameters(learned)
    assert said["scale"] == pytest.approx(p.scale, rel=1e-5) and said["stages"] == list(STAGES)
    assert said["shapes"] == {
        place.path: list(place.shape) for place in p.layout.places if place.shape
    }


def named_numbers(learned: Path) -> dict[str, int]:
    """Rounded numbers by the names that options have, from YAML."""
    p, numbers, found = load_parameters(learned), numbers_of(learned), {}
    for place in p.layout.places:
        for s, stage in enumerate(STAGES):
            for label, value in zip(place.labels(), numbers[place.path][s], strict=True):
                found[f"{label}.{stage}"] = round(value)
    return found


def test_options_are_read_by_a_uci_program_and_set_by_its_commands(learned, tmp_path):
    done("export", learned, "--format", "uci", "-o", tmp_path / "options.txt")
    (tmp_path / "engine.py").write_text(ENGINE)
    expected = named_numbers(learned)
    command = [sys.executable, str(tmp_path / "engine.py"), str(tmp_path / "options.txt")]
    with chess.engine.SimpleEngine.popen_uci(command) as engine:
        options = dict(engine.options)
    assert {name: option.default for name, option in options.items()} == expected
    for name, option in options.items():
        assert option.type == "spin" and option.min <= option.default <= option.max
        if not name.startswith(("mobility.knight", "material.pawn")):
            assert (option.min, option.max) == (-20000, 20000)
    for name in (
        "mobility.knight[3].mg",
        "material.pawn.eg",
    ):  # bounds of the file, and the number itself within
        low, high = {"mo": (-25, 40), "ma": (200, 300)}[name[:2]]
        assert (options[name].min, options[name].max) == (
            min(low, expected[name]),
            max(high, expected[name]),
        )
    commands = dict(
        re.findall(
            r"^setoption name (\S+) value (-?\d+)$",
            (tmp_path / "options.txt").read_text(),
            re.MULTILINE,
        )
    )
    assert {name: options[name].parse(value) for name, value in commands.items()} == expected


def test_spsa_lines_hold_every_number_with_a_perturbation_of_two_errors(learned):
    ran, p = done("export", learned, "--format", "spsa"), load_parameters(learned)
    expected, lines = named_numbers(learned), ran.out.splitlines()
    assert [line.split(", ")[0] for line in lines] == [
        f"{label}.{stage}" for label in p.layout.labels() for stage in STAGES
    ]
    for line, error in zip(lines, p.standard_errors.T.ravel(), strict=True):
        name, kind, *numbers = line.split(", ")
        value, low, high, step, rate = (float(number) for number in numbers)
        assert (
            (kind, value, rate) == ("int", expected[name], 0.002)
            and low <= value <= high
            and low == int(low) < high
        )
        bounded = name.startswith(("mobility.knight", "material.pawn"))
        assert bounded or min(value - low, high - value) >= max(50, abs(value) / 2) - 1
        if error > 0:
            assert step == pytest.approx(max(0.5, min(2 * error, (high - low) / 2)), rel=0.01)
        else:
            assert step == pytest.approx(0.1 * (high - low), rel=0.01)
    assert sum(error > 0 for error in p.standard_errors.ravel()) > 500
    assert "rounded to whole numbers" in ran.err


def test_scaling_makes_the_first_number_what_is_asked_and_keeps_the_probabilities(
    learned, tmp_path
):
    text = done("export", learned, "--format", "json", "--scale-to", 100, "--decimals", 3).out
    said, p = json.loads(text), load_parameters(learned)
    pawn = said["weights"]["material"]["pawn"]
    assert (pawn["mg"] + pawn["eg"]) / 2 == pytest.approx(100, abs=0.001)
    rook = said["weights"]["material"]["rook"]["eg"]
    ours = p.weights[1, p.layout.labels().index("material.rook")]
    assert np.tanh(said["scale"] * rook) == pytest.approx(np.tanh(p.scale * ours), abs=1e-5)
    (slope,) = re.findall(r"exp\(-([\d.e-]+) \* evaluation\)", text)
    assert 1 / (1 + np.exp(-float(slope) * rook)) == pytest.approx(
        (1 + np.tanh(p.scale * ours)) / 2, abs=1e-5
    )
    header = done("export", learned, "--format", "c", "--scale-to", 100, "--decimals", 1).out
    found = arrays_of_c(header, tmp_path, "%.17g")
    factor = 100 / p.weights[:, 0].mean()
    for name, stages in numbers_of(learned).items():
        exact = np.array(stages) * factor
        out = np.array(found[name.replace(".", "_")])
        assert (
            np.abs(out - exact).max() <= 0.05 + 1e-9
            and np.abs(out * 10 - np.round(out * 10)).max() < 1e-9
        )
    rust = arrays_of_rust(
        done("export", learned, "--format", "rust", "--scale-to", 100, "--decimals", 1).out
    )
    assert rust == {name.upper(): stages for name, stages in found.items()}


def test_tables_of_shogi_say_which_file_is_the_first_column():
    text = done("export", "shogi/classic", "--format", "c").out
    assert (
        "the row nearest to the owner's side first, in each row the first column first (of the"
        " board file 9 for Black and file 1 for White)" in text
    )
    assert (
        "in each row the first column first\n"
        in done("export", "chess/classic", "--format", "c").out
    )


def test_a_parameter_file_is_never_replaced_by_an_export(tmp_path):
    mine = file_with(tmp_path / "mine.yaml", parameter_path("classic").read_bytes())
    (tmp_path / "link.yaml").symlink_to(mine)
    bundled = parameter_path("classic").with_name("weights.h")
    for output, said in (
        (mine, "is an input of this command"),
        (tmp_path / "link.yaml", "is an input of this command"),
        (bundled, "is in the folder of the bundled parameter files"),
    ):
        assert f"{output}: {said}" in refused("export", mine, "--format", "c", "-o", output)
    assert mine.read_bytes() == parameter_path("classic").read_bytes() and not bundled.exists()


# names that make a type of C, a word of C++, the beginning of C's own functions, and one identifier
# three times
ODD_TERMS = """
from evalterms.term import Term
first, second, int8, static, mtx = Term("a"), Term("a_b"), Term("int8"), Term("static"), Term("mtx")
first.parameter("b_c")
first.parameter("b_c_2", 3)
first.parameter("b__c", 2, 3)
second.parameter("c")
int8.parameter("t")
static.parameter("assert")
mtx.parameter("lock")

@first.counts
def count_first(us, them, emit):
    "Nothing."

@second.counts
def count_second(us, them, emit):
    "Nothing."

@int8.counts
def count_int8(us, them, emit):
    "Nothing."

@static.counts
def count_static(us, them, emit):
    "Nothing."

@mtx.counts
def count_mtx(us, them, emit):
    "Nothing."
"""


def test_c_compiles_and_holds_the_rounded_numbers(learned, tmp_path):
    done("export", learned, "--format", "c", "-o", tmp_path / "out.h")
    text = (tmp_path / "out.h").read_text()
    expected = {
        name.replace(".", "_"): stages for name, stages in rounded(numbers_of(learned)).items()
    }
    assert arrays_of_c(text, tmp_path) == expected
    assert text == done("export", learned, "--format", "c").out
    assert (
        "static const int material_knight[2] = {" in text
        and "static const int piece_square_king[2][64] = {" in text
    )


@pytest.mark.parametrize("options", ["", "--flip", "--scale-to 100 --decimals 1"])
def test_a_rust_compiler_reads_what_we_parse(learned, tmp_path, options):
    text = done("export", learned, "--format", "rust", *options.split()).out
    found = printed_by_rust(text, tmp_path)
    assert found == arrays_of_rust(text) and len(found) > 50


def test_rust_holds_the_rounded_numbers(learned, tmp_path):
    text = done("export", learned, "--format", "rust").out
    expected = {
        name.replace(".", "_").upper(): stages
        for name, stages in rounded(numbers_of(learned)).items()
    }
    assert arrays_of_rust(text) == expected
    assert (
        "pub const PIECE_SQUARE_PAWN: [[i32; 64]; 2] = [" in text
        and "pub const MATERIAL_PAWN: [i32; 2] = [" in text
    )


def test_identifiers_never_collide():
    paths = [
        "a.b_c",
        "a_b.c",
        "a.b_c_2",
        "a.b__c",
        "int8.t",
        "int8.t_",
        "term_int8.t",
        "and.eq",
        "co.yield",
        "cnd.wait",
    ]
    for names in (c_names(paths), rust_names(paths)):
        assert len(set(names)) == len(paths) and not set(names) & {
            "int8_t",
            "and_eq",
            "co_yield",
            "cnd_wait",
        }
    assert c_names(["material.pawn"]) == ["material_pawn"]
