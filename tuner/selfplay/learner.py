"""The learner: weights, their average, and the state of an update rule, updated after each batch of games."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tuner.engine.coefficients import Coefficients, LinearisedRows, MovedRows, coefficients_of, moved_rows_of
from tuner.engine.engine import Engine
from tuner.engine.leaves import known_values
from tuner.fit.learners.rules import NEVER_NEGATIVE, RULES, State
from tuner.parameters.parameters import Parameters
from tuner.selfplay.backups import BACKUPS, BackupInput
from tuner.selfplay.folder import Expected
from tuner.selfplay.play import Episode
from tuner.selfplay.settings import Settings

STATE = "state."  # of names in a checkpoint
BETWEEN, SELVES = 25, 32  # batches between past selves at first, and their largest number


@dataclass
class Learner:
    """Weights (stages, columns) after `batches` batches.

    `weights` are learned; their `average` (exponential, over a growing window) plays. `kept` maps a number of batches to the
    average after them: the latest ones, and past selves.
    """

    engine: Engine
    parameters: Parameters
    settings: Settings
    weights: np.ndarray
    average: np.ndarray
    state: State
    kept: dict[int, np.ndarray]
    batches: int = 0

    def __post_init__(self) -> None:
        parameters, settings = self.parameters, self.settings
        self.rule, self.backup = RULES[settings.rule], BACKUPS[settings.method]
        self.free = ~parameters.mask((*parameters.fixed, *settings.fixed))
        self.low, self.high = parameters.limits()

    def learn(self, episodes: list[Episode], played: np.ndarray) -> dict:
        """Learn from games that the weights `played` (stages, columns) played; return statistics of the update."""
        rule, settings, scale = self.rule, self.settings, self.parameters.scale
        broken_off = None if settings.truncated == "value" else 0
        episodes = [episode if episode.outcome is not None else replace(episode, outcome=broken_off)
                    for episode in episodes if len(episode.ply)]
        playing = self.parameters.with_weights(played)
        positions = [self.backup.positions(episode) for episode in episodes]
        rows = self._rows(np.concatenate(positions or [np.zeros((0, self.engine.game.words), np.uint64)]))
        values = np.tanh(scale * rows.evaluations(self.weights))
        parts = np.split(values, np.cumsum([len(part) for part in positions])[:-1])
        inputs = [BackupInput(self._rewarded(episode), self._rewards(known_values(
                      episode.scores, episode.wins, self.engine.evaluate(episode.leaves, playing))),
                      scale, settings.trace or 0.0, settings.gated, settings.blunders) for episode in episodes]
        errors = np.concatenate([np.zeros(0), *(self.backup.errors(*given) for given in zip(inputs, parts, strict=False))])
        batches = self.batches + 1
        gradient = np.where(self.free, rows.slopes(errors, scale, self.weights), 0.0)
        change = self.rate * rule.step(self.state, gradient, len(values), batches)
        if settings.largest_step is not None:
            change = np.clip(change, -settings.largest_step, settings.largest_step)
        self.weights = np.clip(self.weights + np.where(self.free, change, 0.0), self.low, self.high)
        keep = kept_share(settings, batches)
        self.average = keep * self.average + (1 - keep) * self.weights
        self._remember(batches)
        leaves = sum(len(given.known) for given in inputs)
        return {"squares": float((errors**2).mean()) if len(errors) else 0.0, "step": float(np.abs(change).mean()),
                "drift": float(np.abs(self.average - self.parameters.weights).mean()),
                "static": float(sum(np.isnan(given.known).sum() for given in inputs) / max(leaves, 1))}

    def _rewarded(self, episode: Episode) -> Episode:
        """Return a game with the outcome that is learned from."""
        if not self.settings.wins or episode.outcome is None:
            return episode
        return replace(episode, outcome=float(self._rewards(np.array(episode.outcome))))

    def _rewards(self, rewards: np.ndarray) -> np.ndarray:
        """Return rewards as those that are learned from: of one point, if only wins count."""
        return np.sign(rewards) / self.engine.game.points if self.settings.wins else rewards

    def arrays(self) -> dict[str, np.ndarray]:
        """Return all that a checkpoint needs, see `tuner.selfplay.folder.Learning`."""
        return {"weights": self.weights, "average": self.average, "kept": np.array(list(self.kept.values())),
                "kept_batches": np.array(list(self.kept)), **{STATE + name: array for name, array in self.state.items()}}

    def expected(self, saved: dict[str, np.ndarray]) -> dict[str, Expected]:
        """Return what the arrays of a checkpoint have to be."""
        shape, kept = self.weights.shape, saved.get("kept", np.zeros(0))
        return {"weights": Expected(shape), "average": Expected(shape),
                **{STATE + name: Expected(shape, least=0 if name in NEVER_NEGATIVE else -np.inf) for name in self.rule.names},
                "kept": Expected((len(kept) if kept.ndim else 0, *shape)), "kept_batches": Expected(kept.shape[:1], "i", 0)}

    def fault(self, saved: dict[str, np.ndarray], history: list[dict]) -> str | None:
        """Return what is wrong with the averages in a checkpoint, None if nothing is."""
        batches, kept = int(saved["batches"]), saved["kept_batches"].tolist()
        if lacking := self.needed(batches) - set(kept):
            return f"it lacks the weights after {min(lacking)} batches"
        return f"kept_batches do not fit {batches} batches" if len(set(kept)) < len(kept) or max(kept) > batches else None

    def take(self, saved: dict[str, np.ndarray]) -> None:
        """Continue from a checkpoint."""
        self.weights, self.average, self.batches = saved["weights"], saved["average"], int(saved["batches"])
        self.state = {name: saved[STATE + name] for name in self.rule.names}
        self.kept = dict(zip(saved["kept_batches"].tolist(), saved["kept"], strict=True))

    def _rows(self, positions: np.ndarray) -> Coefficients | LinearisedRows | MovedRows:
        settings = self.settings
        if settings.gradient == "analytic":
            return coefficients_of(self.engine, positions, len(self.weights))
        return moved_rows_of(self.engine, positions, settings.step, settings.gradient == "central-difference")

    @property
    def rate(self) -> float:
        """The current learning rate."""
        return learning_rate(self.settings, self.batches)

    def needed(self, batches: int) -> set[int]:
        """Return the numbers of batches whose averages future games need: the latest ones, and past selves."""
        oldest = max(0, batches - self.settings.lag)
        return {*range(oldest, batches + 1), *range(0, oldest, spacing_at(oldest))}

    def _remember(self, batches: int) -> None:
        """Keep the averages that future games need; the number of batches is updated last, because threads read it."""
        kept = {**self.kept, batches: self.average}
        self.kept = {batch: kept[batch] for batch in sorted(self.needed(batches)) if batch in kept}
        self.batches = batches


def learning_rate(settings: Settings, batches: int) -> float:
    """Return the learning rate after some batches: it falls as 1 / (1 + batches / decay), down to a floor."""
    start = RULES[settings.rule].rate if settings.rate is None else settings.rate
    return start * max(settings.floor, 1 / (1 + batches / settings.decay))


def kept_share(settings: Settings, batches: int) -> float:
    """Return the share of the old average that is kept at batch 1, 2, ...: the window grows with the run."""
    return min(settings.average, (1 + batches) / (10 + batches))


def spacing_at(batches: int) -> int:
    """Return the number of batches between past selves: 25, or more if there would be too many."""
    spacing = BETWEEN
    while batches > SELVES * spacing:
        spacing *= 2
    return spacing


def new_learner(engine: Engine, parameters: Parameters, settings: Settings) -> Learner:
    """Return a learner that has not learned from any game."""
    weights = parameters.weights.copy()
    if settings.noise:
        free = ~parameters.mask((*parameters.fixed, *settings.fixed))
        noise = np.random.default_rng([settings.seed, 1]).normal(0, settings.noise, weights.shape)
        weights = np.clip(weights + np.where(free, noise, 0.0), *parameters.limits())
    state = {name: np.zeros(weights.shape) for name in RULES[settings.rule].names}
    return Learner(engine, parameters, settings, weights, weights.copy(), state, {0: weights})
