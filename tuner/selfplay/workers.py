"""Threads that play: the search releases Python's lock. What they play does not depend on how many they are."""

from __future__ import annotations

import queue
import random
import threading
from collections.abc import Callable, Iterator

from games.contest import Player
from games.search.searcher import Searcher
from tuner.match.openings import Opening
from tuner.parameters.parameters import Parameters
from tuner.selfplay.learner import Learner, spacing_at
from tuner.selfplay.play import Episode, Plan, play_episode

SELF, PAST = "self", "past"
POLL_SECONDS = 0.1
END_SECONDS = 15.0  # that threads get to end in


class Seat:
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

    def sit(self, version: int) -> None:
        """Play with the weights after so many batches."""
        if version != self._bound:
            self._bind(self.searcher, version)
            self._bound = version

    def opponent(self, name: str, version: int, draw: float) -> Player | None:
        """Who plays against these weights; `draw` from 0 to below 1 chooses among past selves."""
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
    """Plays games on threads, batch after batch. Batch b is played with the weights after b - lag batches, so that nobody
    waits for the last game of a batch, and the games are the same for any number of threads."""

    def __init__(self, learner: Learner, plan: Plan, opening: Callable[[int], Opening], seats: list[Seat]) -> None:
        self._learner, self._plan, self._opening, self._seats = learner, plan, opening, seats
        self._settings = learner.settings
        self._stop = threading.Event()
        self._ready = threading.Condition()
        self._next = learner.batches * self._settings.batch
        self._results: queue.SimpleQueue[Episode | BaseException] = queue.SimpleQueue()
        self._threads = [threading.Thread(target=self._work, args=(seat,), daemon=True) for seat in seats]

    def __enter__(self) -> Workers:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *problem: object) -> None:
        """Break off all games."""
        self._stop.set()
        with self._ready:
            self._ready.notify_all()
        for thread, seat in zip(self._threads, self._seats, strict=True):
            left = END_SECONDS
            while thread.is_alive() and left > 0:
                seat.abort()  # again: a search may begin between the flag and the first time
                thread.join(POLL_SECONDS)
                left -= POLL_SECONDS
            if not thread.is_alive():
                seat.close()

    def version(self, batch: int) -> int:
        """After how many batches the weights are that play a batch."""
        return max(0, batch - self._settings.lag)

    def batches(self, interrupted: threading.Event) -> Iterator[list[Episode]]:
        """The games of one batch after another, in their order; the learner has to learn from each before the next."""
        size, total = self._settings.batch, self._settings.games
        found: dict[int, Episode] = {}
        for batch in range(self._learner.batches, -(-total // size)):
            wanted = range(batch * size, min(total, (batch + 1) * size))
            with self._ready:
                self._ready.notify_all()  # the learner has got so far
            while not all(number in found for number in wanted):
                if interrupted.is_set():
                    return
                try:
                    result = self._results.get(timeout=POLL_SECONDS)
                except queue.Empty:
                    continue
                if isinstance(result, BaseException):
                    raise result
                found[result.number] = result
            yield [found.pop(number) for number in wanted]

    def _work(self, seat: Seat) -> None:
        try:
            while (number := self._take()) is not None:
                episode = self._play(seat, number)
                if episode is None:
                    return
                self._results.put(episode)
        except BaseException as problem:  # handed to the main thread, which raises it
            self._results.put(problem)

    def _take(self) -> int | None:
        """The next game, once there are weights to play it with."""
        with self._ready:
            number = self._next
            if number >= self._settings.games:
                return None
            self._next += 1
            self._ready.wait_for(lambda: self._stop.is_set()
                                 or self._learner.batches >= self.version(number // self._settings.batch))
            return None if self._stop.is_set() else number

    def _play(self, seat: Seat, number: int) -> Episode | None:
        settings = self._settings
        version = self.version(number // settings.batch)
        turn, which = divmod(number, len(settings.opponents))
        seat.sit(version)
        draw = random.Random(f"{settings.seed} opponent {number}").random()
        opponent = seat.opponent(settings.opponents[which], version, draw)
        opening = self._opening(number)
        return play_episode(self._learner.engine.game, seat.searcher, self._plan, number, settings.seed, opening.start,
                            opening.moves, opponent, turn & 1, self._stop.is_set)
