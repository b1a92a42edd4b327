"""Which device passes run on: the only place that looks for a card."""

from __future__ import annotations

import contextlib
import importlib
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING

from games.streams import InputError
from tuner.device.base import Device
from tuner.device.cpu.device import Cpu

if TYPE_CHECKING:
    from tuner.device.gpu.device import Gpu


class NoGpu(Exception):
    """Why no card can be used, in a line."""


def device_named(name: str, workers: int) -> Device:
    """The processors, by so many threads, or a card; "auto" takes a card where there is one, which all processors
    help. InputError if "gpu" is none."""
    if name == "gpu":
        return required_gpu()
    if name == "auto":
        with contextlib.suppress(NoGpu):
            return first_gpu()
    return Cpu(workers)


def why_no_gpu() -> str | None:
    """Why "auto" takes no GPU, in a line; None where it takes one."""
    try:
        first_gpu()
    except NoGpu as reason:
        return str(reason)
    return None


def required_gpu() -> Gpu:
    """The first card; InputError if there is none."""
    try:
        return first_gpu()
    except NoGpu as reason:
        raise InputError(f"--device gpu: {reason}; or choose --device cpu") from None


def first_gpu() -> Gpu:
    """The first card. NoGpu if there is none, or nothing to use it with."""
    try:
        library = importlib.import_module("cupy")
    except ImportError:
        raise NoGpu("CuPy is not installed; pip install 'evaltune[gpu]', or [gpu-cuda12] for drivers of CUDA 12") from None
    try:
        count = library.cuda.runtime.getDeviceCount()
        if count == 0:
            raise NoGpu("no card is here")
        about = library.cuda.runtime.getDeviceProperties(0)
    except NoGpu:
        raise
    except Exception as problem:  # its errors have no common base: the driver may be missing, too old, or refuse
        raise NoGpu(f"no card can be used ({_line(problem)})") from None
    name = about["name"]
    try:
        ones = library.ones((2, 2))
        int((ones @ ones).sum())  # what CuPy compiles and loads for itself is there
        return _gpu(library, name.decode() if isinstance(name, bytes) else str(name), int(about["multiProcessorCount"]),
                     int(about["sharedMemPerBlockOptin"]))
    except Exception as problem:  # CuPy finds no compiler, or one that does not know the card
        raise NoGpu(f"the card's kernels cannot be compiled ({_line(problem)})") from None


def _line(problem: Exception) -> str:
    return (str(problem).splitlines() or [type(problem).__name__])[0]


@cache
def _gpu(library: ModuleType, name: str, processors: int, shared: int) -> Gpu:
    """One for the whole process: data stay on it from one fit to the next."""
    from tuner.device.gpu.device import Gpu
    from tuner.device.gpu.library import Library

    return Gpu(Library(library, importlib.import_module("cupyx").empty_pinned, processors, shared), name)
