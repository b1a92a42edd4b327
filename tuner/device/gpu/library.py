"""CuPy, and the kernels, which it compiles when a GPU is first used."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tuner.objectives.base import Objective
from tuner.objectives.table import OBJECTIVES

FOLDER = Path(__file__).with_name("kernels")
SOURCES = ("position", "passes", "games")  # in the order in which they are compiled, as one
KERNELS = ("arrange", "largest_sum", "loss_gradient", "fold", "evaluate", "objective_terms", "expand", "group_scores",
           "scan", "traces")
THREADS = 256  # of a block, as in position.cu
SHARED_BYTES = 16  # of shared memory for a column: its weight, its sums over a tile and over all
ORDINARY = 48 << 10  # bytes of shared memory that a block may use without opting in


def source() -> str:
    """Return the kernels as one text, with the losses after the first file, which defines what they use."""
    first, *others = ((FOLDER / f"{name}.cu").read_text(encoding="utf-8") for name in SOURCES)
    return "\n".join([first, _objectives(), *others])


def _objectives() -> str:
    """Return the source of a function with the terms of a position by any loss, see `tuner.objectives.base.Objective.cuda`."""
    cases = "".join(f"    case {objective_number(objective)}: {{{objective.cuda}        break;\n    }}\n"
                    for objective in OBJECTIVES.values())
    return ("__device__ inline Terms terms_of(int objective, double scale, double evaluation, double width, double z,\n"
            "                                 double mass) {\n"
            "    Terms t = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0};\n    double unit = 2.0 * scale, a = unit * evaluation;\n"
            f"    switch (objective) {{\n{cases}    }}\n    return t;\n}}\n")


def objective_number(objective: Objective) -> int:
    """Return the number of a loss in the kernels."""
    return list(OBJECTIVES).index(objective.name)


class Library:
    """CuPy as `arrays`, `pinned(size, kind)` for pinned host memory, and the kernels."""

    def __init__(self, arrays: Any, pinned: Callable[[int, Any], np.ndarray], multiprocessors: int, shared: int) -> None:
        self.arrays, self.pinned, self.shared = arrays, pinned, shared  # bytes of shared memory that a block can have
        self._most = 8 * multiprocessors  # blocks that a GPU works on at once
        module = arrays.RawModule(code=source(), options=("--std=c++17",))
        self._kernels = {kernel: module.get_function(kernel) for kernel in KERNELS}

    def put(self, values: np.ndarray, kind: Any) -> Any:
        """Return a copy of an array on the GPU."""
        return self.arrays.asarray(np.ascontiguousarray(values, kind))

    def launch(self, kernel: str, blocks: int, *given: Any, shared: int = 0) -> None:
        """Run a kernel on as many blocks as it has work for, or as the GPU runs at once. Numbers are NumPy scalars; Python's int
        becomes int32."""
        function = self._kernels[kernel]
        if shared > ORDINARY:
            function.max_dynamic_shared_size_bytes = shared
        numbers = tuple(np.int32(value) if isinstance(value, int) else value for value in given)
        function((max(1, min(self._most, blocks)),), (THREADS,), numbers, shared_mem=shared)
