"""Searches of positions as targets: the values that they find, or the positions at their leaves."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar

from games.record import PositionBatch
from games.search.searcher import Limits
from tuner.cluster.worker import program
from tuner.core.records import InputError
from tuner.core.store import Store
from tuner.evaluation.engine import Engine
from tuner.evaluation.explain import known_values, leaf_of
from tuner.evaluation.loading import EvaluationSpec, engine_of, evaluation_spec
from tuner.io.run_folder import BEGUN, SEARCHES
from tuner.objectives.temporal import TemporalData, decays, differences, errors
from tuner.options.option import no_use
from tuner.parallel import Executor, Job, run
from tuner.parameters.parameters import Parameters
from tuner.statistics.intervals import NORMAL

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
        numbers = np.column_stack([found.scores, found.wins]).astype(np.float64).view(np.uint64)
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
    found = GameSearches(
        0,
        np.empty_like(batch.positions),
        np.empty(len(batch.positions)),
        np.zeros(len(batch.positions)),
    )

    def put(some: GameSearches) -> None:
        part = slice(some.place, some.place + len(some.scores))
        found.leaves[part], found.scores[part], found.wins[part] = (
            some.leaves,
            some.scores,
            some.wins,
        )
        for _ in range(len(some.scores)):
            searched()

    games, keys = [], {}
    for begin, end in zip(
        batch.first, np.append(batch.first[1:], len(batch.positions)), strict=True
    ):
        if begin < end:
            game = GamePositions(int(begin), batch.positions[begin:end])
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
    return found


def search_values(
    engine: Engine,
    parameters: Parameters,
    depth: int,
    executor: Executor,
    searched: Searched = lambda: None,
    log: SearchLog | None = None,
) -> Callable[[PositionBatch], np.ndarray]:
    """Return a function from a batch to the search values (n,) of its positions, in [-1, 1], first
    player's view.

    The search is the one that plays matches.
    """
    spec = SearchSpec(evaluation_spec(engine, parameters), True, depth)

    def values(batch: PositionBatch) -> np.ndarray:
        found = searches(spec, batch, executor, searched, log)
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
        log: SearchLog | None = None,
    ) -> None:
        self._engine, self._parameters, self._lambda = engine, parameters, lambda_
        self._executor, self._searched, self._log = executor, searched, log
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
        found = searches(self._spec, batch, self._executor, self._searched, self._log)
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


LOWEST, HIGHEST = 1e-5, 0.1  # plausible scales, as for evaluations
STEPS = 41  # of the grid on which the fit begins: the sum of squares may have several minima
FEWEST_GAMES = 20
CERTAIN = 3.0  # standard errors from zero
SAMPLE = 1_000_000  # positions: enough for three digits
UNDECIDED = 1.5  # scale * score up to which a position is not decided: a score of 95 %
SHOWN_CENTIPAWNS = 100.0  # centipawns, in lines for people
TARGETS = "choose --method logistic or rootstrap"  # in place of scores


class Unscored(InputError):
    """Positions without scores to learn from, or with scores that cannot be used. `found` describes
    them; different `targets`, and an engine as `teacher`, are what to do."""

    def __init__(self, found: str, targets: str, teacher: str = "") -> None:
        super().__init__(
            "; ".join(filter(None, (found, ", or ".join(filter(None, (targets, teacher))))))
        )
        self.found = found


class ScoreScale(NamedTuple):
    """The scale of scores: `value` and its standard error, clustered by game, in 1 / centipawns;
    with the numbers of games and finite scores."""

    value: float
    error: float
    games: int
    scores: int


def fit_score_scale(
    scores: np.ndarray, results: np.ndarray, games: np.ndarray, what: str = "recorded scores"
) -> ScoreScale:
    """Return the scale at which scores predict results best. InputError if there are too few games,
    or if scores do not predict the results; `what` names them there."""
    scores, results, group = _finite(scores, results, games)
    count = int(group.max(initial=-1)) + 1
    if count < FEWEST_GAMES:
        raise Unscored(
            f"{what}: only {count} games with scores that are not mates, expected at least"
            f" {FEWEST_GAMES} to scale scores by the results of the games",
            TARGETS,
        )

    def loss(log_scale: float) -> float:
        return float(((results - np.tanh(np.exp(log_scale) * scores)) ** 2).mean())

    grid = np.linspace(np.log(LOWEST), np.log(HIGHEST), STEPS)
    best = int(np.argmin([loss(point) for point in grid]))
    if 0 < best < STEPS - 1:
        found = minimize_scalar(
            loss, bounds=(grid[best - 1], grid[best + 1]), method="bounded", options={"xatol": 1e-7}
        )
        scale = float(np.exp(found.x))
        error = _error(scale, scores, results, group, count)
        if scale >= CERTAIN * error:
            return ScoreScale(scale, error, count, len(scores))
    raise Unscored(
        f"{what}: do not predict the results of these {count:,} games, so they cannot be scaled;"
        " expected scores of the first player's view in centipawns",
        TARGETS,
    )


def _finite(
    scores: np.ndarray, results: np.ndarray, games: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the finite scores, their results as float64, and the number of the game of each; of
    whole games if there are more than SAMPLE."""
    known = np.isfinite(scores)
    _, group = np.unique(games[known], return_inverse=True)
    some = slice(None)
    if (every := len(group) // SAMPLE) > 1:
        some = group % every == 0
        _, group = np.unique(group[some], return_inverse=True)
    return scores[known][some].astype(np.float64), results[known][some].astype(np.float64), group


def _error(
    scale: float, scores: np.ndarray, results: np.ndarray, group: np.ndarray, count: int
) -> float:
    """Return the cluster-robust standard error of a fitted scale (sandwich estimator)."""
    values = np.tanh(scale * scores)
    slope = scores * (1 - values**2)
    sums = np.bincount(group, slope * (results - values), count)
    return float(np.sqrt((sums**2).sum() * count / (count - 1)) / (slope**2).sum())


def scale_line(found: ScoreScale, what: str = "recorded scores") -> str:
    """Return a line about a fitted scale, with a 95 % interval."""
    value = np.tanh(found.value * SHOWN_CENTIPAWNS)
    half = NORMAL * found.error * SHOWN_CENTIPAWNS * (1 - value**2) / 2
    return (
        f"{what}: +{SHOWN_CENTIPAWNS:g} centipawns score {100 * (1 + value) / 2:.1f} +/-"
        f" {100 * half:.1f} % in"
        f" these games ({found.scores:,} scores of {found.games:,} games)"
    )


def blended(scores: np.ndarray, results: np.ndarray, scale: float, lambda_: float) -> np.ndarray:
    """Return the targets (n,) float32: (1 - lambda) * tanh(scale * score) + lambda * result; NaN
    where the score is unknown, except for lambda 1, which needs none."""
    if lambda_ == 1:
        return results.astype(np.float32)
    return ((1 - lambda_) * np.tanh(scale * scores.astype(np.float64)) + lambda_ * results).astype(
        np.float32
    )


def later_blended(
    scores: np.ndarray, results: np.ndarray, scale: float, lambda_: float, first: np.ndarray
) -> np.ndarray:
    """Return the targets (n,) float32 of the positions of whole games, which begin at `first`
    (games + 1,): (1 - lambda) * tanh(scale * score) + lambda * target of the next position of the
    game, and of the last one the result: the lambda-returns of Sutton (1988)."""
    if lambda_ == 1:
        return results.astype(np.float32)
    targets = np.tanh(scale * scores.astype(np.float64))
    begins, ends = first[:-1], first[1:]
    for back in range(1, int((ends - begins).max(initial=0)) + 1):  # the last positions first
        places = ends[ends - begins >= back] - back
        later = results[places] if back == 1 else targets[places + 1]
        targets[places] = (1 - lambda_) * targets[places] + lambda_ * later
    return targets.astype(np.float32)


def close(scores: np.ndarray, evaluations: np.ndarray, scale: float, most: float) -> np.ndarray:
    """Return which positions (n,) bool have a score that differs by at most `most` centipawns from
    our static evaluation (n,).

    Scores are brought to the unit of the evaluation by the factor with the least sum of absolute
    differences, over positions that are not decided; `scale` is the scale of the scores. A mate
    differs from every evaluation."""
    used = (np.abs(scores) * scale < UNDECIDED) & (scores != 0)  # without unknown scores too
    ratios, weights = evaluations[used] / scores[used], np.abs(scores[used].astype(np.float64))
    order = np.argsort(ratios, kind="stable")
    sums = np.cumsum(weights[order])
    factor = float(ratios[order[np.searchsorted(sums, sums[-1] / 2)]]) if len(sums) else 0.0
    if factor <= 0:
        raise InputError(
            no_use(
                "--max-difference",
                "the evaluations of the starting values do not rise with the scores",
                "start from different values",
            )
        )
    return np.abs(scores * factor - evaluations) <= most
