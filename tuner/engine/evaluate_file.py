"""Evaluate all positions of a file, in the order of its lines."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import numpy as np

from games.streams import InputError, lines
from tuner.device.base import Device
from tuner.device.cpu.device import CPU
from tuner.engine.engine import Engine
from tuner.parameters.parameters import Parameters

LINES = 1 << 17  # read and evaluated at a time


def scores_of(engine: Engine, parameters: Parameters, source: str, workers: int = 1,
              device: Device = CPU) -> Iterator[np.ndarray]:
    """Yield the evaluations of the positions on a file's lines, in centipawns, first player's view, many at a time.

    Empty lines and lines that begin with # are skipped. InputError names the first wrong line.
    """
    numbered = ((number, line.strip()) for number, line in enumerate(lines(source), 1))
    wanted = ((number, line) for number, line in numbered if line and not line.startswith(b"#"))
    while some := list(islice(wanted, LINES)):
        positions = np.empty((len(some), engine.game.words), np.uint64)
        for i, (number, line) in enumerate(some):
            try:
                positions[i] = engine.game.position(line.decode("utf-8", "replace"))
            except ValueError as problem:
                name = "standard input" if source == "-" else source
                raise InputError(f"{name}:{number}: {problem}; expected a position on each line") from None
        yield engine.evaluate_many(positions, parameters, workers, device)
