"""Searches of positions as targets: the values that they find, or the positions at their leaves."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from games.record import PositionBatch
from games.search.searcher import Limits
from tuner.cluster.worker import program
from tuner.core.store import Store
from tuner.core.text import plural
from tuner.datasets.dataset import Dataset
from tuner.evaluation.engine import CompiledTerms
from tuner.evaluation.explain import leaf_of
from tuner.evaluation.loading import EvaluationSpec, engine_of, evaluation_spec
from tuner.fit.temporal import Temporal
from tuner.io.run_folder import BEGUN, SEARCHES
from tuner.learn.targets import Start, Targets
from tuner.objectives.temporal import TemporalData, decays, differences, errors
from tuner.options.tune import TuneSettings
from tuner.parallel import Executor, Job, JobState, run
from tuner.parameters.parameters import Parameters

MEGABYTES = 1
Searched = Callable[[], None]  # called for each position that was searched
AHEAD = 4  # games submitted for each thread, so that threads do not idle


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
    known: np.ndarray


class PositionSearcher(JobState):
    """One thread's searcher."""

    def __init__(self, spec: SearchSpec, stopped: Callable[[], bool]) -> None:
        self.engine, self.limits, self.stopped = (
            engine_of(spec.evaluation.engine),
            Limits(depth=spec.depth),
            stopped,
        )
        self.searcher = self.engine.searcher(spec.evaluation.parameters, spec.playing, MEGABYTES)

    def abort(self) -> None:
        """See `JobState`."""
        self.searcher.stop()


def search_game(searcher: PositionSearcher, task: GamePositions) -> GameSearches | None:
    """Search the positions of a game; None if that was stopped. The table is cleared before each
    game, so that results do not depend on where games are searched."""
    leaves, scores = np.empty_like(task.positions), np.empty(len(task.positions))
    known = np.empty(len(task.positions))
    searcher.searcher.clear()
    for i, words in enumerate(task.positions):
        result = searcher.searcher.search(task.positions[i : i + 1], searcher.limits)
        if searcher.stopped():
            return None
        leaves[i], scores[i], known[i] = leaf_of(searcher.engine.game, words, result)
    return GameSearches(task.place, leaves, scores, known)


def place_text(task: GamePositions) -> str:
    """Name the positions of a game."""
    return (
        f"the search of {plural(len(task.positions), 'position')} from position {task.place + 1}"
        " of its batch on"
    )


class SearchLog:
    """The searches of whole games that a run has done, in its store, so that the run, begun again
    after an interruption, need not repeat them. `begun` is what the run was told."""

    def __init__(self, store: Store, begun: bytes) -> None:
        self._store, self._begun = store, begun
        self._said = False  # whether the store has what the run was told

    def key(self, spec: SearchSpec, positions: np.ndarray) -> bytes:
        """Return a hash of everything on which the searches of a game depend."""
        p = spec.evaluation.parameters
        about = (spec.evaluation.engine, spec.playing, spec.depth, p.stages, program()["sources"])
        parts = (repr(about).encode(), p.weights.tobytes(), positions.tobytes())
        return hashlib.blake2b(b"".join(parts), digest_size=16).digest()

    def get(self, key: bytes, place: int, words: int) -> GameSearches | None:
        """Return the searches of the game at a place of its batch; None if they are not known."""
        body = self._store.blob(SEARCHES + key.hex())
        if body is None:
            return None
        rows = np.frombuffer(body, np.uint64).reshape(-1, words + 2)
        numbers = rows[:, words:].copy().view(np.float64)
        return GameSearches(place, rows[:, :words], numbers[:, 0], numbers[:, 1])

    def add(self, key: bytes, found: GameSearches) -> None:
        """Write the searches of a game."""
        numbers = np.column_stack([found.scores, found.known]).astype(np.float64).view(np.uint64)
        body = np.hstack([found.leaves, numbers]).tobytes()
        with self._store.together():
            if not self._said:
                self._store.put(BEGUN, self._begun)
            self._store.put(SEARCHES + key.hex(), body)
        self._said = True


def searches(
    spec: SearchSpec,
    batch: PositionBatch,
    executor: Executor,
    searched: Searched,
    log: SearchLog | None = None,
) -> GameSearches:
    """Return the searches of all positions of a batch; `log` has those that are known."""
    results = GameSearches(
        0,
        np.empty_like(batch.positions),
        np.empty(len(batch.positions)),
        np.zeros(len(batch.positions)),
    )

    def put(some: GameSearches) -> None:
        part = slice(some.place, some.place + len(some.scores))
        results.leaves[part], results.scores[part], results.known[part] = (
            some.leaves,
            some.scores,
            some.known,
        )
        for _ in range(len(some.scores)):
            searched()

    games, keys = [], {}
    for begin, end in batch.ranges:
        if begin < end:
            game = GamePositions(begin, batch.positions[begin:end])
            keys[game.place] = key = log.key(spec, game.positions) if log else b""
            known = log and log.get(key, game.place, batch.positions.shape[1])
            if known:
                put(known)
            else:
                games.append(game)
    with executor.start(Job(PositionSearcher, search_game, spec, place_text), AHEAD) as running:
        for some in run(running, games):
            put(some)
            if log:
                log.add(keys[some.place], some)
    return results


class Making(NamedTuple):
    """What targets are made with: what a run starts from, with the parameters that search, resolved
    options, a folder for files, and where searches run and are kept."""

    start: Start
    options: TuneSettings
    folder: Path
    searched: Searched
    executor: Executor
    log: SearchLog | None = None

    @property
    def parameters(self) -> Parameters:
        """The parameters that search."""
        return self.start.parameters

    @property
    def engine(self) -> CompiledTerms:
        """The engine that counts their terms."""
        assert self.start.engine is not None, "rows are refused, see `require_sources`"
        return self.start.engine

    @property
    def evaluation(self) -> tuple[CompiledTerms, Parameters]:
        """Both."""
        return self.engine, self.parameters

    @property
    def searching(self) -> tuple[Executor, Searched, SearchLog | None]:
        """Where positions are searched."""
        return self.executor, self.searched, self.log


class SearchTargets(Targets):
    """Outcomes replaced by lambda-returns of search values, which are in [-1, 1] and of the first
    player's view. The search is the one that plays matches."""

    replaces = around_searcher = True

    def __init__(self, making: Making) -> None:
        self._made, depth = making, making.options.depth
        assert depth is not None, "options are resolved"
        self._spec = SearchSpec(evaluation_spec(*making.evaluation), True, depth)

    def __call__(self, batch: PositionBatch) -> tuple[PositionBatch, np.ndarray]:
        lambda_ = self._made.options.lambda_ or 0.0
        values = self._values(batch) if lambda_ < 1 else batch.outcomes.astype(float)
        targets = values.copy()
        for begin, end in batch.ranges:
            if lambda_ > 0 and begin < end:
                plies = self._made.engine.game.plies(batch.positions[begin:end])
                part, decay = values[begin:end], decays(lambda_, plies)
                # the search value has weight 1 - lambda^plies, later values the remainder
                targets[begin:end] += decay * errors(
                    differences(part, float(batch.outcomes[begin])), decay
                )
        return replace(batch, outcomes=targets.astype(np.float32)), batch.outcomes

    def _values(self, batch: PositionBatch) -> np.ndarray:
        searched = searches(self._spec, batch, *self._made.searching)
        scale = self._made.parameters.scale
        return np.where(np.isnan(searched.known), np.tanh(scale * searched.scores), searched.known)


class Leaves(Targets):
    """Positions replaced by the leaves of exact searches, with the data that TD(lambda) needs;
    without a search (no depth) they stay."""

    def __init__(self, making: Making) -> None:
        self._made = making
        self._decay: list[np.ndarray] = []
        self._known: list[np.ndarray] = []
        depth = making.options.depth
        self._spec = (
            SearchSpec(evaluation_spec(*making.evaluation), False, depth) if depth else None
        )

    def __call__(self, batch: PositionBatch) -> tuple[PositionBatch, np.ndarray]:
        engine, lambda_ = self._made.engine, self._made.options.lambda_ or 0.0
        for begin, end in batch.ranges:
            if begin < end:
                self._decay.append(decays(lambda_, engine.game.plies(batch.positions[begin:end])))
        if self._spec is None:
            self._known.append(np.full(len(batch.positions), np.nan))
            return batch, batch.outcomes
        searched = searches(self._spec, batch, *self._made.searching)
        self._known.append(searched.known)
        return replace(batch, positions=searched.leaves), batch.outcomes

    def datafit(self, data: Dataset, start: Parameters) -> Callable[..., Temporal]:
        """See `Targets`."""
        followed = TemporalData(np.concatenate(self._decay), np.concatenate(self._known))
        return partial(Temporal, temporal=followed)
