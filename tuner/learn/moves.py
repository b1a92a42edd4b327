"""Learning from moves: positions are replaced by those after each of their moves, which a teacher
evaluates, or of which one was played.

What follows a move that was played is compared at the leaves of short searches, where a game can be
searched (Bonanza's method: Hoki and Kaneko, JAIR 49, 2014)."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from types import TracebackType
from typing import NamedTuple

import numpy as np

from games.record import Dice, PositionBatch, Rater
from games.streams import InputError
from tuner.datasets.dataset import Dataset
from tuner.evaluation.engine import CompiledTerms
from tuner.evaluation.loading import evaluation_spec
from tuner.fit.choices import choices_of, usual_temperature
from tuner.fit.datafit import Datafit
from tuner.learn.searches import Making, Searched, SearchSpec, searches
from tuner.learn.targets import Targets
from tuner.options.tune import TuneSettings
from tuner.parameters.parameters import Parameters

# of choices, in points: moves of a roll that differ by more hardly matter. 0.03 to 0.1 were alike
TEMPERATURE = 0.05
NEAR = 0.25  # of values: moves that are worse than the one that was played by more teach nothing
AT_ONCE = 64  # positions searched with one table


class Choice(NamedTuple):
    """A choice among moves: the number of its game in the batch, the positions (k, words) after the
    moves, the probabilities (k,) that a choice should have, the view of the side that chooses, and
    the result of the game."""

    game: int
    positions: np.ndarray
    targets: np.ndarray
    view: float
    result: float


Choices = Callable[[PositionBatch], Iterator[Choice]]


def rated_choices(engine: CompiledTerms, rater: Rater, seed: int, searched: Searched) -> Choices:
    """Return the choices among the moves of one roll of each position, which the seed and the
    identity of its game decide, by a teacher's values at TEMPERATURE. Positions with a single move,
    or with one that ends the game, are left out."""
    game, chance = engine.game, engine.game.chance
    assert chance is not None, "see `require_possible`"

    def choices(batch: PositionBatch) -> Iterator[Choice]:
        for i, number in enumerate(_games_of(batch).tolist()):
            searched()
            words = batch.positions[i]
            rolled = chance.roll(words, Dice(seed, int(batch.identities[number]) % (1 << 32)))
            after = game.successors(rolled)
            if len(after) < 2 or any(game.result([each]) is not None for each in after):
                continue
            view = -1.0 if game.second_to_move(words) else 1.0
            values = view * rater.values(after) * game.points / TEMPERATURE
            odds = np.exp(values - values.max())
            yield Choice(number, after, odds / odds.sum(), view, float(batch.outcomes[i]))

    return choices


def played_choices(making: Making) -> Choices:
    """Return the choices among the moves of positions of games, each of which should be the move
    that was played; `per_game` of each game, drawn at random, or all. Moves that decide the game,
    and those that are worse than the one that was played by more than NEAR, are left out."""
    options, (engine, parameters) = making.options, making.evaluation
    game, scale, depth = engine.game, parameters.scale, options.depth
    spec = None if depth is None else SearchSpec(evaluation_spec(engine, parameters), False, depth)

    def judged(after: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the leaves of positions (n, words), their values (n,) in [-1, 1], first player's
        view, and whether (n,) they decide the game."""
        if spec is None or not len(after):
            over = np.array([game.result([words]) is not None for words in after], bool)
            return after, np.tanh(scale * engine.evaluate(after, parameters)), over
        each = np.zeros(len(after))
        begins = np.arange(0, len(after), AT_ONCE)
        tasks = PositionBatch(after, each, begins, begins, begins, begins)
        # searches are counted by the choices that they are of
        searched = searches(spec, tasks, making.executor, lambda: None)
        return searched.leaves, np.tanh(scale * searched.scores), np.nan_to_num(searched.known) != 0

    def choices(batch: PositionBatch) -> Iterator[Choice]:
        asked = list(_moves_played(engine, batch, options))
        nothing = np.zeros((0, game.words), np.uint64)
        played, best, over = judged(np.concatenate([nothing, *(some[:1] for *_, some in asked)]))
        near = []
        for k, (_, view, after) in enumerate(asked):
            static = np.tanh(scale * engine.evaluate(after, parameters))
            # captures by the opponent hardly ever make it better for the side that moved
            some = (view * (static - best[k]) >= -NEAR) & ~over[k]
            some[0] = False
            near.append(after[some])
        leaves, values, ended = judged(np.concatenate([nothing, *near]))
        end = 0
        for k, (place, view, _) in enumerate(asked):
            making.searched()
            begin, end = end, end + len(near[k])
            keep = ~ended[begin:end] & (view * (values[begin:end] - best[k]) >= -NEAR)
            if keep.any():
                # anywhere among them, since the first of equals counts as the choice
                others, at = leaves[begin:end][keep], place % (int(keep.sum()) + 1)
                after = np.insert(others, at, played[k], axis=0)
                targets = np.eye(1, len(after), at)[0]
                number = int(np.searchsorted(batch.first, place, side="right")) - 1
                yield Choice(number, after, targets, view, float(batch.outcomes[place]))

    return choices


def _games_of(batch: PositionBatch) -> np.ndarray:
    """Return the number (n,) of the game of each position of a batch."""
    return np.searchsorted(batch.first, np.arange(len(batch.positions)), side="right") - 1


def _moves_played(
    engine: CompiledTerms, batch: PositionBatch, options: TuneSettings
) -> Iterator[tuple[int, float, np.ndarray]]:
    """Yield the place of positions of whole games, the view of the side to move, and the positions
    after its moves, the move that was played first."""
    game = engine.game
    for (begin, end), identity in zip(batch.ranges, batch.identities.tolist(), strict=True):
        places = np.arange(begin, end - 1)
        if options.per_game and len(places) > options.per_game:
            draw = np.random.default_rng([identity, options.seed])
            places = np.sort(draw.choice(places, options.per_game, replace=False))
        for place in places.tolist():
            words = batch.positions[place]
            after = game.successors(words)
            same = (after == game.before_roll(batch.positions[place + 1])).all(axis=1)
            if len(after) > 1 and same.any():
                at = int(np.argmax(same))
                view = -1.0 if game.second_to_move(words) else 1.0
                yield place, view, np.concatenate([after[at : at + 1], np.delete(after, at, 0)])


class Moves(Targets):
    """Positions replaced by those that choices are among, and outcomes by the probabilities that a
    choice should have: of the moves that were played, or of a teacher's values."""

    replaces = True

    def __init__(self, making: Making) -> None:
        options, engine = making.options, making.engine
        self._game, self._rater = engine.game, None
        if options.teacher is None:
            self._choices = played_choices(making)
        else:
            start = engine.game.contest.rater
            assert start is not None, "see `require_game`"
            self._rater = start(options.teacher)
            self._choices = rated_choices(engine, self._rater, options.seed, making.searched)
        self._sizes: list[int] = []
        self._views: list[float] = []

    def __call__(self, batch: PositionBatch) -> tuple[PositionBatch, np.ndarray]:
        choices = list(self._choices(batch))
        sizes = [len(choice.positions) for choice in choices]
        self._sizes += sizes
        self._views += [choice.view for choice in choices]
        counts = np.zeros(len(batch.first) + 1, np.int64)
        for choice, size in zip(choices, sizes, strict=True):
            counts[choice.game + 1] += size
        nothing = np.zeros((0, self._game.words), np.uint64)
        results = np.array([choice.result for choice in choices], np.float32)
        chosen = replace(
            batch,
            positions=np.concatenate([nothing, *(choice.positions for choice in choices)]),
            outcomes=np.concatenate([np.zeros(0), *(choice.targets for choice in choices)]).astype(
                np.float32
            ),
            first=np.cumsum(counts)[:-1],
            scores=None,
        )
        return chosen, np.repeat(results, sizes)

    def __exit__(
        self, kind: type | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._rater is not None:
            self._rater.close()

    def datafit(self, data: Dataset, start: Parameters) -> Callable[..., Datafit]:
        """See `Targets`. The temperature of choices that were played is that at which the start
        predicts them best."""
        if data.apart:
            raise InputError(
                f"--method moves: term {data.apart[0]} is not linear in its weights; learn from"
                " moves without it, or choose --method logistic"
            )
        group = np.repeat(np.arange(len(self._sizes)), self._sizes)
        view = np.repeat(self._views, self._sizes)
        unit = TEMPERATURE / (start.scale * self._game.points)
        if self._rater is None:
            # without an evaluation: the temperature of a game that is won or lost at once
            temperature = usual_temperature(data, start.weights, group, view)
            unit = temperature or 1 / (2 * start.scale)
        return choices_of(group, view, unit)
