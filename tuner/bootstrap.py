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
from games.search.searcher import Limits
from tuner.engine import Engine
from tuner.parameters import Parameters
from tuner.temporal import decays, differences, errors

MEGABYTES = 1
Teach = Callable[[PositionBatch], PositionBatch]


def search_values(engine: Engine, parameters: Parameters, depth: int, workers: int) -> Callable[[PositionBatch], np.ndarray]:
    """A function from a batch to the values (n,) in [-1, 1], first player's view, that searches of its positions give.

    The search is that which plays. Its memory is emptied before each game, so that the number of threads changes nothing.
    """
    searchers = [engine.searcher(parameters, True, MEGABYTES) for _ in range(workers)]
    limits, second = Limits(depth=depth), engine.game.contest.second_to_move

    def values(batch: PositionBatch) -> np.ndarray:
        result = np.empty(len(batch.positions))
        ends = np.append(batch.first[1:], len(batch.positions))
        games = iter(list(zip(batch.first.tolist(), ends.tolist(), strict=True)))
        lock, problems = threading.Lock(), []

        def work(searcher) -> None:
            try:
                while True:
                    with lock:
                        begin, end = next(games, (0, 0))
                    if begin == end == 0:
                        return
                    searcher.clear()
                    for i in range(begin, end):
                        found = searcher.search(batch.positions[i:i + 1], limits)
                        value = np.tanh(parameters.scale * found.value) if found.win_in is None else np.sign(found.win_in)
                        result[i] = -value if second(batch.positions[i]) else value
            except BaseException as problem:  # raised below, in the thread that waits
                problems.append(problem)

        threads = [threading.Thread(target=work, args=(searcher,), daemon=True) for searcher in searchers]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if problems:
            raise problems[0]
        return result

    return values


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
