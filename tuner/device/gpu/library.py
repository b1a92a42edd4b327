"""CuPy, and the kernels that are compiled by it when a card is first used."""

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
THREADS = 256  # of a block, as position.cu has it
SHARED_BYTES = 16  # of shared memory for a column: its weight, its sums over a tile and over all
ORDINARY = 48 << 10  # bytes of shared memory that a card gives without being asked


def source() -> str:
    """The kernels as one text, with the losses behind the first file, which has what they use."""
    first, *others = ((FOLDER / f"{name}.cu").read_text(encoding="utf-8") for name in SOURCES)
    return "\n".join([first, _objectives(), *others])


def _objectives() -> str:
    """A function that gives the terms of a position by any loss, see `tuner.objectives.base.Objective.cuda`."""
    cases = "".join(f"    case {objective_number(objective)}: {{{objective.cuda}        break;\n    }}\n"
                    for objective in OBJECTIVES.values())
    return ("__device__ inline Terms terms_of(int objective, double scale, double evaluation, double width, double z,\n"
            "                                 double mass) {\n"
            "    Terms t = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0};\n    double unit = 2.0 * scale, a = unit * evaluation;\n"
            f"    switch (objective) {{\n{cases}    }}\n    return t;\n}}\n")


def objective_number(objective: Objective) -> int:
    """By which the kernels know a loss."""
    return list(OBJECTIVES).index(objective.name)


class Library:
    """CuPy as `arrays`, `pinned(size, kind)` for memory that the card can read by itself, and the kernels."""

    def __init__(self, arrays: Any, pinned: Callable[[int, Any], np.ndarray], processors: int, shared: int) -> None:
        self.arrays, self.pinned, self.shared = arrays, pinned, shared  # bytes of shared memory that a block can have
        self._most = 8 * processors  # blocks that a card works on at once
        module = arrays.RawModule(code=source(), options=("--std=c++17",))
        self._kernels = {kernel: module.get_function(kernel) for kernel in KERNELS}

    def put(self, values: np.ndarray, kind: Any) -> Any:
        """An array on the card, with the same numbers."""
        return self.arrays.asarray(np.ascontiguousarray(values, kind))

    def launch(self, kernel: str, blocks: int, *given: Any, shared: int = 0) -> None:
        """Run a kernel on as many blocks as it has work for, or as the card takes at once; numbers are given as NumPy's or, if
        they are whole, as Python's."""
        function = self._kernels[kernel]
        if shared > ORDINARY:
            function.max_dynamic_shared_size_bytes = shared
        numbers = tuple(np.int32(value) if isinstance(value, int) else value for value in given)
        function((max(1, min(self._most, blocks)),), (THREADS,), numbers, shared_mem=shared)
