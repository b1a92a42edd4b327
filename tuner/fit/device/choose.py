"""Choose the device that passes run on: the only module that searches for a GPU."""

from __future__ import annotations

import contextlib
import ctypes
import importlib
from collections.abc import Callable
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from games.streams import InputError
from tuner.fit.device.base import Device
from tuner.fit.device.cpu.device import Cpu

if TYPE_CHECKING:
    from tuner.fit.device.gpu.device import Gpu


class NoGpu(Exception):
    """No GPU can be used; the message says why, in one line."""


def device_named(name: str, workers: int) -> Device:
    """Return the device of this name, with this number of CPU threads; "auto" is a GPU if one is
    available, else the CPU. InputError if the device is not available."""
    if name == "auto":
        with contextlib.suppress(NoGpu):
            return first_gpu()
        return Cpu(workers)
    return DEVICES[name](workers)


def arrays_named(name: str) -> Any:
    """Return the module of arrays for a device of this name, NumPy or CuPy; "auto" is CuPy if a GPU
    is available. InputError if the device is not available."""
    if name == "auto":
        with contextlib.suppress(NoGpu):
            return first_gpu().arrays
        return np
    return required_gpu().arrays if name == "gpu" else np


def gpu_is_there() -> bool:
    """Return whether the driver of CUDA is installed and finds a GPU, whether or not CuPy can use
    it."""
    for name in ("libcuda.so.1", "nvcuda.dll"):
        with contextlib.suppress(OSError, AttributeError):
            driver, count = ctypes.CDLL(name), ctypes.c_int(0)
            return (
                driver.cuInit(0) == 0
                and driver.cuDeviceGetCount(ctypes.byref(count)) == 0
                and count.value > 0
            )
    return False


def why_no_gpu() -> str | None:
    """Return the reason, in one line, why "auto" uses no GPU; None if it uses one."""
    try:
        first_gpu()
    except NoGpu as reason:
        return str(reason)
    return None


def required_gpu() -> Gpu:
    """Return the first GPU; InputError if none is available."""
    try:
        return first_gpu()
    except NoGpu as reason:
        raise InputError(f"--device gpu: {reason}; or choose --device cpu") from None


def first_gpu() -> Gpu:
    """Return the first GPU. NoGpu if there is none, or if CuPy or its compiler is missing."""
    try:
        library = importlib.import_module("cupy")
        count = library.cuda.runtime.getDeviceCount()
        if count == 0:
            raise NoGpu("CuPy finds no GPU")
        about = library.cuda.runtime.getDeviceProperties(0)
    except NoGpu:
        raise
    except ImportError:
        raise NoGpu(
            "CuPy is not installed; pip install 'evaltune[gpu]', or [gpu-cuda12] for drivers of"
            " CUDA 12"
        ) from None
    # CuPy's errors have no common base class: the driver may be missing or too old, or refuse, and
    # what CuPy imports may not know the machine
    except Exception as problem:
        raise NoGpu(f"CuPy cannot use a GPU ({_line(problem)})") from None
    name = about["name"]
    try:
        ones = library.ones((2, 2))
        int((ones @ ones).sum())  # compiles CuPy's own kernels and loads its libraries
        return _gpu(
            library,
            name.decode() if isinstance(name, bytes) else str(name),
            int(about["multiProcessorCount"]),
            int(about["sharedMemPerBlockOptin"]),
        )
    except Exception as problem:  # CuPy finds no compiler, or one that does not support the GPU
        raise NoGpu(f"the GPU kernels do not compile ({_line(problem)})") from None


def _line(problem: Exception) -> str:
    return (str(problem).splitlines() or [type(problem).__name__])[0]


@cache
def _gpu(library: ModuleType, name: str, multiprocessors: int, shared: int) -> Gpu:
    """Return the process's only `Gpu`: data stay on it from one fit to the next."""
    from tuner.fit.device.gpu.chunks import Library
    from tuner.fit.device.gpu.device import Gpu

    return Gpu(
        Library(library, importlib.import_module("cupyx").empty_pinned, multiprocessors, shared),
        name,
    )


# from a number of CPU threads to a device; InputError if it is not available
DEVICES: dict[str, Callable[[int], Device]] = {"cpu": Cpu, "gpu": lambda workers: required_gpu()}
