"""Which device passes run on: the only place that looks for a card."""

from __future__ import annotations

import importlib
from functools import cache
from types import ModuleType

from games.streams import InputError
from tuner.device.base import Device
from tuner.device.cpu import Processors


class NoCard(Exception):
    """Why no card can be used, in a line."""


def device_named(name: str, workers: int) -> Device:
    """The processors, by so many threads, or a card; "auto" takes a card where there is one. InputError if "gpu" is none."""
    if name == "cpu":
        return Processors(workers)
    try:
        return first_card()
    except NoCard as reason:
        if name == "auto":
            return Processors(workers)
        raise InputError(f"--device gpu: {reason}; or choose --device cpu") from None


def first_card() -> Device:
    """The first card. NoCard if there is none, or nothing to use it with."""
    try:
        library = importlib.import_module("cupy")
    except ImportError:
        raise NoCard("CuPy is not installed; pip install 'evaltune[gpu]', or [gpu-cuda12] for drivers of CUDA 12") from None
    try:
        count = library.cuda.runtime.getDeviceCount()
        if count == 0:
            raise NoCard("no card is here")
        about = library.cuda.runtime.getDeviceProperties(0)
    except NoCard:
        raise
    except Exception as problem:  # its errors have no common base: the driver may be missing, too old, or refuse
        raise NoCard(f"no card can be used ({str(problem).splitlines()[0]})") from None
    name = about["name"]
    return _card(library, name.decode() if isinstance(name, bytes) else str(name), int(about["multiProcessorCount"]))


@cache
def _card(library: ModuleType, name: str, processors: int) -> Device:
    """One for the whole process: data stay on it from one fit to the next."""
    from tuner.device.gpu import Gpu
    from tuner.device.library import Library

    return Gpu(Library(library, importlib.import_module("cupyx").empty_pinned, processors), name)
