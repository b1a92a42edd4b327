"""The kernels compile for a GPU, and CuPy has every function that the device calls."""

import ctypes
import importlib.util
import subprocess
from pathlib import Path

import pytest

from tests.tools import tool
from tests.tuner.fit.device import fake_gpu
from tuner.fit.device.gpu import chunks as library


def ptx_by_nvrtc(folder: Path) -> bytes:
    """Compile with NVRTC, as CuPy does."""
    found = importlib.util.find_spec("nvidia")  # a folder of each CUDA, or of each of its parts
    files = [
        file
        for folder in (found.submodule_search_locations if found else ())
        for file in sorted(Path(folder).glob("*/lib/libnvrtc.so*"))
    ]
    if not files:
        pytest.skip("no NVRTC; pip install '.[test-all]'")
    nvrtc, program = ctypes.CDLL(str(files[-1])), ctypes.c_void_p()
    assert (
        nvrtc.nvrtcCreateProgram(
            ctypes.byref(program), library.source().encode(), b"kernels.cu", 0, None, None
        )
        == 0
    )
    options = (ctypes.c_char_p * 2)(b"--gpu-architecture=compute_75", b"--std=c++17")
    assert nvrtc.nvrtcCompileProgram(program, 2, options) == 0
    size = ctypes.c_size_t()
    nvrtc.nvrtcGetPTXSize(program, ctypes.byref(size))
    text = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetPTX(program, text)
    return text.value


def ptx_by_nvcc(folder: Path) -> bytes:
    if tool("nvcc") is None:
        pytest.skip("no nvcc; install the Debian package nvidia-cuda-toolkit")
    (folder / "kernels.cu").write_text(library.source())
    subprocess.run(
        [
            "nvcc",
            "-ptx",
            "-arch=compute_75",
            "--std=c++17",
            "-o",
            folder / "kernels.ptx",
            folder / "kernels.cu",
        ],
        check=True,
    )
    return (folder / "kernels.ptx").read_bytes()


@pytest.mark.parametrize("compiled", [ptx_by_nvrtc, ptx_by_nvcc])
def test_kernels_compile_for_a_gpu(tmp_path, compiled):
    text = compiled(tmp_path)
    assert all(f".entry {kernel}(".encode() in text for kernel in library.KERNELS)
    # native atomic additions; 64 bits in shared memory would need a compare-and-swap loop
    assert b"atom.shared.add.u32" in text and b"atom.shared.add.u64" not in text


def test_cupy_has_what_the_device_calls():
    cupy = pytest.importorskip("cupy", reason="no CuPy; pip install '.[test-all]'")
    names = (*fake_gpu.ON_GPU, "asarray", "asnumpy", "RawModule", "get_default_memory_pool")
    assert [name for name in names if not hasattr(cupy, name)] == []
