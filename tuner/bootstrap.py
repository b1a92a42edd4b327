"""Learning from what a search finds, in place of the results alone: targets for the positions of games.

A position's target is the lambda-return of the values that searches gave it and the later positions of its game: with
lambda = 0 the value of its own search, with lambda = 1 the result. A fit towards such targets is RootStrap (Veness,
Silver, Uther and Blair 2009) solved by regression.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from games.record import PositionBatch
from games.search.searcher import Limits, Searcher
from tuner.engine import Engine
from tuner.parameters import Parameters
from tuner.selfplay.play import leaf_of
from tuner.temporal import decays, differences, errors
from tuner.temporal_fit import TemporalData

MEGABYTES = 1
Teach = Callable[[PositionBatch], PositionBatch]


def each_game(engine: Engine, parameters: Parameters, playing: bool, workers: int,
              work: Callable[[Searcher, int], None]) -> Callable[[PositionBatch], None]:
    """A function that does some work for each position of a batch: work(searcher, place), on threads.

    A searcher's memory is emptied before each game, so that the number of threads changes nothing.
    """
    searchers = [engine.searcher(parameters, playing, MEGABYTES) for _ in range(workers)]

    def over(batch: PositionBatch) -> None:
        ends = np.append(batch.first[1:], len(batch.positions))
        games = iter(list(zip(batch.first.tolist(), ends.tolist(), strict=True)))
        lock, problems = threading.Lock(), []

        def run(searcher: Searcher) -> None:
            try:
                while not problems:
                    with lock:
                        game = next(games, None)
                    if game is None:
                        return
                    searcher.clear()
                    for place in range(*game):
                        work(searcher, place)
            except BaseException as problem:  # raised below, in the thread that waits
                problems.append(problem)

        threads = [threading.Thread(target=run, args=(searcher,), daemon=True) for searcher in searchers]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if problems:
            raise problems[0]

    return over


def search_values(engine: Engine, parameters: Parameters, depth: int, workers: int) -> Callable[[PositionBatch], np.ndarray]:
    """A function from a batch to the values (n,) in [-1, 1], first player's view, that searches of its positions give.

    The search is that which plays.
    """
    limits, second = Limits(depth=depth), engine.game.contest.second_to_move
    positions = result = np.empty(0)

    def work(searcher: Searcher, i: int) -> None:
        found = searcher.search(positions[i:i + 1], limits)
        value = np.tanh(parameters.scale * found.value) if found.win_in is None else np.sign(found.value)
        result[i] = -value if second(positions[i]) else value

    over = each_game(engine, parameters, True, workers, work)

    def values(batch: PositionBatch) -> np.ndarray:
        nonlocal positions, result
        positions, result = batch.positions, np.empty(len(batch.positions))
        over(batch)
        return result

    return values


class Leaves:
    """Puts the leaves of exact searches in place of a game's positions, and keeps what TD(lambda) has to know of them.

    Without a search (`depth` 0) the positions stay what they are.
    """

    def __init__(self, engine: Engine, parameters: Parameters, depth: int, trace: float, workers: int) -> None:
        self._engine, self._parameters, self._trace = engine, parameters, trace
        self._limits = Limits(depth=depth)
        self._decay: list[np.ndarray] = []
        self._known: list[np.ndarray] = []
        self._over = each_game(engine, parameters, False, workers, self._search) if depth else None

    def __call__(self, batch: PositionBatch) -> PositionBatch:
        ends = np.append(batch.first[1:], len(batch.positions))
        for begin, end in zip(batch.first, ends, strict=True):
            if begin < end:
                self._decay.append(decays(self._trace, self._engine.game.plies(batch.positions[begin:end])))
        if self._over is None:
            self._known.append(np.full(len(batch.positions), np.nan))
            return batch
        self._batch, self._leaves = batch, np.empty_like(batch.positions)
        self._scores, self._wins = np.empty(len(batch.positions)), np.zeros(len(batch.positions))
        self._over(batch)
        static = self._engine.evaluate(self._leaves, self._parameters)
        self._known.append(np.where(self._wins != 0, self._wins, np.where(static == self._scores, np.nan, 0.0)))
        return replace(batch, positions=self._leaves)

    @property
    def data(self) -> TemporalData:
        """Of all batches so far."""
        return TemporalData(np.concatenate(self._decay), np.concatenate(self._known))

    def _search(self, searcher: Searcher, i: int) -> None:
        game, words = self._engine.game, self._batch.positions[i]
        found = searcher.search(self._batch.positions[i:i + 1], self._limits)
        sign = -1 if game.contest.second_to_move(words) else 1
        self._leaves[i] = leaf_of(game, words, found)
        self._scores[i] = sign * found.value
        self._wins[i] = 0 if found.win_in is None else sign * np.sign(found.value)


def taught(engine: Engine, values: Callable[[PositionBatch], np.ndarray], trace: float) -> Teach:
    """A function from a batch to the same with lambda-returns in place of outcomes."""

    def teach(batch: PositionBatch) -> PositionBatch:
        found = values(batch) if trace < 1 else batch.outcomes.astype(float)
        targets = found.copy()
        ends = np.append(batch.first[1:], len(found))
        for begin, end in zip(batch.first, ends, strict=True):
            if trace > 0 and begin < end:
                part, plies = found[begin:end], engine.game.plies(batch.positions[begin:end])
                decay = decays(trace, plies)
                # a search speaks for the plies up to the next position, what comes behind it has the rest of the weight
                targets[begin:end] += decay * errors(differences(part, float(batch.outcomes[begin])), decay)
        return replace(batch, outcomes=targets.astype(np.float32))

    return teach
