"""Evaluate all positions of a file, in the order of its lines."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice

import numpy as np

from games.record import Game
from games.streams import InputError, lines

LINES = 1 << 17  # read and evaluated at a time


def scores_of(game: Game, values: Callable[[np.ndarray], np.ndarray], source: str) -> Iterator[np.ndarray]:
    """Yield the `values` of the positions (n, words) on a file's lines, in centipawns, first player's view, many at a time.

    Empty lines and lines that begin with # are skipped. InputError names the first wrong line.
    """
    numbered = ((number, line.strip()) for number, line in enumerate(lines(source), 1))
    wanted = ((number, line) for number, line in numbered if line and not line.startswith(b"#"))
    while some := list(islice(wanted, LINES)):
        positions = np.empty((len(some), game.words), np.uint64)
        for i, (number, line) in enumerate(some):
            try:
                positions[i] = game.position(line.decode("utf-8", "replace"))
            except ValueError as problem:
                name = "standard input" if source == "-" else source
                raise InputError(f"{name}:{number}: {problem}; expected a position on each line") from None
        yield values(positions)
