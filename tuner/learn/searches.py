"""Searches of positions as targets: the values that they find, or the positions at their leaves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from games.record import PositionBatch
from games.search.searcher import Limits
from tuner.evaluation.engine import Engine
from tuner.evaluation.explain import known_values, leaf_of
from tuner.evaluation.loading import EvaluationSpec, engine_of, evaluation_spec
from tuner.objectives.temporal import TemporalData, decays, differences, errors
from tuner.parallel import Executor, Job, run
from tuner.parameters.parameters import Parameters

MEGABYTES = 1
Retarget = Callable[[PositionBatch], PositionBatch]  # replaces outcomes or positions of a batch
AHEAD = 4  # games submitted for each thread, so that threads do not idle
Searched = Callable[[], None]  # called for each position that was searched


@dataclass(frozen=True)
class SearchSpec:
    """Searches of positions: an evaluation, whether they prune as in play (else they are exact),
    and their depth."""

    evaluation: EvaluationSpec
    playing: bool
    depth: int


class GamePositions(NamedTuple):
    """A task: the positions (n, words) of a game, and the place of the first of them in its
    batch."""

    place: int
    positions: np.ndarray


class GameSearches(NamedTuple):
    """The leaves (n, words) of the searches of a game's positions, their scores (n,) in centipawns
    and `wins` (n,), see `tuner.evaluation.explain.Leaf`."""

    place: int
    leaves: np.ndarray
    scores: np.ndarray
    wins: np.ndarray


class PositionSearcher:
    """One thread's searcher."""

    def __init__(self, spec: SearchSpec, stopped: Callable[[], bool]) -> None:
        self.engine, self.limits, self.stopped = (
            engine_of(spec.evaluation.engine),
            Limits(depth=spec.depth),
            stopped,
        )
        self.searcher = self.engine.searcher(spec.evaluation.parameters, spec.playing, MEGABYTES)

    def ready(self) -> None:
        """Nothing is started later."""

    def abort(self) -> None:
        self.searcher.stop()

    def close(self) -> None:
        """There is nothing to release."""


def search_game(searcher: PositionSearcher, task: GamePositions) -> GameSearches | None:
    """Search the positions of a game; None if that was stopped. The table is cleared before each
    game, so that results do not depend on where games are searched."""
    leaves, scores = np.empty_like(task.positions), np.empty(len(task.positions))
    wins = np.zeros(len(task.positions))
    searcher.searcher.clear()
    for i, words in enumerate(task.positions):
        found = searcher.searcher.search(task.positions[i : i + 1], searcher.limits)
        if searcher.stopped():
            return None
        leaves[i], scores[i], wins[i] = leaf_of(searcher.engine.game, words, found)
    return GameSearches(task.place, leaves, scores, wins)


def place_text(task: GamePositions) -> str:
    """Name the positions of a game."""
    return (
        f"the search of {len(task.positions)} positions from position {task.place + 1} of its"
        " batch on"
    )


def searches(
    spec: SearchSpec, batch: PositionBatch, executor: Executor, searched: Searched
) -> GameSearches:
    """Return the searches of all positions of a batch."""
    found = GameSearches(
        0,
        np.empty_like(batch.positions),
        np.empty(len(batch.positions)),
        np.zeros(len(batch.positions)),
    )
    ends = np.append(batch.first[1:], len(batch.positions)).tolist()
    games = (
        GamePositions(begin, batch.positions[begin:end])
        for begin, end in zip(batch.first.tolist(), ends, strict=True)
        if begin < end
    )
    with executor.start(Job(PositionSearcher, search_game, spec, place_text), AHEAD) as running:
        for some in run(running, games):
            part = slice(some.place, some.place + len(some.scores))
            found.leaves[part], found.scores[part], found.wins[part] = (
                some.leaves,
                some.scores,
                some.wins,
            )
            for _ in range(len(some.scores)):
                searched()
    return found


def search_values(
    engine: Engine,
    parameters: Parameters,
    depth: int,
    executor: Executor,
    searched: Searched = lambda: None,
) -> Callable[[PositionBatch], np.ndarray]:
    """Return a function from a batch to the search values (n,) of its positions, in [-1, 1], first
    player's view.

    The search is the one that plays matches.
    """
    spec = SearchSpec(evaluation_spec(engine, parameters), True, depth)

    def values(batch: PositionBatch) -> np.ndarray:
        found = searches(spec, batch, executor, searched)
        return np.where(found.wins == 0, np.tanh(parameters.scale * found.scores), found.wins)

    return values


class Leaves:
    """Replaces positions by the leaves of exact searches, and records the data that TD(lambda)
    needs.

    Without a search (`depth` 0) positions are not replaced.
    """

    def __init__(
        self,
        engine: Engine,
        parameters: Parameters,
        depth: int,
        lambda_: float,
        executor: Executor,
        searched: Searched = lambda: None,
    ) -> None:
        self._engine, self._parameters, self._lambda = engine, parameters, lambda_
        self._executor, self._searched = executor, searched
        self._decay: list[np.ndarray] = []
        self._known: list[np.ndarray] = []
        self._spec = (
            SearchSpec(evaluation_spec(engine, parameters), False, depth) if depth else None
        )

    def __call__(self, batch: PositionBatch) -> PositionBatch:
        ends = np.append(batch.first[1:], len(batch.positions))
        for begin, end in zip(batch.first, ends, strict=True):
            if begin < end:
                self._decay.append(
                    decays(self._lambda, self._engine.game.plies(batch.positions[begin:end]))
                )
        if self._spec is None:
            self._known.append(np.full(len(batch.positions), np.nan))
            return batch
        found = searches(self._spec, batch, self._executor, self._searched)
        self._known.append(
            known_values(
                found.scores, found.wins, self._engine.evaluate(found.leaves, self._parameters)
            )
        )
        return replace(batch, positions=found.leaves)

    @property
    def data(self) -> TemporalData:
        """The data of all batches so far."""
        return TemporalData(np.concatenate(self._decay), np.concatenate(self._known))


def retarget_by_search(
    engine: Engine, values: Callable[[PositionBatch], np.ndarray], lambda_: float
) -> Retarget:
    """Return a function that replaces the outcomes of a batch by lambda-returns of search
    values."""

    def retarget(batch: PositionBatch) -> PositionBatch:
        found = values(batch) if lambda_ < 1 else batch.outcomes.astype(float)
        targets = found.copy()
        ends = np.append(batch.first[1:], len(found))
        for begin, end in zip(batch.first, ends, strict=True):
            if lambda_ > 0 and begin < end:
                part, plies = found[begin:end], engine.game.plies(batch.positions[begin:end])
                decay = decays(lambda_, plies)
                # the search value has weight 1 - lambda^plies, later values the remainder
                targets[begin:end] += decay * errors(
                    differences(part, float(batch.outcomes[begin])), decay
                )
        return replace(batch, outcomes=targets.astype(np.float32))

    return retarget
