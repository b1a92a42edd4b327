"""Write parameter files: what is written reads back the same, and a file is complete or not
there."""

from dataclasses import replace

import numpy as np
import pytest
import yaml

from tests.support import refusal
from tests.tuner.parameters.support import SIZE, random_parameters
from tests.tuner.support import LAYOUT
from tuner.parameters.parameters import LARGEST_WEIGHT, Parameters
from tuner.parameters.reader import read_parameters
from tuner.parameters.writer import of_specs, to_text, write_parameters, zeros


@pytest.mark.parametrize("seed", range(12))
def test_what_is_written_is_read_back_and_written_the_same(tmp_path, seed):
    p = random_parameters(seed)
    if p.standard_errors is not None and seed % 2:
        p = replace(p, optimum=-p.weights)
    write_parameters(tmp_path / "out.yaml", p)
    back = read_parameters(tmp_path / "out.yaml", LAYOUT, "chess")
    np.testing.assert_array_equal(back.weights, p.weights)
    for name in ("game", "stages", "scale", "fixed", "bounds", "prior", "learned"):
        assert getattr(back, name) == getattr(p, name), name
    if p.standard_errors is None:
        assert back.standard_errors is None
    else:
        np.testing.assert_array_equal(back.standard_errors, p.standard_errors)
        np.testing.assert_array_equal(back.estimate, p.estimate)
    assert to_text(back) == (tmp_path / "out.yaml").read_text(encoding="utf-8")
    assert [path.name for path in tmp_path.iterdir()] == ["out.yaml"]


@pytest.mark.parametrize("seed", [1, 2])
def test_any_yaml_reader_reads_the_same_numbers_from_what_is_written(tmp_path, seed):
    p = random_parameters(seed)
    plain = yaml.safe_load(to_text(p))
    for s, stage in enumerate(p.stages):
        man, table, files = (
            plain["weights"][term][name]
            for term, name in (("material", "man"), ("squares", "man"), ("files", "open"))
        )
        if len(p.stages) > 1:
            man, table, files = man[stage], table[stage], files[stage]
        assert man == p.weights[s, 0]
        assert table == [p.weights[s, 4:6].tolist(), p.weights[s, 2:4].tolist()]  # last row on top
        assert files == p.weights[s, 6:].tolist()
    assert plain["learned"] == p.learned


@pytest.mark.parametrize("stages", [("mg", "eg"), ("all",)])
def test_parameters_with_three_indices_and_more_are_read_back(tmp_path, stages):
    layout = of_specs(["p.t[2][3][4]", "p.u[2][2][2][3]", "p.v[5]", "p.x"])
    weights = np.arange(float(len(stages) * layout.size)).reshape(len(stages), -1) - 40
    p = replace(zeros("chess", layout, stages), weights=weights)
    write_parameters(tmp_path / "out.yaml", p)
    back = read_parameters(tmp_path / "out.yaml", layout, "chess")
    np.testing.assert_array_equal(back.weights, weights)
    assert to_text(back) == (tmp_path / "out.yaml").read_text()


def test_numbers_are_rounded_to_hundredths_and_minus_zero_is_zero(tmp_path):
    weights = np.zeros((2, SIZE))
    weights[0, :4] = 1.004, -0.004, 1234.5678, 1e-9
    write_parameters(tmp_path / "out.yaml", Parameters("chess", LAYOUT, ("mg", "eg"), weights))
    back = read_parameters(tmp_path / "out.yaml", LAYOUT, "chess")
    assert back.weights[0, :4].tolist() == [1, 0, 1234.57, 0]
    assert "-0," not in (tmp_path / "out.yaml").read_text() and not np.signbit(back.weights).any()


def test_a_file_that_cannot_be_written_leaves_the_one_that_was_there(tmp_path):
    path = tmp_path / "out.yaml"
    write_parameters(path, random_parameters(2))
    before = path.read_bytes()
    broken = random_parameters(2)
    broken.weights[0, 0] = 2 * LARGEST_WEIGHT
    assert refusal(write_parameters, path, broken)
    assert path.read_bytes() == before and len(list(tmp_path.iterdir())) == 1
    (tmp_path / "folder.yaml").mkdir()
    assert "folder.yaml: cannot be written: Is a directory" in refusal(
        write_parameters, tmp_path / "folder.yaml", random_parameters(2)
    )
    assert "cannot be written: File name too long" in refusal(
        write_parameters, tmp_path / ("x" * 300), random_parameters(2)
    )
    assert sorted(p.name for p in tmp_path.iterdir()) == ["folder.yaml", "out.yaml"]


def test_what_is_written_is_read_back_however_close_or_odd_its_numbers_and_names_are(tmp_path):
    """Whatever cannot be read back would throw a finished fit away."""
    p = random_parameters(1)
    errors = np.full(p.weights.shape, 1e300)
    learned = {
        "command": "tuner tune sch\udce4ch \x00\x85",
        "data": [{"file": "\udce4"}],
        "loss_after": np.inf,
        "steps": 10**30,
    }
    odd = replace(
        p,
        scale=0.99999999,
        bounds=(("material.man", (100.000001, 100.000002)),),
        fixed=("[!\x7f\x85]*",),
        prior=(("files.open", (1 / 3, 1 / 7)),),
        standard_errors=errors,
        learned=learned,
    )
    write_parameters(tmp_path / "out.yaml", odd)
    back = read_parameters(tmp_path / "out.yaml", LAYOUT, "chess")
    assert (back.scale, back.bounds, back.prior, back.fixed) == (
        odd.scale,
        odd.bounds,
        odd.prior,
        odd.fixed,
    )
    assert np.isnan(back.standard_errors).all()
    assert (
        back.learned["command"] == "tuner tune sch\\udce4ch \x00\x85"
        and back.learned["loss_after"] is None
    )
