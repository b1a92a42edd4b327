"""The learner of self-play: backups, which compute the targets of a game, and the weights, their
average and the state of an update rule.

A backup names positions of an episode and, given their values v = tanh(scale * centipawns), an
error c for each: the weights move along the sum of c dv/dw. All values are from the first player's
point of view.

    td          the positions played; TD(lambda) errors of their static values
    td-leaf     the same for the leaves of the searches' principal variations
    rootstrap   the positions played, towards the lambda-return of their search values; with lambda
                = 0 the target is the
                value of the position's own search, as published (Veness, Silver, Uther and Blair
                2009)
    treestrap   all positions inside the search trees, towards the bounds that the search proved for
                them (same source)

The value of a leaf is known if the game is decided or drawn there: such a leaf has no gradient.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from games.search.context import DECIDED, UNIT
from games.streams import InputError
from tuner.evaluation.evaluation import Evaluation
from tuner.fit.learners.steps import RULES, At, State, chain, scheduled, within
from tuner.objectives.temporal import decays, differences, errors, unpredicted_blunders
from tuner.options.selfplay import SelfplaySettings
from tuner.play.selfplay.games import Episode

SELF, PAST = "self", "past"  # opponents
TREE_ROOM = 20_000  # positions kept of one search's tree
FLATTEST = 1e-12  # least slope of a value
LOST, SATURATED = 1 - 1e-6, 0.9  # values without a slope, and their share at most
WON = DECIDED / UNIT  # centipawns: scores beyond this are forced wins


class Saturated(InputError):
    """Most values of a batch are those of won and lost games, which have no slope."""


class BackupInput(NamedTuple):
    """An episode, whose `known` values are rewards to learn from, and the settings of a backup."""

    episode: Episode
    scale: float
    lambda_: float  # lambda, per ply
    gated: bool = False  # rootstrap, treestrap: learn only from quiet positions
    blunders: str = "ignore"  # an opponent's unpredicted mistakes, or "keep" their errors
    largest: float = np.inf  # difference of successive values that counts


class Untold(NamedTuple):
    """What games were learned from without their outcomes: the weights then, and how many games had
    been learned from before."""

    weights: np.ndarray
    games: int


class Backup(NamedTuple):
    """A method of learning: `positions(episode)` (n, words) to learn from; `errors(given, values)`
    (n,) of their values (n,)."""

    positions: Callable[[Episode], np.ndarray]
    errors: Callable[[BackupInput, np.ndarray], np.ndarray]
    # how many positions of each tree to keep, and of which iteration
    harvest: tuple[int, int | None] | None = None


def returns(given: BackupInput, values: np.ndarray) -> np.ndarray:
    """Return the TD(lambda) errors c (m,) of values (m,) at the positions searched."""
    episode = given.episode
    d = np.clip(differences(values, episode.outcome), -given.largest, given.largest)
    decay = decays(given.lambda_, episode.ply)
    if episode.side is not None and given.blunders == "ignore":
        own = 1 - 2 * episode.side
        d = own * unpredicted_blunders(own * d, episode.predicted)
    # after a random move, values belong to another game
    d, decay = np.where(episode.explored, 0.0, d), np.where(episode.explored, 0.0, decay)
    return errors(d, decay)


def _td_leaf(given: BackupInput, values: np.ndarray) -> np.ndarray:
    known = given.episode.known
    unknown = np.isnan(known)
    return np.where(unknown, returns(given, np.where(unknown, values, known)), 0.0)


def _rootstrap(given: BackupInput, values: np.ndarray) -> np.ndarray:
    episode = given.episode
    scores = np.tanh(given.scale * episode.scores)
    searched = np.where(np.isnan(episode.known), scores, episode.known)
    targets = searched + given.lambda_ * returns(given, searched)
    quiet = episode.tree.quiet if given.gated else True
    return np.where(quiet, targets - values, 0.0)


def _treestrap(given: BackupInput, values: np.ndarray) -> np.ndarray:
    tree = given.episode.tree
    low, high = (_value(bound, given.scale) for bound in (tree.low, tree.high))
    quiet = tree.quiet if given.gated else True
    return np.where(quiet, np.clip(values, low, high) - values, 0.0)


def _value(centipawns: np.ndarray, scale: float) -> np.ndarray:
    """Return the values of scores, which may be forced wins."""
    return np.where(np.abs(centipawns) > WON, np.sign(centipawns), np.tanh(scale * centipawns))


BACKUPS = {
    "td": Backup(lambda episode: episode.positions, returns),
    "td-leaf": Backup(lambda episode: episode.leaves, _td_leaf),
    "rootstrap": Backup(lambda episode: episode.positions, _rootstrap, (1, 1)),
    "treestrap": Backup(lambda episode: episode.tree.positions, _treestrap, (TREE_ROOM, None)),
}


STATE = "state."  # of names in a checkpoint
BETWEEN, SELVES = 25, 32  # batches between past selves at first, and their largest number


@dataclass
class WeightsLearner:
    """Weights, in the shape of the evaluation's, after `batches` batches.

    `weights` are learned; their `average` (exponential, over a growing window) plays. `kept` maps a
    number of batches to the average after them: the latest ones, and past selves."""

    evaluation: Evaluation  # at the start
    settings: SelfplaySettings
    weights: np.ndarray
    average: np.ndarray
    state: State
    kept: dict[int, np.ndarray]
    batches: int = 0

    def __post_init__(self) -> None:
        settings = self.settings
        self.rule, self.backup = RULES[settings.learner], BACKUPS[settings.method]
        self.free = self.evaluation.free(settings.fixed)
        self.low, self.high = self.evaluation.limits()
        self.change = chain(
            self.rule.step,
            scheduled(
                self.first_rate,
                settings.floor,
                settings.half_life,
                self.evaluation.rates(settings.output_rate),
            ),
            within(settings.largest_step),
        )

    def learn(
        self, episodes: list[Episode], least: float = 0.0, untold: Untold | None = None
    ) -> dict:
        """Learn from games; return statistics of the update. Nothing changes where the mean square
        of the errors is below `least`. `untold`: the games were learned from without their
        outcomes, and what these add to that step is learned. Saturated, with nothing changed, if
        nothing is learned from them."""
        settings, scale = self.settings, self.evaluation.scale
        weights, games = self.weights, self.batches * settings.batch
        if untold is not None:
            weights, games = untold
        broken_off = None if settings.truncated == "value" else 0
        episodes = [_with_lesson(episode, broken_off) for episode in episodes if len(episode.ply)]
        positions = [self.backup.positions(episode) for episode in episodes]
        rows = self.evaluation.positions(
            np.concatenate(positions or [np.zeros((0, self.evaluation.game.words), np.uint64)]),
            settings.gradient,
            settings.step,
        )
        values = np.tanh(scale * rows.evaluations(weights))
        parts = np.split(values, np.cumsum([len(part) for part in positions])[:-1])
        inputs = [
            BackupInput(
                self._rewarded(episode),
                scale,
                settings.lambda_ or 0.0,
                settings.gated,
                settings.blunders,
                settings.largest_error or np.inf,
            )
            for episode in episodes
        ]
        errors = self._errors(inputs, parts)
        squares = _mean_square(errors)
        errors = errors if squares >= least else np.zeros_like(errors)
        if untold is not None:
            before = self._errors(
                [
                    given._replace(episode=replace(given.episode, outcome=broken_off))
                    for given in inputs
                ],
                parts,
            )
            errors -= before if _mean_square(before) >= least else 0.0
            squares = _mean_square(errors)
        batches = self.batches + 1
        if (np.abs(values) > LOST).sum() > SATURATED * len(values):
            raise self._saturated(batches)
        # of the cross-entropy of p = (1 + v) / 2 the derivative lacks the slope of v
        flat = np.maximum(1 - values**2, FLATTEST) if settings.loss == "cross-entropy" else 1.0
        gradient = np.where(self.free, rows.slopes(errors / flat, scale, weights), 0.0)
        change, keep = np.zeros(self.weights.shape), 1.0
        if errors.any() or not least:
            change = self.change(self.state, gradient, At(len(values), batches, games))
            keep = kept_share(settings, batches)
        if not np.isfinite(change).all():
            raise self._saturated(batches)
        self.weights = np.clip(self.weights + np.where(self.free, change, 0.0), self.low, self.high)
        self.average = keep * self.average + (1 - keep) * self.weights
        self._remember(batches)
        leaves = sum(len(given.episode.known) for given in inputs)
        return {
            "squares": squares,
            "step": float(np.abs(change).mean()),
            "drift": float(np.abs(self.average - self.evaluation.weights).mean()),
            "static": float(
                sum(np.isnan(given.episode.known).sum() for given in inputs) / max(leaves, 1)
            ),
        }

    def _errors(self, inputs: list[BackupInput], parts: list[np.ndarray]) -> np.ndarray:
        """Return the errors (n,) of all values, of which each game has a part."""
        found = (self.backup.errors(*given) for given in zip(inputs, parts, strict=False))
        return np.concatenate([np.zeros(0), *found])

    def _saturated(self, batches: int) -> Saturated:
        smaller = min(self.first_rate / 5, self.evaluation.rate(self.settings.learner))
        return Saturated(
            f"--learning-rate {self.first_rate:g}: in batch {batches:,} the values of most"
            " positions are those of won and lost games, so that nothing is learned any more;"
            f" choose a smaller one, such as {smaller:.2g}"
        )

    def _rewarded(self, episode: Episode) -> Episode:
        """Return a game with the rewards that are learned from: of one point, if only wins
        count."""
        if not self.settings.wins:
            return episode
        points, outcome = self.evaluation.game.points, episode.outcome
        return replace(
            episode,
            known=np.sign(episode.known) / points,
            outcome=None if outcome is None else float(np.sign(outcome)) / points,
        )

    def arrays(self) -> dict[str, np.ndarray]:
        """Return everything that a checkpoint needs."""
        return {
            "weights": self.weights,
            "average": self.average,
            "kept": np.array(list(self.kept.values())),
            "kept_batches": np.array(list(self.kept)),
            **{STATE + name: array for name, array in self.state.items()},
        }

    def take(self, saved: dict[str, np.ndarray]) -> None:
        """Continue from a checkpoint."""
        self.weights, self.average, self.batches = (
            saved["weights"],
            saved["average"],
            int(saved["batches"]),
        )
        self.state = {name: saved[STATE + name] for name in self.rule.names}
        self.kept = dict(zip(saved["kept_batches"].tolist(), saved["kept"], strict=True))

    @property
    def first_rate(self) -> float:
        """The learning rate of the first batch."""
        given = self.settings.learning_rate
        return self.evaluation.rate(self.settings.learner) if given is None else given

    def needed(self, batches: int) -> set[int]:
        """Return the numbers of batches whose averages future games need: the latest ones, and past
        selves."""
        oldest = max(0, batches - self.settings.lag)
        past = range(0, oldest, spacing_at(oldest)) if PAST in self.settings.opponents else ()
        return {*range(oldest, batches + 1), *past}

    def _remember(self, batches: int) -> None:
        """Keep the averages that future games need; the number of batches is updated last, because
        threads read it."""
        kept = {**self.kept, batches: self.average}
        self.kept = {batch: kept[batch] for batch in sorted(self.needed(batches)) if batch in kept}
        self.batches = batches


def _mean_square(errors: np.ndarray) -> float:
    return float((errors**2).mean()) if len(errors) else 0.0


def _with_lesson(episode: Episode, broken_off: float | None) -> Episode:
    """Return a game with the outcome that its last value is moved towards, None for none: that of a
    forfeit teaches nothing, as in KnightCap."""
    if episode.is_forfeit:
        return replace(episode, outcome=None)
    return episode if episode.outcome is not None else replace(episode, outcome=broken_off)


def kept_share(settings: SelfplaySettings, batches: int) -> float:
    """Return the share of the old average that is kept at batch 1, 2, ...: the window grows with
    the run."""
    return min(settings.average, (1 + batches) / (10 + batches))


def spacing_at(batches: int) -> int:
    """Return the number of batches between past selves: 25, or more if there would be too many."""
    spacing = BETWEEN
    while batches > SELVES * spacing:
        spacing *= 2
    return spacing


def new_learner(evaluation: Evaluation, settings: SelfplaySettings) -> WeightsLearner:
    """Return a learner that has not learned from any game."""
    weights = evaluation.weights.astype(np.float64)
    if settings.noise:
        free = evaluation.free(settings.fixed)
        noise = np.random.default_rng([settings.seed, 1]).normal(0, settings.noise, weights.shape)
        weights = np.clip(weights + np.where(free, noise, 0.0), *evaluation.limits())
    state = {name: np.zeros(weights.shape) for name in RULES[settings.learner].names}
    return WeightsLearner(evaluation, settings, weights, weights.copy(), state, {0: weights})
