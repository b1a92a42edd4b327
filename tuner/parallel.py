"""Work on the pieces of a whole by several threads, its results in the order of the pieces.

Compiled passes release Python's lock. What comes of it does not depend on the number of threads: each piece has sums of its
own, and they are added in their order.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Piece = TypeVar("Piece")
Done = TypeVar("Done")


def processors() -> int:
    """Those that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def in_order(work: Callable[[Piece], Done], pieces: Iterable[Piece], workers: int) -> Iterator[Done]:
    """work(piece) for one piece after another; a few are ahead of the one whose result is taken, so that memory is bounded."""
    if workers < 2:
        yield from map(work, pieces)
        return
    with ThreadPoolExecutor(workers) as pool:
        ahead: deque = deque()
        for piece in pieces:
            ahead.append(pool.submit(work, piece))
            if len(ahead) > workers:
                yield ahead.popleft().result()
        while ahead:
            yield ahead.popleft().result()
