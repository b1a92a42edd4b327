"""Which device is chosen, and the reasons why no GPU is used."""

import sys

import pytest

from games.streams import InputError
from tests.tuner.fit.device import fake_gpu
from tests.tuner.fit.device.fake_gpu import needs_compiler, paper
from tuner.fit.device.choose import device_named
from tuner.fit.device.cpu.device import Cpu


def test_without_a_gpu_the_cpu_is_used_and_gpu_is_refused(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "cupy", None)
    assert device_named("auto", 3) == Cpu(3) and device_named("cpu", 2) == Cpu(2)
    with pytest.raises(
        InputError, match="--device gpu: CuPy is not installed; .* or choose --device cpu"
    ):
        device_named("gpu", 1)
    for name, module in fake_gpu.modules(tmp_path, count=0).items():
        monkeypatch.setitem(sys.modules, name, module)
    with pytest.raises(InputError, match="CuPy finds no GPU"):
        device_named("gpu", 1)

    def broken() -> int:
        raise RuntimeError("cudaErrorInsufficientDriver: driver\nmore")

    sys.modules["cupy"].cuda.runtime.getDeviceCount = broken
    with pytest.raises(
        InputError, match=r"CuPy cannot use a GPU \(cudaErrorInsufficientDriver: driver\); or"
    ):
        device_named("gpu", 1)
    assert device_named("auto", 1).name == "cpu (1 thread)"
    for name, module in fake_gpu.modules(tmp_path).items():
        monkeypatch.setitem(sys.modules, name, module)
    sys.modules["cupy"].RawModule = lambda code, options: broken()
    with pytest.raises(
        InputError,
        match=r"the GPU kernels do not compile \(cudaErrorInsufficientDriver: driver\); or",
    ):
        device_named("gpu", 1)


@needs_compiler
def test_auto_uses_a_gpu_and_reports_its_name(tmp_path, monkeypatch):
    paper(monkeypatch, tmp_path)
    assert device_named("auto", 1).name == "gpu (Paper 1)"
