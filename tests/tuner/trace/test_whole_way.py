"""From an engine's source and back: rows of games, learned numbers, the source with them, which
compiles and evaluates so."""

import re
import shutil
import textwrap

import numpy as np
import pytest

from games.streams import pieces
from tests.commands.support import done, tuner
from tests.games.support import REPOSITORY
from tests.tuner.export.support import into, parameters
from tests.tuner.trace.support import (
    ENGINES,
    NUMBERS,
    SAMPLES,
    compile_mini,
    compiler_of,
    evaluation,
    folder_of,
    mini_parameters,
    sample_fens,
)
from tuner.datasets.rows.values import FIELDS
from tuner.evaluation.loading import load_parameters

GAMES, PER_GAME = 400, 8


@pytest.mark.parametrize("language", ["c", pytest.param("rust", marks=pytest.mark.long)])
def test_learned_numbers_are_what_the_engine_then_evaluates(language, tmp_path):
    compiler_of(language)
    name, names, flipped = NUMBERS[language]
    source, learned = folder_of(language, tmp_path) / name, tmp_path / "learned.yaml"
    for file in (names, "mini.yaml"):
        shutil.copy(ENGINES / file, tmp_path)
    mini = compile_mini(language, tmp_path)
    games = b"".join(pieces(SAMPLES)).split(b"[Event ")[1 : GAMES + 1]
    (tmp_path / "games.pgn").write_bytes(b"".join(b"[Event " + game for game in games))
    flip = ["--flip"] if flipped else []

    ran = done(
        "dataset",
        tmp_path / "games.pgn",
        "--engine",
        f"{mini.program} trace",
        "--params",
        tmp_path / "mini.yaml",
        "--per-game",
        PER_GAME,
        "-o",
        tmp_path / "rows.ds",
    )
    assert "(100 %) agree with the engine's evaluation within rounding" in ran.err
    done("tune", tmp_path / "mini.yaml", tmp_path / "rows.ds", "-o", learned)
    into = ("export", learned, "--into", source, "--map", tmp_path / names, *flip)
    assert tuner(*into, "--check").status == 1
    done(*into)
    assert "all 930 numbers are those of" in done(*into, "--check").out

    changed, fens = load_parameters(learned), sample_fens()[::3]
    after, before = compile_mini(language, tmp_path), mini_parameters()
    assert [place.path for place in changed.layout.places] == [
        place.path for place in before.layout.places
    ]
    rounded = changed.with_weights(np.round(changed.weights))
    assert np.abs(changed.weights - before.weights).max() > 5
    for row, text in zip(after.rows(fens), after.answers("eval", fens), strict=True):
        assert (
            row["eval"] == int(text) and abs(row["eval"] - evaluation(rounded, row)) < 1.001
        )  # whole centipawns


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
