"""Commands give the same results on a machine with a GPU as on one without."""

import sys

import numpy as np
import pytest

from tests.commands.support import done, refused, tictactoe_file, tuner
from tests.tuner.fit.device import fake_gpu
from tuner.evaluation.loading import load_parameters

pytestmark = pytest.mark.skipif(
    fake_gpu.COMPILER is None, reason="no C++ compiler; install the Debian package g++"
)


@pytest.fixture(autouse=True)
def machine_with_a_gpu(tmp_path, monkeypatch):
    for name, module in fake_gpu.modules(tmp_path).items():
        monkeypatch.setitem(sys.modules, name, module)


@pytest.mark.parametrize(
    "method",
    [
        "--method logistic",
        "--method td --lambda 0.7",
        "--method logistic --learner adam --iterations 2 --scale 0.003",
        "--method logistic --learner lbfgs --untapered --prior none",
        "--method logistic --loss ordered --held-out 0.3",
        pytest.param("--method logistic --loss mse --prior cv", marks=pytest.mark.long),
        "--method logistic --prior 20",
        "--method td --learner adam --iterations 2",
    ],
)
def test_tune(tmp_path, method):
    games, learned = tictactoe_file(tmp_path), []
    for device in ("gpu", "cpu"):
        ran = done(
            "tune",
            "tictactoe/zero",
            games,
            "-o",
            tmp_path / f"{device}.yaml",
            "--device",
            device,
            *method.split(),
        )
        assert ("running on gpu (Paper 1)" in ran.err) == (device == "gpu")
        learned.append(load_parameters(tmp_path / f"{device}.yaml"))
    # two decimals are written
    np.testing.assert_allclose(learned[0].weights, learned[1].weights, rtol=1e-6, atol=0.02)
    if "adam" not in method:
        errors = [np.nan_to_num(parameters.standard_errors) for parameters in learned]
        np.testing.assert_allclose(*errors, rtol=1e-6, atol=0.02)


def test_auto_says_which_it_chose(tmp_path):
    ran = done(
        "tune",
        "tictactoe/zero",
        tictactoe_file(tmp_path),
        "-o",
        tmp_path / "a.yaml",
        "--method",
        "logistic",
    )
    assert "running on gpu (Paper 1)" in ran.err


def test_eval(tmp_path):
    positions = tmp_path / "positions.txt"
    positions.write_text(
        "8/8/8/4k3/8/4K3/4P3/8 w - - 0 1\nrnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -"
        " 0 1\n" * 40
    )
    assert (
        done("eval", "classic", positions, "--device", "gpu").out
        == done("eval", "classic", positions).out
    )


def test_finite_differences_run_on_the_cpu(tmp_path):
    options = [
        "tune",
        "tictactoe/zero",
        tictactoe_file(tmp_path),
        "-o",
        tmp_path / "a.yaml",
        "--method",
        "logistic",
        "--gradient",
        "finite-difference",
    ]
    assert "running on gpu" not in done(*options).err
    assert "finite differences run on the CPU" in refused(*options, "--device", "gpu")


def test_a_gpu_out_of_memory_is_one_line(tmp_path, monkeypatch):
    def full(*given, **more):
        raise MemoryError("Out of memory allocating 512 bytes")

    sys.modules["cupy"].argsort = full
    ran = tuner(
        "tune",
        "tictactoe/zero",
        tictactoe_file(tmp_path),
        "-o",
        tmp_path / "a.yaml",
        "--method",
        "logistic",
    )
    assert (
        ran.status == 1
        and ran.err.splitlines()[-1] == "tuner: out of memory: Out of memory allocating 512 bytes"
    )
    assert not (tmp_path / "a.yaml").exists()
