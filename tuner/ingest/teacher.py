"""Scores of positions by any UCI engine: several processes in parallel, each position searched once."""

from __future__ import annotations

import queue
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType

import numpy as np

from games.evaluators import EngineFault, Evaluator, SearchLimits
from games.record import Game, PositionBatch
from tuner.ingest.external import evaluator_of
from tuner.ingest.score_cache import ScoreCache, cache_path, keys_of
from tuner.parallel import Threads

AT_ONCE = 16  # positions of a task
Searched = Callable[[], None]  # called after each position, from the thread that searched it, or found it in the cache


class Teacher:
    """An external engine whose searches score positions; a context manager.

    `engine` is `uci:COMMAND`, `options` are set in it. Scores are kept in a file in `folder`, by default in the user's cache,
    separately for each engine (its name and version), its options and limits: a repeated or continued run searches only what is
    new. `workers` processes share the positions, which does not change the scores: every search begins with empty tables.
    """

    def __init__(self, game: Game, engine: str, limits: SearchLimits, workers: int = 1,
                 options: Mapping[str, object] | None = None, folder: Path | None = None,
                 searched: Searched = lambda: None) -> None:
        self._game, self._text, self._limits, self._options = game, engine, limits, dict(options or {})
        self._workers, self._searched = workers, searched
        self._engines: list[Evaluator] = [evaluator_of(game, engine, self._options)]
        try:
            self.name = self._engines[0].name
            about = {"engine": self.name, "limits": limits.text, "game": game.name,
                     "options": {name: str(value) for name, value in sorted(self._options.items())}}
            self.cache = ScoreCache(cache_path(about, folder), about)
        except BaseException:
            self.close()
            raise
        self.new = 0  # positions searched, not found in the cache

    def __enter__(self) -> Teacher:
        return self

    def __exit__(self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None) -> None:
        self.close()
        self.cache.close()

    def close(self) -> None:
        """End the engines."""
        for engine in self._engines:
            engine.close()
        self._engines = []

    def scores(self, batch: PositionBatch) -> np.ndarray:
        """Return the scores (n,) of the positions of a batch in centipawns, first player's view, infinite for forced mates.

        EngineFault, one line, if an engine dies, stalls or answers nonsense; what it answered before is in the cache.
        """
        keys = keys_of(batch.positions)
        wanted: dict[int, int] = {}
        for i, key in enumerate(keys):
            if self.cache.get(key) is None:
                wanted.setdefault(key, i)
            else:
                self._searched()
        places = np.fromiter(wanted.values(), np.int64, len(wanted))
        self._search(batch.positions[places], [keys[i] for i in places.tolist()])
        return np.array([found[0] for key in keys if (found := self.cache.get(key)) is not None], float)

    def _search(self, positions: np.ndarray, keys: list[int]) -> None:
        if not keys:
            return
        tasks = [slice(begin, begin + AT_ONCE) for begin in range(0, len(keys), AT_ONCE)]
        while len(self._engines) < min(self._workers, len(tasks)):
            self._engines.append(evaluator_of(self._game, self._text, self._options))
        asked = self._engines[0].asked(positions)
        done: queue.SimpleQueue[None] = queue.SimpleQueue()

        def work(engine: Evaluator, some: slice) -> bool:
            for key, found in zip(keys[some], engine.searches(asked[some], self._limits), strict=True):
                self.cache.add(key, found)
                done.put(None)
                self._searched()
            return True

        def end(engine: Evaluator) -> None:
            if threads.pending:  # a fault or an interrupt: the others are in the middle of searches
                engine.abort()

        try:
            with Threads(work, self._engines, abort=end) as threads:
                for task in tasks:
                    threads.submit(task)
                for _ in threads.completed():
                    pass
        except EngineFault as problem:
            raise EngineFault(problem.what, done.qsize(), len(keys)) from None
        finally:
            self.new += done.qsize()
