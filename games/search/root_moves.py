"""Search only some of the root moves (UCI's searchmoves): each is searched on its own, depth by depth."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import numpy as np

from games.search.context import MAX_DEPTH
from games.search.searcher import Found, Limits, Searcher

LEAST = 2  # the first depth: one ply for the root move, at least one for the search behind it


def search_root_moves(searcher: Searcher, line: Sequence[np.ndarray], moves: Sequence[int],
                 play: Callable[[np.ndarray, int], np.ndarray], drawn: Callable[[list[np.ndarray]], bool], limits: Limits,
                 report: Callable[[Found], None], stopping: Callable[[], bool]) -> Found:
    """Find the best of `moves` at the end of `line`, at least two plies deep.

    `drawn(line)` says whether the game is drawn at the end of a line. Only the depth and nodes of the limits are used.
    `stopping` is called after each depth of each move; when its answer becomes True, the caller also calls `searcher.stop()`.
    Moves are searched with a full window each, which takes several times as long as one search of all of them.
    """
    started, nodes = time.monotonic(), 0
    found = Found(0.0, None, (moves[0],), 0, 0, 0.0)
    order = list(moves)

    def stop_if_asked(_: Found) -> None:
        if stopping():
            searcher.stop()  # a call before the search began was lost

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
                best = Found(values[move], _one_ply_more(reply.win_in, reply.value), (move, *reply.pv), depth, nodes, 0.0)
        if best is not None and (len(values) == len(order) or best.pv[0] != found.move or depth == LEAST):
            found = best  # an incomplete depth counts only if it found a better move
        found = Found(found.value, found.win_in, found.pv, found.depth, nodes, time.monotonic() - started)
        if len(values) < len(order):
            return found
        report(found)
        if stopping() or nodes >= limits.nodes:
            return found
        order.sort(key=lambda move: -values[move])  # a stable sort: equal moves keep their order
    return found


def _one_ply_more(win_in: int | None, value: float) -> int | None:
    """Convert the distance to a win or loss to the position one ply earlier, for the other side."""
    if win_in is None:
        return None
    return -win_in - 1 if value > 0 else 1 - win_in
