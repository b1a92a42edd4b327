"""`tuner export` as C and Rust: compilers read the rounded numbers back, and names become valid identifiers."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from tests.commands.export_support import (
    arrays_of_c,
    arrays_of_rust,
    numbers_of,
    printed_by_rust,
    rounded,
    write_learned,
)
from tests.commands.support import done
from tests.tools import tool
from tuner.engine.loading import load_parameters
from tuner.export.names import c_names, rust_names
from tuner.parameters.writer import write_parameters

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


@pytest.fixture(scope="module")
def learned(tmp_path_factory) -> Path:
    return write_learned(tmp_path_factory.mktemp("export") / "learned.yaml")


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


