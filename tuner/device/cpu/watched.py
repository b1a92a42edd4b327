"""Report the progress of a pass, and release the memory that it read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tuner.datasets.ranges import BLOCK
from tuner.device.model import Model


def watched(results: Iterator[Any], model: Model, ranges: np.ndarray, size: int = BLOCK) -> Iterator[Any]:
    """Yield the results for the pieces, of some size, of ranges; after each, release memory and report progress."""
    done, total = 0, int((ranges[:, 1] - ranges[:, 0]).sum())
    for result in results:
        yield result
        model.release()
        done = min(done + size, total)
        model.progress(done, total)
