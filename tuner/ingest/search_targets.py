"""Targets from searches in place of results, for the positions of games.

A position's target is the lambda-return of the search values of it and the later positions of its game: with lambda = 0 the
value of its own search, with lambda = 1 the result. A fit to such targets is RootStrap (Veness, Silver, Uther and Blair 2009),
solved by regression.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from games.record import PositionBatch
from games.search.searcher import Limits, Searcher
from tuner.engine.engine import Engine
from tuner.engine.leaves import known_values, leaf_of
from tuner.objectives.temporal import TemporalData, decays, differences, errors
from tuner.parallel import Threads
from tuner.parameters.parameters import Parameters

MEGABYTES = 1
Retarget = Callable[[PositionBatch], PositionBatch]  # replaces outcomes or positions of a batch
Searched = Callable[[], None]  # called after each position, from the thread that searched it


class Searchers:
    """Searchers with the same weights, one for each thread; `playing` or exact."""

    def __init__(self, engine: Engine, parameters: Parameters, playing: bool, workers: int, searched: Searched) -> None:
        self._searched = searched
        self._searchers = [engine.searcher(parameters, playing, MEGABYTES) for _ in range(workers)]

    def each(self, batch: PositionBatch, work: Callable[[Searcher, int], None]) -> None:
        """Call work(searcher, index) for each position of a batch.

        A searcher's table is cleared before each game, so that results do not depend on the number of threads.
        """
        ends = np.append(batch.first[1:], len(batch.positions))

        def run(searcher: Searcher, game: tuple[int, int]) -> bool:
            searcher.clear()
            for place in range(*game):
                work(searcher, place)
                self._searched()
            return True

        with Threads(run, self._searchers) as threads:
            for game in zip(batch.first.tolist(), ends.tolist(), strict=True):
                threads.submit(game)
            for _ in threads.completed():
                pass


def search_values(engine: Engine, parameters: Parameters, depth: int, workers: int,
                  searched: Searched = lambda: None) -> Callable[[PositionBatch], np.ndarray]:
    """Return a function from a batch to the search values (n,) of its positions, in [-1, 1], first player's view.

    The search is the one that plays matches.
    """
    limits, second = Limits(depth=depth), engine.game.contest.second_to_move
    searchers = Searchers(engine, parameters, True, workers, searched)

    def values(batch: PositionBatch) -> np.ndarray:
        result = np.empty(len(batch.positions))

        def work(searcher: Searcher, i: int) -> None:
            found = searcher.search(batch.positions[i:i + 1], limits)
            value = np.tanh(parameters.scale * found.value) if found.win_in is None else np.sign(found.value)
            result[i] = -value if second(batch.positions[i]) else value

        searchers.each(batch, work)
        return result

    return values


class Leaves:
    """Replaces positions by the leaves of exact searches, and records the data that TD(lambda) needs.

    Without a search (`depth` 0) positions are not replaced.
    """

    def __init__(self, engine: Engine, parameters: Parameters, depth: int, lambda_: float, workers: int,
                 searched: Searched = lambda: None) -> None:
        self._engine, self._parameters, self._lambda = engine, parameters, lambda_
        self._limits = Limits(depth=depth)
        self._decay: list[np.ndarray] = []
        self._known: list[np.ndarray] = []
        self._searchers = Searchers(engine, parameters, False, workers, searched) if depth else None

    def __call__(self, batch: PositionBatch) -> PositionBatch:
        ends = np.append(batch.first[1:], len(batch.positions))
        for begin, end in zip(batch.first, ends, strict=True):
            if begin < end:
                self._decay.append(decays(self._lambda, self._engine.game.plies(batch.positions[begin:end])))
        if self._searchers is None:
            self._known.append(np.full(len(batch.positions), np.nan))
            return batch
        leaves, scores, wins = np.empty_like(batch.positions), np.empty(len(batch.positions)), np.zeros(len(batch.positions))

        def work(searcher: Searcher, i: int) -> None:
            found = searcher.search(batch.positions[i:i + 1], self._limits)
            leaves[i], scores[i], wins[i] = leaf_of(self._engine.game, batch.positions[i], found)

        self._searchers.each(batch, work)
        self._known.append(known_values(scores, wins, self._engine.evaluate(leaves, self._parameters)))
        return replace(batch, positions=leaves)

    @property
    def data(self) -> TemporalData:
        """The data of all batches so far."""
        return TemporalData(np.concatenate(self._decay), np.concatenate(self._known))


def retarget_by_search(engine: Engine, values: Callable[[PositionBatch], np.ndarray], lambda_: float) -> Retarget:
    """Return a function that replaces the outcomes of a batch by lambda-returns of search values."""

    def retarget(batch: PositionBatch) -> PositionBatch:
        found = values(batch) if lambda_ < 1 else batch.outcomes.astype(float)
        targets = found.copy()
        ends = np.append(batch.first[1:], len(found))
        for begin, end in zip(batch.first, ends, strict=True):
            if lambda_ > 0 and begin < end:
                part, plies = found[begin:end], engine.game.plies(batch.positions[begin:end])
                decay = decays(lambda_, plies)
                # the search value has weight 1 - lambda^plies, later values the remainder
                targets[begin:end] += decay * errors(differences(part, float(batch.outcomes[begin])), decay)
        return replace(batch, outcomes=targets.astype(np.float32))

    return retarget
