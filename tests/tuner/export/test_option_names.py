"""Weights of any parameter file as options of an engine, by their names."""

from dataclasses import replace

import numpy as np
import pytest

from games.record import EngineOption
from games.streams import InputError
from tuner.evaluation.loading import load_parameters
from tuner.export.numbers import each_number, parameter_names, rounded, settings_of
from tuner.export.text import spsa_text, uci_text
from tuner.parameters.layout import Layout, Place
from tuner.parameters.parameters import Parameters
from tuner.parameters.reader import read_parameters
from tuner.parameters.writer import write_parameters
from tuner.probe.linearity import layout_of_options, steps_of
from tuner.probe.run import parameters_of


def spins(*names: str, low: int = 0, high: int = 400) -> dict[str, EngineOption]:
    return {name: EngineOption(name, "spin", "100", low, high) for name in names}


TOGA = spins("Material", "Piece Activity", "Piece-Activity", "King Safety") | {
    "Book": EngineOption("Book", "string")
}


def probed(tmp_path, **values: float):
    """A parameter file as `tuner probe` writes it."""
    layout = Layout(tuple(Place("options", name, (), i) for i, name in enumerate(values)))
    path = tmp_path / "learned.yaml"
    write_parameters(path, Parameters("chess", layout, ("all",), np.array([list(values.values())])))
    return path


def test_names_are_identifiers_that_differ():
    names = ["King Safety", "King-Safety", "King_Safety", "2nd Rank", "", "Größe", "class"]
    found = parameter_names(names)
    assert len(set(found)) == len(names) and all(name.isidentifier() for name in found)
    assert found[0] == "King_Safety" and found[3] == "option_2nd_Rank"


def test_weights_of_a_probe_lead_back_to_the_options(tmp_path):
    names = dict(zip(TOGA, parameter_names(list(TOGA)), strict=True))
    path = probed(tmp_path, **{names["Piece-Activity"]: 90.6, names["King Safety"]: 120})
    found, notes = settings_of(path, TOGA, "toga")
    assert found == {"Piece-Activity": "91", "King Safety": "120"}
    assert notes == [f"{path}: 1 of 2 values are rounded to whole numbers, by at most 0.4"]


def test_an_export_names_the_options_of_the_engine(tmp_path):
    """Also after the file was learned from the rows, or from a source."""
    options = {name: TOGA[name] for name in ("Piece-Activity", "King Safety")}
    steps = steps_of(options, list(options), {"Piece-Activity": 90}, None)
    layout = layout_of_options(list(TOGA), steps)
    p = parameters_of("chess", layout, steps, {"engine": "toga"}).with_weights(
        np.array([[91.0, 120.0]]), learned={"games": 3}
    )
    write_parameters(tmp_path / "learned.yaml", p)
    r = rounded(read_parameters(tmp_path / "learned.yaml", None, "chess"))
    assert [line for line in uci_text(r, "it").splitlines() if line.startswith("setoption")] == [
        "setoption name Piece-Activity value 91",
        "setoption name King Safety value 120",
    ]
    assert [line.split(", ")[0] for line in spsa_text(r).splitlines()] == list(options)
    (tmp_path / "options.txt").write_text(uci_text(r, "it"))
    assert settings_of(tmp_path / "options.txt", TOGA, "toga") == (
        {"Piece-Activity": "91", "King Safety": "120"},
        [],
    )
    assert settings_of(tmp_path / "learned.yaml", TOGA, "toga") == (
        {"Piece-Activity": "91", "King Safety": "120"},
        [],
    )


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
    path = tmp_path / "options.txt"
    path.write_text(
        "# mine\ninfo string exported\noption name Material type spin default 1\n\nMaterial = 80\n"
        "setoption name King Safety value 130\nBook=a=b.bin\n"
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
            "options.txt:1: 'Material 80', expected NAME=VALUE or setoption name NAME value VALUE",
        ),
        ("Gamma=3", "options.txt:1: toga has no option 'Gamma'"),
        ("\nMaterial=401", "options.txt:2: 'Material' is 401, toga accepts 0 to 400"),
        ("Material=x", "options.txt:1: 'Material' is 'x', expected a number"),
        ("Material=inf", "'Material' is 'inf', expected a number"),
        ("Material=1\nMaterial=2", "options.txt:2: the option 'Material' is set twice"),
    ],
)
def test_wrong_lines_are_refused(tmp_path, text, said):
    path = tmp_path / "options.txt"
    path.write_text(text)
    with pytest.raises(InputError) as fault:
        settings_of(path, TOGA, "toga")
    assert said in str(fault.value) and "\n" not in str(fault.value)


def test_wrong_weights_are_refused(tmp_path):
    with pytest.raises(
        InputError, match=r"learned.yaml:\d+: 'King Safety' is 430.2, toga accepts 0 to 400"
    ):
        settings_of(probed(tmp_path, King_Safety=430.2), TOGA, "toga")
    with pytest.raises(
        InputError,
        match=r"learned.yaml:\d+: toga has no option for options.Mobility; expected weights of its",
    ):
        settings_of(probed(tmp_path, Mobility=3), TOGA, "toga")
    (tmp_path / "empty.yaml").write_text("game: chess\n")
    with pytest.raises(InputError, match="empty.yaml: weights is missing"):
        settings_of(tmp_path / "empty.yaml", TOGA, "toga")
    with pytest.raises(InputError, match="nowhere.txt: no such file"):
        settings_of(tmp_path / "nowhere.txt", TOGA, "toga")
