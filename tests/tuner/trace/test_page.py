"""The page for authors of engines shows lines of the engines of these tests, and a map that can be
read."""

import re
import textwrap

import pytest

from tests.games.support import REPOSITORY
from tests.tuner.export.support import into, parameters
from tests.tuner.trace.support import ENGINES
from tuner.datasets.rows.values import FIELDS

PAGE = (REPOSITORY / "docs" / "your-own-engine.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(("language", "name"), [("cpp", "mini.cpp"), ("rust", "mini.rs")])
def test_its_code_is_that_of_the_engines(language, name):
    shown = "".join(re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)).splitlines()
    lines = (ENGINES / name).read_text().splitlines()
    assert len(shown) > 12 and [line for line in shown if line not in lines] == []


def test_its_rows_in_go_have_the_fields_of_rows():
    (shown,) = re.findall(r"```go\n(.*?)```", PAGE, re.DOTALL)
    names = re.findall(r'`json:"(\w+)"`', shown)
    assert names == ["fen", "eval", "phase", "counts"] and {*names[:3]} <= {*FIELDS}


def test_its_map_is_read(tmp_path):
    (names,) = re.findall(r"((?:^    [\w.]+: .*\n)+)(?=\nInstead)", PAGE, re.MULTILINE)
    p = parameters(
        {"material.pawn": (), "mobility.knight": (2,), "pawns.passed": (2,), "tempo.tempo": ()}
    )
    source = (
        "S PieceValue[] = {S(0, 0), S(0, 0)};\nint MobMg[3][2] = {[KNIGHT] = {0, 0}};\n"
        "int MobEg[3][2] = {[KNIGHT] = {0, 0}};\n"
        "int Passed = 3;\nS Passed[2] = {S(0, 0), S(0, 0)};\n"
    )
    assert (
        into(tmp_path, "a.h", source, p, textwrap.dedent(names))
        == "S PieceValue[] = {S(1, 7), S(0, 0)};\nint MobMg[3][2] = {[KNIGHT] = {2, 3}};\nint"
        " MobEg[3][2] = {[KNIGHT] = {8, 9}};\nint Passed = 3;\nS Passed[2] = {S(4, 10), S(5,"
        " 11)};\n"
    )
