"""Weights of any parameter file as options of an engine, by their names."""

import re
from dataclasses import replace

import numpy as np
import pytest

from games.record import EngineOption
from tests.support import file_with, refusal
from tuner.evaluation.loading import load_parameters
from tuner.export.numbers import each_number, rounded, settings_of
from tuner.parameters.writer import write_parameters


def spins(*names: str, low: int = 0, high: int = 400) -> dict[str, EngineOption]:
    return {name: EngineOption(name, "spin", "100", low, high) for name in names}


TOGA = spins("Material", "Piece Activity", "Piece-Activity", "King Safety") | {
    "Book": EngineOption("Book", "string")
}


def test_weights_of_a_file_of_ours_are_options_of_our_own_engine(tmp_path):
    parameters = load_parameters("classic")
    path = tmp_path / "mine.yaml"
    random = np.random.default_rng(1)
    parameters = parameters.with_weights(
        np.round(parameters.weights + random.normal(0, 20, parameters.weights.shape))
    )
    write_parameters(path, replace(parameters, learned={}))
    wanted = {
        name: str(int(parameters.weights[s, i])) for name, s, i in each_number(rounded(parameters))
    }
    found, notes = settings_of(path, spins(*wanted, low=-20000, high=20000), "tuner")
    assert found == wanted and notes == []


def test_lines_set_options_too(tmp_path):
    path = file_with(
        tmp_path / "options.txt",
        "# mine\ninfo string exported\noption name Material type spin default 1\n\nMaterial = 80\n"
        "setoption name King Safety value 130\nBook=a=b.bin\n",
    )
    assert settings_of(path, TOGA, "toga") == (
        {"Material": "80", "King Safety": "130", "Book": "a=b.bin"},
        [],
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "Material 80",
            "options.txt:1: 'Material 80', expected NAME=VALUE, setoption name NAME value VALUE",
        ),
        ("Gamma=3", "options.txt:1: toga has no option 'Gamma'"),
        ("\nMaterial=401", "options.txt:2: 'Material' is 401, toga accepts 0 to 400"),
        ("Material=x", "options.txt:1: 'Material' is 'x', expected a number"),
        ("Material=inf", "'Material' is 'inf', expected a number"),
        ("Material=1\nMaterial=2", "options.txt:2: the option 'Material' is set twice"),
    ],
)
def test_wrong_lines_are_refused(tmp_path, text, said):
    path = file_with(tmp_path / "options.txt", text)
    assert said in refusal(settings_of, path, TOGA, "toga")


def test_wrong_weights_are_refused(tmp_path):
    path = tmp_path / "mine.yaml"
    write_parameters(path, replace(load_parameters("classic"), learned={}))
    assert re.search(
        r"mine.yaml:\d+: 'material.pawn.mg' is \d+, tuner accepts 0 to 10",
        refusal(settings_of, path, spins("material.pawn.mg", high=10), "tuner"),
    )
    assert re.search(
        r"mine.yaml:\d+: toga has no option 'material.pawn.mg'",
        refusal(settings_of, path, TOGA, "toga"),
    )
    (tmp_path / "empty.yaml").write_text("game: chess\n")
    assert "empty.yaml: weights is missing" in refusal(
        settings_of, tmp_path / "empty.yaml", TOGA, "toga"
    )
    assert "nowhere.txt: no such file" in refusal(
        settings_of, tmp_path / "nowhere.txt", TOGA, "toga"
    )
