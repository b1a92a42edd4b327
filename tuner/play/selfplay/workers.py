"""Games of self-play as work for any process. They do not depend on where they are played, nor on
how many at once."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from games.record import Control, Player
from games.search.searcher import Searcher
from tuner.evaluation.evaluation import PlainEvaluation, evaluation_from
from tuner.parallel import Job, Running
from tuner.play.openings import Opening
from tuner.play.players import PlayerSpec, SearchPlayer, make_player
from tuner.play.selfplay.games import Episode, Plan, play_episode
from tuner.play.selfplay.learner import PAST, SELF, WeightsLearner, spacing_at

# of a transposition table: a search of some plies fills no more, and it is cleared for each game
MEGABYTES = 1


@dataclass(frozen=True)
class SelfplaySpec:
    """All that games depend on apart from weights and openings. `evaluation` is that of the
    learner, whose weights change; `opponents` are the names in their turn, and `others` the players
    of those that are neither `self` nor `past`; `harvest` is that of the method, see
    `games.search.searcher.Searcher.harvest`."""

    evaluation: PlainEvaluation
    plan: Plan
    control: Control
    seed: int
    opponents: tuple[str, ...]
    others: tuple[tuple[str, PlayerSpec], ...]
    harvest: tuple[int, int | None] | None


class LearningTask(NamedTuple):
    """A game to play: its number, its opening, the number of batches after which the weights that
    play were saved, and the same for a past self that is the opponent; None: another opponent. The
    weights themselves are shared by tasks."""

    number: int
    opening: Opening
    version: int
    past: int | None


class SelfplayPlayers:
    """One thread's searcher and its opponents. InputError if one of them cannot be started."""

    def __init__(self, spec: SelfplaySpec, stopped: Callable[[], bool]) -> None:
        self.spec, self.stopped = spec, stopped
        self.evaluation = evaluation_from(spec.evaluation)
        self.game = self.evaluation.game
        self.searcher = self.evaluation.searcher(False, MEGABYTES, lean=False)
        if spec.harvest:
            self.searcher.harvest(*spec.harvest)
        self._bound = -1
        self._past: tuple[Searcher, Player] | None = None
        if PAST in spec.opponents:
            searcher = self.evaluation.searcher(True, MEGABYTES, lean=False)
            self._past = searcher, SearchPlayer(self.game, searcher, spec.control)
        self._others: dict[str, Player] = {}
        try:
            for name, player in spec.others:
                self._others[name] = make_player(player, self.game)
        except BaseException:
            self.close()
            raise

    def ready(self) -> None:
        """Opponents are started with the state."""

    def use(self, version: int, weights: np.ndarray) -> None:
        """Search with the weights of a version."""
        if version != self._bound:
            self._bind(self.searcher, weights)
            self._bound = version

    def opponent(self, name: str, past: np.ndarray | None) -> Player | None:
        """Return the opponent of this name, with the weights of a past self. None: the learner
        itself."""
        if name == SELF:
            return None
        if name != PAST:
            return self._others[name]
        assert self._past is not None and past is not None, "made for an opponent of this name"
        self._bind(self._past[0], past)
        return self._past[1]

    def _bind(self, searcher: Searcher, weights: np.ndarray) -> None:
        self.evaluation.with_weights(weights).bind(searcher)

    def abort(self) -> None:
        self.searcher.stop()
        for player in [*self._others.values(), *([self._past[1]] if self._past else [])]:
            player.abort()

    def close(self) -> None:
        for player in self._others.values():
            player.close()


def play_game(
    players: SelfplayPlayers,
    task: LearningTask,
    weights: np.ndarray,
    past: np.ndarray | None = None,
) -> Episode | None:
    """Play a game with these weights (stages, columns), maybe against a past self; None if it was
    stopped."""
    spec = players.spec
    turn, which = divmod(task.number, len(spec.opponents))
    players.use(task.version, weights)
    opponent = players.opponent(spec.opponents[which], past)
    return play_episode(
        players.game,
        players.searcher,
        spec.plan,
        task.number,
        spec.seed,
        task.opening,
        opponent,
        turn & 1,
        players.stopped,
    )


def selfplay_job(spec: SelfplaySpec) -> Job:
    """Return the work of a run."""
    return Job(SelfplayPlayers, play_game, spec, game_text)


def game_text(task: LearningTask) -> str:
    """Name a game by its number, as it is in the file of games."""
    return f"game {task.number + 1}"


class Workers:
    """Has games played, batch after batch. Batch b is played with the weights after b - lag
    batches, so that workers do not idle during the last games of a batch, and games are the same
    for any number of workers."""

    def __init__(
        self,
        learner: WeightsLearner,
        opening: Callable[[int], Opening],
        running: Running,
        played: int,
    ) -> None:
        """`played` games were learned from before: the next batch begins there, also after one that
        was cut short."""
        self._learner, self._opening, self._running, self._played = (
            learner,
            opening,
            running,
            played,
        )
        self._settings = learner.settings
        self._shared: dict[int, object] = {}  # weights by version

    def version(self, batch: int) -> int:
        """Return the number of batches after which the weights that play a batch were saved."""
        return max(0, batch - self._settings.lag)

    def batches(self, interrupted: threading.Event) -> Iterator[list[Episode]]:
        """Yield the games of one batch after another, in order; the learner must learn from each
        before asking for the next."""
        begun, total, size = self._learner.batches, self._settings.games, self._settings.batch
        games = {
            begun + i: range(first, min(total, first + size))
            for i, first in enumerate(range(self._played, total, size))
        }
        found: dict[int, Episode] = {}
        completed = self._running.completed(interrupted)
        submitted = begun
        for batch in games:
            while submitted in games and self.version(submitted) <= self._learner.batches:
                for number in games[submitted]:
                    self._submit(number, self.version(submitted))
                submitted += 1
            while not all(number in found for number in games[batch]):
                episode = next(completed, None)
                if episode is None or interrupted.is_set():
                    return
                found[episode.number] = episode
            yield [found.pop(number) for number in games[batch]]

    def _submit(self, number: int, version: int) -> None:
        settings, past = self._settings, None
        if settings.opponents[number % len(settings.opponents)] == PAST:
            spacing, draw = (
                spacing_at(version),
                random.Random(f"{settings.seed} opponent {number}").random(),
            )
            past = int(draw * (version // spacing + 1)) * spacing
        shared = [self._weights(each) for each in (version, past) if each is not None]
        self._running.submit(LearningTask(number, self._opening(number), version, past), *shared)

    def _weights(self, version: int) -> object:
        """Return what stands for the weights of a version; those that no later game needs are
        forgotten."""
        kept = self._learner.kept
        if version not in self._shared:
            self._shared[version] = self._running.share(kept[version])
            self._shared = {each: shared for each, shared in self._shared.items() if each in kept}
        return self._shared[version]
