"""Threads that play, while the search releases Python's lock. Games do not depend on the number of threads."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator

from games.contest import Player
from games.search.searcher import Searcher
from tuner.match.openings import Opening
from tuner.parallel import Threads
from tuner.parameters.parameters import Parameters
from tuner.selfplay.learner import Learner, spacing_at
from tuner.selfplay.play import Episode, Plan, play_episode

SELF, PAST = "self", "past"


class ThreadPlayers:
    """One thread's searcher and its opponents. InputError if one of them cannot be started."""

    def __init__(self, learner: Learner, make_searcher: Callable[[Parameters, bool], Searcher],
                 make_opponent: Callable[[str], Player], past_player: Callable[[Searcher], Player]) -> None:
        self._learner = learner
        self.searcher = make_searcher(learner.parameters, False)
        self._bound = -1
        names = dict.fromkeys(learner.settings.opponents)
        self._past: tuple[Searcher, Player] | None = None
        if PAST in names:
            searcher = make_searcher(learner.parameters, True)
            self._past = searcher, past_player(searcher)
        self._others: dict[str, Player] = {}
        try:
            for name in names:
                if name not in (SELF, PAST):
                    self._others[name] = make_opponent(name)
        except BaseException:
            self.close()
            raise

    def use_version(self, version: int) -> None:
        """Set the searcher to the weights after `version` batches."""
        if version != self._bound:
            self._bind(self.searcher, version)
            self._bound = version

    def opponent(self, name: str, version: int, draw: float) -> Player | None:
        """Return the opponent of these weights; `draw`, 0 <= draw < 1, chooses among past selves. None: the learner itself."""
        if name == SELF:
            return None
        if name != PAST:
            return self._others[name]
        spacing = spacing_at(version)
        self._bind(self._past[0], int(draw * (version // spacing + 1)) * spacing)
        return self._past[1]

    def _bind(self, searcher: Searcher, version: int) -> None:
        learner = self._learner
        learner.engine.bind(searcher, learner.parameters.with_weights(learner.kept[version]))

    def abort(self) -> None:
        self.searcher.stop()
        for player in [*self._others.values(), *([self._past[1]] if self._past else [])]:
            player.abort()

    def close(self) -> None:
        for player in self._others.values():
            player.close()


class Workers:
    """Plays games on threads, batch after batch. Batch b is played with the weights after b - lag batches, so that threads do
    not idle during the last games of a batch, and games are the same for any number of threads."""

    def __init__(self, learner: Learner, plan: Plan, opening: Callable[[int], Opening], players: list[ThreadPlayers]) -> None:
        self._learner, self._plan, self._opening = learner, plan, opening
        self._settings = learner.settings
        self._stop = threading.Event()
        self._threads = Threads(self._play, players, ThreadPlayers.abort, ThreadPlayers.close, self._stop)

    def __enter__(self) -> Workers:
        self._threads.__enter__()
        return self

    def __exit__(self, *problem: object) -> None:
        """Abort all games."""
        self._threads.end()

    def version(self, batch: int) -> int:
        """Return the number of batches after which the weights that play a batch were saved."""
        return max(0, batch - self._settings.lag)

    def batches(self, interrupted: threading.Event) -> Iterator[list[Episode]]:
        """Yield the games of one batch after another, in order; the learner must learn from each before asking for the next."""
        games = [range(first, min(self._settings.games, first + self._settings.batch))
                 for first in range(0, self._settings.games, self._settings.batch)]
        found: dict[int, Episode] = {}
        completed = self._threads.completed(interrupted)
        submitted = self._learner.batches
        for batch in range(self._learner.batches, len(games)):
            while submitted < len(games) and self.version(submitted) <= self._learner.batches:
                for number in games[submitted]:
                    self._threads.submit(number)
                submitted += 1
            while not all(number in found for number in games[batch]):
                episode = next(completed, None)
                if episode is None or interrupted.is_set():
                    return
                found[episode.number] = episode
            yield [found.pop(number) for number in games[batch]]

    def _play(self, players: ThreadPlayers, number: int) -> Episode | None:
        settings = self._settings
        version = self.version(number // settings.batch)
        turn, which = divmod(number, len(settings.opponents))
        players.use_version(version)
        draw = random.Random(f"{settings.seed} opponent {number}").random()
        opponent = players.opponent(settings.opponents[which], version, draw)
        opening = self._opening(number)
        return play_episode(self._learner.engine.game, players.searcher, self._plan, number, settings.seed, opening.start,
                            opening.moves, opponent, turn & 1, self._stop.is_set)
