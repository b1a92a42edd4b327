"""Which device is chosen, and the reasons why no GPU is used."""

import re
import sys

import numpy as np
import pytest

from tests.commands.support import done, refused, tictactoe_file, tuner
from tests.support import file_with, refusal
from tests.tuner.fit.device import fake_gpu
from tests.tuner.fit.device.fake_gpu import needs_compiler, paper
from tests.tuner.support import game_scores, problem_of, random_sample
from tuner.evaluation.loading import load_parameters
from tuner.fit.device.choose import device_named
from tuner.fit.device.cpu import sums
from tuner.fit.device.cpu.device import Cpu


def test_without_a_gpu_the_cpu_is_used_and_gpu_is_refused(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "cupy", None)
    assert device_named("auto", 3) == Cpu(3) and device_named("cpu", 2) == Cpu(2)
    assert re.search(
        "--device gpu: CuPy is not installed; .* or choose --device cpu",
        refusal(device_named, "gpu", 1),
    )
    monkeypatch.delitem(sys.modules, "cupy")
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "cupy.py").write_text("raise RuntimeError('unknown machine')")
    assert "CuPy cannot use a GPU (unknown machine); or" in refusal(device_named, "gpu", 1)
    for name, module in fake_gpu.modules(tmp_path, count=0).items():
        monkeypatch.setitem(sys.modules, name, module)
    assert "CuPy finds no GPU" in refusal(device_named, "gpu", 1)

    def broken() -> int:
        raise RuntimeError("cudaErrorInsufficientDriver: driver\nmore")

    sys.modules["cupy"].cuda.runtime.getDeviceCount = broken
    assert "CuPy cannot use a GPU (cudaErrorInsufficientDriver: driver); or" in refusal(
        device_named, "gpu", 1
    )
    assert device_named("auto", 1).name == "cpu (1 thread)"
    for name, module in fake_gpu.modules(tmp_path).items():
        monkeypatch.setitem(sys.modules, name, module)
    sys.modules["cupy"].RawModule = lambda code, options: broken()
    assert "the GPU kernels do not compile (cudaErrorInsufficientDriver: driver); or" in refusal(
        device_named, "gpu", 1
    )


@needs_compiler
def test_auto_uses_a_gpu_and_reports_its_name(tmp_path, monkeypatch):
    paper(monkeypatch, tmp_path)
    assert device_named("auto", 1).name == "gpu (Paper 1)"


def test_scores_of_games_by_any_number_of_threads(tmp_path, monkeypatch):
    monkeypatch.setattr(sums, "GROUPS", 7)
    sample, _ = random_sample(tmp_path / "data", seed=4, games=120, columns=20)
    problem = problem_of(sample)
    weights, chosen = (
        np.random.default_rng(1).normal(0, 50, problem.start.shape),
        np.arange(0, problem.start.size, 2),
    )
    scores = game_scores(problem, weights)[:, chosen]
    one, three = (
        Cpu(workers).score_products(problem.datafit, weights, chosen) for workers in (1, 3)
    )
    assert (one == three).all()
    np.testing.assert_allclose(one, scores.T @ scores, rtol=1e-10, atol=1e-18)
    squares = Cpu(2).score_squares(problem.datafit, weights)
    np.testing.assert_allclose(
        squares, (game_scores(problem, weights) ** 2).sum(axis=0), rtol=1e-10
    )


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
    positions = file_with(
        tmp_path / "positions.txt",
        "8/8/8/4k3/8/4K3/4P3/8 w - - 0 1\nrnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -"
        " 0 1\n" * 40,
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
