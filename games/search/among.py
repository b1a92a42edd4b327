"""A search that chooses among some of the moves: the position after each is searched on its own, depth by depth."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import numpy as np

from games.search.context import MAX_DEPTH
from games.search.searcher import Found, Limits, Searcher

LEAST = 2  # the first depth: a position after a move is searched at least one ply deep


def search_among(searcher: Searcher, line: Sequence[np.ndarray], moves: Sequence[int],
                 play: Callable[[np.ndarray, int], np.ndarray], drawn: Callable[[list[np.ndarray]], bool], limits: Limits,
                 report: Callable[[Found], None], stopping: Callable[[], bool]) -> Found:
    """The best of `moves` at the end of `line`, as `Searcher.search` finds it; at least two plies deep.

    `drawn` tells of a line whether the game is drawn there. Of the limits, depth and nodes count; `stopping` is asked
    after each depth of each move, and `searcher.stop()` has to follow when its answer changes. No move sees what the
    others are worth, so this takes several times as long as a search of them together.
    """
    started, nodes = time.monotonic(), 0
    found = Found(0.0, None, (moves[0],), 0, 0, 0.0)
    order = list(moves)

    def stop_if_asked(_: Found) -> None:
        if stopping():
            searcher.stop()  # an earlier call may have come before the search began

    for depth in range(LEAST, max(LEAST, min(limits.depth, MAX_DEPTH)) + 1):
        values: dict[int, float] = {}
        best: Found | None = None
        for move in order:
            after = [*line, play(line[-1], move)]
            if drawn(after):
                reply = Found(0.0, None, (), depth - 1, 0, 0.0)
            else:
                left = Limits(depth=depth - 1, nodes=max(1, limits.nodes - nodes))
                reply = searcher.search(after, left, report=stop_if_asked)
            nodes += reply.nodes
            if reply.depth < depth - 1:
                break
            values[move] = -reply.value
            if best is None or values[move] > best.value:
                best = Found(values[move], _one_ply_more(reply.win_in, reply.value), (move, *reply.variation), depth, nodes, 0.0)
        if best is not None and (len(values) == len(order) or best.variation[0] != found.move or depth == LEAST):
            found = best  # of a depth that was broken off, only a better move than the best so far counts
        found = Found(found.value, found.win_in, found.variation, found.depth, nodes, time.monotonic() - started)
        if len(values) < len(order):
            return found
        report(found)
        if stopping() or nodes >= limits.nodes:
            return found
        order.sort(key=lambda move: -values[move])  # stable: equals keep their places
    return found


def _one_ply_more(win_in: int | None, value: float) -> int | None:
    """What a win or loss in so many plies is a ply earlier, for the other side."""
    if win_in is None:
        return None
    return -win_in - 1 if value > 0 else 1 - win_in
