"""`tuner export`: every format is read back by a compiler or a parser, and holds the rounded numbers of the file."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import chess.engine
import numpy as np
import pytest
import yaml

from tests.commands.support import done, tuner
from tests.tools import tool
from tuner.engine.engine import load_parameters, parameter_path
from tuner.export.names import c_names, rust_names
from tuner.parameters.parameters import write_parameters

STAGES = ("mg", "eg")
Numbers = dict[str, list[list[float]]]  # of each parameter, stage by stage

# names that make a type of C, a word of C++, the beginning of C's own functions, and one identifier three times
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
    """`classic` with numbers of two decimals, errors for some of them, and a command that would end a comment."""
    start, random = load_parameters("classic"), np.random.default_rng(1)
    weights = np.round(start.weights + random.normal(0, 20, start.weights.shape), 2)
    errors = np.round(random.uniform(0.1, 20, weights.shape), 2)
    errors = np.where(random.random(weights.shape) < 0.3, random.choice([0, np.nan], weights.shape), errors)
    path = tmp_path_factory.mktemp("export") / "learned.yaml"
    said = {"command": "tuner tune 'a */ b.pgn' -o c:\\", "version": "0.1.0"}
    bounds = (("mobility.knight", (-25.5, 40.2)), ("material.pawn", (200.0, 300.0)))
    write_parameters(path, start.with_weights(weights, standard_errors=errors, learned=said, bounds=bounds))
    return path


def numbers_of(path: Path | str, flipped: bool = False) -> Numbers:
    """The numbers of a parameter file as YAML has them, tables from the row at the bottom."""
    text = Path(path).read_text(encoding="utf-8")
    found: Numbers = {}
    for term, entries in yaml.safe_load(text)["weights"].items():
        for name, stages in entries.items():
            found[f"{term}.{name}"] = [
                sum(value if flipped else value[::-1], []) if isinstance(value, list) and isinstance(value[0], list)
                else value if isinstance(value, list) else [value] for value in (stages[stage] for stage in STAGES)]
    return found


def rounded(numbers: Numbers) -> Numbers:
    return {name: [[round(value) for value in stage] for stage in stages] for name, stages in numbers.items()}


def by_compiler(command: list[str], folder: Path, program: str) -> list[str]:
    """What a program prints, compiled and run."""
    ran = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert ran.returncode == 0 and not ran.stderr, ran.stderr
    return subprocess.run([folder / program], capture_output=True, text=True, check=True).stdout.splitlines()


def arrays_of_c(text: str, folder: Path, number: str = "%d") -> Numbers:
    """The arrays of a header, printed by a program that includes it after the library's own."""
    compiler = tool("cc", "gcc")
    if compiler is None:
        pytest.skip("no C compiler; install the Debian package gcc")
    (folder / "weights.h").write_text(text)
    lines = []
    for name, stages, size in re.findall(r"^static const \w+ (\w+)\[(\d+)\](?:\[(\d+)\])? = ", text, re.MULTILINE):
        for s in range(int(stages)):
            items = [f"{name}[{s}][{i}]" for i in range(int(size))] if size else [f"{name}[{s}]"]
            lines.append(f'printf("{name}' + f" {number}" * len(items) + f'\\n", {", ".join(items)});')
    includes = "".join(f"#include <{name}.h>\n" for name in ("stdio", "stdlib", "stdint", "string", "math", "time", "threads"))
    (folder / "main.c").write_text(includes + '#include "weights.h"\nint main(void) {\n' + "\n".join(lines) + "\nreturn 0; }\n")
    return _grouped(by_compiler([compiler, "-std=c11", "-Wall", "-Wextra", "-Werror", "-o", "main", "main.c"], folder, "main"))


def declared_in_rust(text: str) -> list[tuple[str, str]]:
    """Names and types of the constants."""
    return re.findall(r"^pub const (\w+): (\[.+\]) = ", text, re.MULTILINE)


def printed_by_rust(text: str, folder: Path) -> Numbers:
    """The constants of a Rust file, printed by a program."""
    compiler = tool("rustc")
    if compiler is None:
        pytest.skip("no Rust compiler; install the Debian package rustc")
    declared = declared_in_rust(text)
    prints = [f'for s in {name}.iter() {{ println!("{name} {{:?}}", {"s" if kind.startswith("[[") else "[s]"}); }}'
              for name, kind in declared]
    (folder / "main.rs").write_text(text + "fn main() {\n" + "\n".join(prints) + "\n}\n")
    lines = by_compiler([compiler, "--deny", "warnings", "-o", "rust", "main.rs"], folder, "rust")
    return _grouped(re.sub(r"[\[\],]", "", line) for line in lines)


def arrays_of_rust(text: str) -> Numbers:
    """The constants of a Rust file, parsed."""
    declared = declared_in_rust(text)
    found, code = {}, re.sub(r"//.*", "", text)
    statements = [statement.strip() for statement in code.split(";\n") if statement.strip()]
    assert len(statements) == len(declared)
    for statement, (name, kind) in zip(statements, declared, strict=True):
        start = f"pub const {name}: {kind} = "
        assert statement.startswith(start)
        values = json.loads(re.sub(r",\s*\]", "]", statement[len(start):]))
        stages = values if isinstance(values[0], list) else [[value] for value in values]
        inner, count = re.fullmatch(r"\[(.+); (\d+)\]", kind).groups()
        assert len(stages) == int(count)
        assert inner in ("i32", "f64") or inner.endswith(f"; {len(stages[0])}]")
        found[name] = stages
    return found


def _grouped(lines) -> Numbers:
    found: Numbers = {}
    for line in lines:
        name, *values = line.split()
        found.setdefault(name, []).append([float(value) for value in values])
    return found


def test_c_compiles_and_holds_the_rounded_numbers(learned, tmp_path):
    done("export", learned, "--format", "c", "-o", tmp_path / "out.h")
    text = (tmp_path / "out.h").read_text()
    expected = {name.replace(".", "_"): stages for name, stages in rounded(numbers_of(learned)).items()}
    assert arrays_of_c(text, tmp_path) == expected
    assert text == done("export", learned, "--format", "c").out
    assert "static const int material_knight[2] = {" in text and "static const int piece_square_king[2][64] = {" in text


@pytest.mark.parametrize("options", ["", "--flip", "--scale-to 100 --decimals 1"])
def test_a_rust_compiler_reads_what_we_parse(learned, tmp_path, options):
    text = done("export", learned, "--format", "rust", *options.split()).out
    found = printed_by_rust(text, tmp_path)
    assert found == arrays_of_rust(text) and len(found) > 50


def test_rust_holds_the_rounded_numbers(learned, tmp_path):
    text = done("export", learned, "--format", "rust").out
    expected = {name.replace(".", "_").upper(): stages for name, stages in rounded(numbers_of(learned)).items()}
    assert arrays_of_rust(text) == expected
    assert "pub const PIECE_SQUARE_PAWN: [[i32; 64]; 2] = [" in text and "pub const MATERIAL_PAWN: [i32; 2] = [" in text


def test_json_holds_the_rounded_numbers_under_nested_names(learned):
    said = json.loads(done("export", learned, "--format", "json").out)
    found = {f"{term}.{name}": [value if isinstance(value, list) else [value] for value in (stages[s] for s in STAGES)]
             for term, names in said["weights"].items() for name, stages in names.items()}
    assert found == rounded(numbers_of(learned))
    assert all(isinstance(value, int) for stages in found.values() for stage in stages for value in stage)
    p = load_parameters(learned)
    assert said["scale"] == pytest.approx(p.scale, rel=1e-5) and said["stages"] == list(STAGES)
    assert said["shapes"] == {place.path: list(place.shape) for place in p.layout.places if place.shape}


def named_numbers(learned: Path) -> dict[str, int]:
    """Rounded numbers by the names that options have, from YAML."""
    p, found = load_parameters(learned), {}
    for place in p.layout.places:
        for s, stage in enumerate(STAGES):
            for label, value in zip(place.labels(), numbers_of(learned)[place.path][s], strict=True):
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
    for name in ("mobility.knight[3].mg", "material.pawn.eg"):  # bounds of the file, and the number itself within
        low, high = {"mo": (-25, 40), "ma": (200, 300)}[name[:2]]
        assert (options[name].min, options[name].max) == (min(low, expected[name]), max(high, expected[name]))
    commands = dict(re.findall(r"^setoption name (\S+) value (-?\d+)$", (tmp_path / "options.txt").read_text(), re.MULTILINE))
    assert {name: options[name].parse(value) for name, value in commands.items()} == expected


def test_spsa_lines_hold_every_number_with_a_perturbation_of_two_errors(learned):
    ran, p = done("export", learned, "--format", "spsa"), load_parameters(learned)
    expected, lines = named_numbers(learned), ran.out.splitlines()
    assert [line.split(", ")[0] for line in lines] == [f"{label}.{stage}" for label in p.layout.labels() for stage in STAGES]
    for line, error in zip(lines, p.standard_errors.T.ravel(), strict=True):
        name, kind, *numbers = line.split(", ")
        value, low, high, step, rate = (float(number) for number in numbers)
        assert (kind, value, rate) == ("int", expected[name], 0.002) and low <= value <= high and low == int(low) < high
        bounded = name.startswith(("mobility.knight", "material.pawn"))
        assert bounded or min(value - low, high - value) >= max(50, abs(value) / 2) - 1
        if error > 0:
            assert step == pytest.approx(max(0.5, min(2 * error, (high - low) / 2)), rel=0.01)
        else:
            assert step == pytest.approx(0.1 * (high - low), rel=0.01)
    assert sum(error > 0 for error in p.standard_errors.ravel()) > 500
    assert "rounded to whole numbers" in ran.err


def test_scaling_makes_the_first_number_what_is_asked_and_keeps_the_probabilities(learned, tmp_path):
    text = done("export", learned, "--format", "json", "--scale-to", 100, "--decimals", 3).out
    said, p = json.loads(text), load_parameters(learned)
    pawn = said["weights"]["material"]["pawn"]
    assert (pawn["mg"] + pawn["eg"]) / 2 == pytest.approx(100, abs=0.001)
    rook = said["weights"]["material"]["rook"]["eg"]
    ours = p.weights[1, p.layout.labels().index("material.rook")]
    assert np.tanh(said["scale"] * rook) == pytest.approx(np.tanh(p.scale * ours), abs=1e-5)
    (slope,) = re.findall(r"exp\(-([\d.e-]+) \* evaluation\)", text)
    assert 1 / (1 + np.exp(-float(slope) * rook)) == pytest.approx((1 + np.tanh(p.scale * ours)) / 2, abs=1e-5)
    header = done("export", learned, "--format", "c", "--scale-to", 100, "--decimals", 1).out
    found = arrays_of_c(header, tmp_path, "%.17g")
    factor = 100 / p.weights[:, 0].mean()
    for name, stages in numbers_of(learned).items():
        exact = np.array(stages) * factor
        out = np.array(found[name.replace(".", "_")])
        assert np.abs(out - exact).max() <= 0.05 + 1e-9 and np.abs(out * 10 - np.round(out * 10)).max() < 1e-9
    rust = arrays_of_rust(done("export", learned, "--format", "rust", "--scale-to", 100, "--decimals", 1).out)
    assert rust == {name.upper(): stages for name, stages in found.items()}


def test_flipped_tables_have_their_last_row_first(learned, tmp_path):
    text = done("export", learned, "--format", "rust", "--flip").out
    expected = {name.replace(".", "_").upper(): stages for name, stages in rounded(numbers_of(learned, True)).items()}
    assert arrays_of_rust(text) == expected
    assert "farthest from the owner's side first" in text and "nearest" not in text


def test_the_heading_says_where_numbers_come_from_and_how_they_were_rounded(learned):
    exact = np.array([value for stages in numbers_of(learned).values() for stage in stages for value in stage])
    error = np.abs(exact - np.round(exact))
    for form, mark in (("c", "// "), ("rust", "// "), ("uci", "info string ")):
        ran = done("export", learned, "--format", form)
        head = [line[len(mark):] for line in ran.out.splitlines() if line.startswith(mark)]
        assert head[0].startswith(f"{learned}: parameters of chess, exported by evaltune ")
        assert "learned by: tuner tune 'a */ b.pgn' -o c:\\ (version 0.1.0)" in head[1]
        largest, mean = (float(number) for number in re.findall(r"at most ([\d.]+), on average ([\d.]+) centipawns", head[2])[0])
        assert (largest, mean) == (pytest.approx(error.max(), rel=0.01), pytest.approx(error.mean(), rel=0.01))
        assert head[2] in ran.err
        assert f"exp(-{2 * load_parameters(learned).scale:.6g} * evaluation)" in head[3]


def test_odd_names_become_identifiers_that_differ(tmp_path):
    (tmp_path / "odd.py").write_text(ODD_TERMS)
    done("params", "tictactoe/classic", "--terms", tmp_path / "odd.py", "--add-missing", "-o", tmp_path / "odd.yaml")
    p = load_parameters(tmp_path / "odd.yaml", [tmp_path / "odd.py"])
    weights = np.arange(1.0, p.weights.size + 1).reshape(p.weights.shape)
    write_parameters(tmp_path / "odd.yaml", p.with_weights(weights))
    expected = [weights[0, place.columns].tolist() for place in p.layout.places]
    for form in ("c", "rust"):
        text = done("export", tmp_path / "odd.yaml", "--terms", tmp_path / "odd.py", "--format", form).out
        found = arrays_of_c(text, tmp_path) if form == "c" else arrays_of_rust(text)
        assert [stages for (stages,) in found.values()] == expected
        if form == "rust" and tool("rustc"):
            assert printed_by_rust(text, tmp_path) == found
        assert all("__" not in name and re.fullmatch(r"[A-Za-z]\w*", name) for name in found)
    options = done("export", tmp_path / "odd.yaml", "--terms", tmp_path / "odd.py", "--format", "uci").out
    labels = re.findall(r"^option name (\S+) type", options, re.MULTILINE)
    assert labels == p.layout.labels()  # of one stage the name is enough


def test_identifiers_never_collide():
    paths = ["a.b_c", "a_b.c", "a.b_c_2", "a.b__c", "int8.t", "int8.t_", "term_int8.t", "and.eq", "co.yield", "cnd.wait"]
    for names in (c_names(paths), rust_names(paths)):
        assert len(set(names)) == len(paths) and not set(names) & {"int8_t", "and_eq", "co_yield", "cnd_wait"}
    assert c_names(["material.pawn"]) == ["material_pawn"]


def test_a_parameter_file_is_never_replaced_by_an_export(tmp_path):
    mine = tmp_path / "mine.yaml"
    mine.write_bytes(parameter_path("classic").read_bytes())
    (tmp_path / "link.yaml").symlink_to(mine)
    bundled = parameter_path("classic").with_name("weights.h")
    for output, said in ((mine, "is an input of this command"), (tmp_path / "link.yaml", "is an input of this command"),
                         (bundled, "is in the folder of the bundled parameter files")):
        ran = tuner("export", mine, "--format", "c", "-o", output)
        assert ran.status == 2 and f"{output}: {said}" in ran.err and ran.err.count("\n") == 1
    assert mine.read_bytes() == parameter_path("classic").read_bytes() and not bundled.exists()


def test_json_output_is_one_object_with_the_text_or_the_name_of_its_file(learned, tmp_path):
    said = json.loads(done("export", learned, "--format", "c", "--json").out)
    assert said["text"] == done("export", learned, "--format", "c").out and said["output"] is None
    said = json.loads(done("export", learned, "--format", "c", "--json", "-o", tmp_path / "out.h").out)
    assert "text" not in said and said["output"] == str(tmp_path / "out.h") and said["numbers"] == 1230
    assert 0.45 < said["largest_rounding"] <= 0.5 and 0.2 < said["mean_rounding"] < 0.3
