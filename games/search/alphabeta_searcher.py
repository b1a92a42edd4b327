"""Alpha-beta for use from Python: limits in, result out."""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from games.search.alphabeta import GAME_OVER, LENGTH, NODES, PV, VALUE
from games.search.context import (
    DECIDED,
    LINE,
    MATE,
    MAX_DEPTH,
    MORE,
    ROWS,
    SEEN,
    UNIT,
    Context,
    in_context,
)
from games.search.searcher import Found, Limits, Searcher

SAMPLED = 1000  # entries of the transposition table that `hashfull` samples


class AlphaBetaSearcher:
    """A search with its memory. Use one per thread; searching releases the GIL.

    `playing`: prune and reduce, see `games.search.alphabeta`; otherwise values are exact. `margin`:
    a small advantage in centipawns, the unit of pruning margins and aspiration windows. `marks`: a
    function from positions (n, words) to their marks (n,) for the rules of repetitions, see
    `games.search.rules`; None: they need none."""

    def __init__(
        self,
        dtype: np.dtype,
        deepen: Callable,
        function: int,
        weights: int,
        playing: bool,
        margin: float,
        megabytes: int = 16,
        marks: Callable[[np.ndarray], np.ndarray] | None = None,
    ) -> None:
        self._marks = marks
        self._memory = Context(dtype, function, weights)
        self._context = c = self._memory.records
        self._deepen = deepen
        self._reports = np.zeros((MAX_DEPTH + 1, PV + ROWS), np.int64)
        c["playing"], c["margin"] = playing, round(margin * UNIT)
        self.set_constants({})
        self.weights: object = None  # keeps alive what is bound by its address
        self.resize(megabytes)
        self.harvest(0)

    def bind(self, function: int, weights: int) -> None:
        """Evaluate with the function and the weights at these addresses from now on."""
        self._memory.bind(function, weights)

    def set_constants(self, values: Mapping[str, int]) -> None:
        """Search with these values of the constants of `games.search.context`, and the default
        values of the rest, from now on."""
        for name, value in in_context(values, int(self._context[0]["margin"])).items():
            self._context[name] = value

    def resize(self, megabytes: int) -> None:
        """Allocate an empty transposition table of at most a number of megabytes."""
        entries = 1 << max(10, (megabytes << 20 >> 4).bit_length() - 1)
        self._table = np.zeros(2 * entries, np.uint64)
        self._context["tt"], self._context["tt_mask"] = self._table.ctypes.data, entries - 1

    def clear(self) -> None:
        """Clear the transposition table, killers and history."""
        self._table[:] = 0
        self._context["killers"] = 0
        self._context["history"] = 0

    def choose_by(self, seed: int) -> None:
        """Seed the random choice among root moves of equal value at depth 1; 0: the first of
        them."""
        self._context["seed"] = seed

    def harvest(self, room: int, iteration: int | None = None) -> None:
        """Record the first `room` nodes of each search, in the iteration of this depth, by default
        the last one. At depth 1 the tree above quiescence is the root alone."""
        width = self._context["stack"].shape[2] + MORE
        self._kept = np.zeros((room, width), np.uint64)
        self._context["harvest"], self._context["harvest_room"] = self._kept.ctypes.data, room
        self._iteration = iteration

    @property
    def kept(self) -> np.ndarray:
        """(n, words + MORE) nodes recorded by the last search, see games.search.alphabeta. Valid
        until the next search."""
        return self._kept[: int(self._context[0]["harvested"])]

    def stop(self) -> None:
        """Ask the search in another thread to return soon."""
        self._memory.stop(True)

    @property
    def hashfull(self) -> float:
        """Fraction of the transposition table in use, from a sample."""
        return float(np.count_nonzero(self._table[: 2 * SAMPLED : 2])) / min(
            SAMPLED, len(self._table) // 2
        )

    def set_root(self, line: Sequence[np.ndarray] | np.ndarray) -> None:
        """Make the last position of a line the root; the rest counts for repetitions."""
        words = np.asarray(line[-LINE:])
        self._context["root_index"] = len(words) - 1
        self._context["keys"][0, : len(words)] = words[:, -1]
        seen = np.zeros(SEEN, np.uint8)
        seen[words[:, -1] & np.uint64(SEEN - 1)] = 1
        self._context["seen"] = np.packbits(seen, bitorder="little").view("<u8")
        if self._marks:
            self._context["marks"][0, : len(words)] = self._marks(words)
        self._context["stack"][0, 0] = words[-1]

    def search(
        self,
        line: Sequence[np.ndarray] | np.ndarray,
        limits: Limits,
        report: Callable[[Found], None] | None = None,
    ) -> Found:
        """Search the last position of a line; the earlier positions count for repetitions.

        `report` is called after each depth.
        """
        started = time.monotonic()
        self.set_root(line)
        c = self._context
        c["nodes"], c["node_limit"], c["stopped"] = 0, limits.nodes, 0
        c["killers"], c["harvested"], c["harvest_depth"] = 0, 0, self._iteration or limits.depth
        self._memory.stop(False)
        timer = None
        if limits.seconds is not None:
            timer = threading.Timer(limits.seconds, self.stop)
            timer.daemon = True
            timer.start()
        try:
            depth = self._deepen_within(limits, started, report)
        finally:
            if timer:
                timer.cancel()
        return self._found(depth, started)

    def _deepen_within(
        self, limits: Limits, started: float, report: Callable[[Found], None] | None
    ) -> int:
        """Search depth by depth; returns the last depth completed."""
        last = min(limits.depth, MAX_DEPTH)
        if report is None and limits.soft_seconds is None:
            return self._deepen(self._context, 1, last, self._reports)
        for depth in range(1, last + 1):
            if self._deepen(self._context, depth, depth, self._reports) < depth:
                return depth - 1
            if report:
                report(self._found(depth, started))
            if (
                limits.soft_seconds is not None
                and time.monotonic() - started >= limits.soft_seconds
            ):
                return depth
        return last

    def _found(self, depth: int, started: float) -> Found:
        row, c = self._reports[depth], self._context[0]
        pv = row[PV : PV + row[LENGTH]]
        # a playing search that was stopped also uses its incomplete depth: that found a better move
        # or confirmed the old one
        if c["stopped"] and c["playing"] and c["pv_lengths"][0]:
            pv = c["pv"][0, : c["pv_lengths"][0]]
        moves = tuple(int(move) for move in pv)
        value, over = int(row[VALUE]), moves[-1:] == (GAME_OVER,)
        win_in = None
        if abs(value) > DECIDED:
            win_in = MATE - value if value > 0 else -MATE - value
        return Found(
            value / UNIT,
            win_in,
            moves[: len(moves) - over],
            depth,
            int(c["nodes"] if c["stopped"] else row[NODES]),
            time.monotonic() - started,
            drawn=over and win_in is None,
        )


MIN_DEPTH = 2  # the first depth: one ply for the root move, at least one for the search behind it


def search_root_moves(
    searcher: Searcher,
    line: Sequence[np.ndarray],
    moves: Sequence[int],
    play: Callable[[np.ndarray, int], np.ndarray],
    drawn: Callable[[list[np.ndarray]], bool],
    limits: Limits,
    report: Callable[..., None],
    stopping: Callable[[], bool],
) -> Found:
    """Find the best of `moves` at the end of `line`, at least two plies deep.

    `report` is called after each depth with the result, and behind it those of the other moves, the
    best first.
    `drawn(line)` says whether the game is drawn at the end of a line. Only the depth and nodes of
    the limits are used. `stopping` is called after each depth of each move; when its answer becomes
    True, the caller also calls `searcher.stop()`. Moves are searched with a full window each, which
    takes several times as long as one search of all of them."""
    started, nodes = time.monotonic(), 0
    best_so_far = Found(0.0, None, (moves[0],), 0, 0, 0.0)
    order = list(moves)

    def stop_if_asked(_: Found) -> None:
        if stopping():
            searcher.stop()  # a call before the search began was lost

    for depth in range(MIN_DEPTH, max(MIN_DEPTH, min(limits.depth, MAX_DEPTH)) + 1):
        results: dict[int, Found] = {}
        best: Found | None = None
        for move in order:
            after = [*line, play(line[-1], move)]
            if drawn(after):
                reply = Found(0.0, None, (), depth - 1, 0, 0.0, drawn=True)
            else:
                left = Limits(depth=depth - 1, nodes=max(1, limits.nodes - nodes))
                reply = searcher.search(after, left, report=stop_if_asked)
            nodes += reply.nodes
            if reply.depth < depth - 1:
                break
            win_in = _one_ply_more(reply.win_in, reply.value)
            seconds = time.monotonic() - started
            one = replace(
                reply,
                value=-reply.value,
                win_in=win_in,
                pv=(move, *reply.pv),
                depth=depth,
                nodes=nodes,
                seconds=seconds,
            )
            results[move] = one
            if best is None or one.value > best.value:
                best = one
        if best is not None and (
            len(results) == len(order) or best.pv[0] != best_so_far.move or depth == MIN_DEPTH
        ):
            best_so_far = best  # an incomplete depth counts only if it found a better move
        best_so_far = replace(best_so_far, nodes=nodes, seconds=time.monotonic() - started)
        if len(results) < len(order):
            return best_so_far
        order.sort(key=lambda move: -results[move].value)  # equal moves keep their order
        report(best_so_far, *(results[move] for move in order if move != best_so_far.move))
        if stopping() or nodes >= limits.nodes:
            return best_so_far
    return best_so_far


def _one_ply_more(win_in: int | None, value: float) -> int | None:
    """Convert the distance to a win or loss to the position one ply earlier, for the opponent."""
    if win_in is None:
        return None
    return -win_in - 1 if value > 0 else 1 - win_in
