"""A fake GPU: CuPy's names on NumPy arrays, and the kernels compiled as C++ and run warp by warp on
the CPU."""

import ctypes
import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from tests.tools import tool
from tuner.fit.device.choose import device_named
from tuner.fit.device.gpu.chunks import KERNELS

HEADER = Path(__file__).with_name("fake_gpu.h")
COMPILER = tool("g++", "c++")
needs_compiler = pytest.mark.skipif(
    COMPILER is None, reason="no C++ compiler; install the Debian package g++"
)
KINDS = {np.int32: ctypes.c_int, np.int64: ctypes.c_longlong, np.float64: ctypes.c_double}
ON_GPU = (
    "arange",
    "argsort",
    "cumsum",
    "empty",
    "flatnonzero",
    "isnan",
    "ones",
    "searchsorted",
    "sort",
    "sqrt",
    "stack",
    "take",
    "tanh",
    "where",
    "zeros",
)


class GpuArray(np.ndarray):
    """An array that can be filled from host memory, like CuPy's."""

    def set(self, values: np.ndarray, stream=None) -> None:
        self[:] = values


class Kernel:
    def __init__(self, library: ctypes.CDLL, name: str) -> None:
        self._address, self.launches = ctypes.c_void_p.in_dll(library, f"run_{name}").value, 0

    def __call__(self, grid, block, args, shared_mem: int = 0) -> None:
        assert shared_mem <= 8 << 15 and block[0] % 32 == 0
        self.launches += 1
        given = [ctypes.c_int(grid[0]), ctypes.c_int(block[0]), *map(self._argument, args)]
        ctypes.CFUNCTYPE(None, *map(type, given))(self._address)(*given)

    @staticmethod
    def _argument(value):
        if isinstance(value, np.ndarray):
            assert value.flags.c_contiguous
            return ctypes.c_void_p(value.ctypes.data)
        return KINDS[type(value)](value)


built: dict[str, ctypes.CDLL] = {}


def build(folder: Path, code: str) -> ctypes.CDLL:
    """Return the kernels as a library, compiled once."""
    if code in built:
        return built[code]
    text, library = folder / "kernels.cpp", folder / "kernels.so"
    entries = "\n".join(
        f'extern "C" void *run_{name} = (void *)Run<{name}>::run;' for name in KERNELS
    )
    text.write_text(f'#include "{HEADER}"\n{code}\n{entries}\n')
    subprocess.run(
        [COMPILER, "-O1", "-w", "-std=c++17", "-shared", "-fPIC", "-o", library, text], check=True
    )
    built[code] = ctypes.CDLL(str(library))
    return built[code]


def backwards(code: str, whether: bool) -> None:
    """Set whether a block's threads take turns in reverse order."""
    ctypes.c_int.in_dll(built[code], "backwards").value = whether


def modules(
    folder: Path, free: int = 1 << 33, count: int = 1, shared: int = 99 << 10
) -> dict[str, ModuleType]:
    """Return modules `cupy` and `cupyx` for a machine with `count` GPUs, free memory, and shared
    memory for a block."""
    cupy, cupyx = ModuleType("cupy"), ModuleType("cupyx")

    def raw_module(code: str, options: tuple[str, ...]) -> SimpleNamespace:
        library = build(folder, code)
        return SimpleNamespace(get_function=lambda name: Kernel(library, name))

    for name in ON_GPU:
        setattr(cupy, name, getattr(np, name))
    cupy.empty = lambda size, kind=np.float64: np.empty(size, kind).view(GpuArray)
    cupy.asarray, cupy.asnumpy = (lambda values: np.array(values, order="C")), np.array
    cupy.RawModule = raw_module
    cupy.cuda = SimpleNamespace(
        runtime=SimpleNamespace(
            getDeviceCount=lambda: count,
            memGetInfo=lambda: (free, free),
            deviceSynchronize=lambda: None,
            getDeviceProperties=lambda number: {
                "name": b"Paper 1",
                "multiProcessorCount": 2,
                "sharedMemPerBlockOptin": shared,
            },
        ),
        Stream=lambda non_blocking: SimpleNamespace(synchronize=lambda: None),
        Event=lambda: SimpleNamespace(record=lambda: None, synchronize=lambda: None),
    )
    cupy.get_default_memory_pool = lambda: SimpleNamespace(free_all_blocks=lambda: None)
    cupyx.empty_pinned = np.empty
    return {"cupy": cupy, "cupyx": cupyx}


def paper(monkeypatch, folder, **more):
    """Make this a machine with a GPU, and return the device."""
    for name, module in modules(folder, **more).items():
        monkeypatch.setitem(sys.modules, name, module)
    return device_named("gpu", 1)
