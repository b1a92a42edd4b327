"""Pairs of games on several threads. The search releases Python's lock, and engines are processes of their own."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from games.contest import FAULTS, Control, PlayedGame, Player
from games.record import Game
from tuner.match.entrants import Entrant
from tuner.match.loop import Abandoned, Rules, Table
from tuner.match.openings import Opening

POLL_SECONDS = 0.1
END_SECONDS = 15.0  # that threads get to end in


@dataclass(frozen=True)
class Pair:
    """Two games from one opening, with colours swapped: outcomes are for the first named player."""

    leg: int
    number: int
    outcomes: tuple[int, int]
    ends: tuple[str, str]
    plies: tuple[int, int]
    reasons: tuple[str, str]
    forfeits: tuple[str | None, str | None]  # "b crash": who lost by a fault, and which
    opening: Opening
    texts: list[str]

    def line(self) -> dict:
        """For the journal."""
        line = {"leg": self.leg, "pair": self.number, "outcomes": self.outcomes, "plies": self.plies, "ends": self.ends,
                "reasons": self.reasons}
        if any(self.forfeits):
            line["forfeits"] = self.forfeits
        return line if self.opening.place is None else line | {"opening": self.opening.place}


class Seats:
    """One thread's players, made when they are first needed."""

    def __init__(self) -> None:
        self._players: dict[str, Player] = {}

    def player(self, key: str, entrant: Entrant) -> Player:
        if key not in self._players:
            self._players[key] = entrant.make()
        return self._players[key]

    def abort(self) -> None:
        for player in list(self._players.values()):
            player.abort()

    def close(self) -> None:
        for player in self._players.values():
            player.close()


class Schedule:
    """Plays pairs on threads and hands them over in the order in which they end."""

    def __init__(self, game: Game, rules: Rules, legs: list[tuple[Entrant, Entrant]], opening: Callable[[int], Opening],
                 seed: int, keep_text: bool) -> None:
        self._game, self._rules, self._legs, self._opening = game, rules, legs, opening
        self._seed, self._keep_text = seed, keep_text
        self._stop = threading.Event()
        self._results: queue.SimpleQueue[Pair | BaseException | None] = queue.SimpleQueue()
        self._date = time.strftime("%Y.%m.%d")

    def play(self, tasks: Iterator[tuple[int, int]], threads: int, first: Seats, interrupted: threading.Event) -> Iterator[Pair]:
        """Play (leg, pair number) one after another; yields them as they end, until all are played or it is interrupted.

        Closing the generator stops all games. `first` is a seat with players that are there already.
        """
        lock = threading.Lock()
        seats = [first, *(Seats() for _ in range(threads - 1))]

        def next_task() -> tuple[int, int] | None:
            with lock:
                return next(tasks, None)

        def work(seat: Seats) -> None:
            try:
                table = Table(self._game, self._rules, self._stop)
                while not self._stop.is_set() and (task := next_task()) is not None:
                    self._results.put(self._pair(table, seat, *task))
            except Abandoned:
                pass
            except BaseException as problem:  # handed to the main thread, which raises it
                self._results.put(problem)
            finally:
                self._results.put(None)

        workers = [threading.Thread(target=work, args=(seat,), daemon=True) for seat in seats]
        for worker in workers:
            worker.start()
        running = len(workers)
        try:
            while running and not interrupted.is_set():
                try:
                    found = self._results.get(timeout=POLL_SECONDS)
                except queue.Empty:
                    continue
                if found is None:
                    running -= 1
                elif isinstance(found, BaseException):
                    raise found
                else:
                    yield found
        finally:
            self._end(workers, seats)
        while not self._results.empty():  # pairs that ended while it was being interrupted
            found = self._results.get()
            if isinstance(found, Pair):
                yield found

    def _end(self, workers: list[threading.Thread], seats: list[Seats]) -> None:
        self._stop.set()
        deadline = time.monotonic() + END_SECONDS
        for worker, seat in zip(workers, seats, strict=True):
            while worker.is_alive() and time.monotonic() < deadline:
                seat.abort()  # again: a search may begin between the flag and the first time
                worker.join(0.05)
            if not worker.is_alive():
                seat.close()

    def _pair(self, table: Table, seat: Seats, leg: int, number: int) -> Pair:
        opening = self._opening(number)
        sides = self._legs[leg]
        outcomes, ends, plies, reasons, forfeits, texts = [], [], [], [], [], []
        for turn in (0, 1):
            order = (turn, 1 - turn)  # who has the first move: a, then b
            entrants = [sides[i] for i in order]
            players = [seat.player(f"{leg}/{i}", sides[i]) for i in order]
            game = table.play(opening.start, opening.moves, players, [entrant.control for entrant in entrants],
                              f"{self._seed}/{number}/{turn}")
            game.players = (entrants[0].name, entrants[1].name)
            game.round, game.date = f"{number + 1}.{turn + 1}", self._date
            game.control = _control_text(*(entrant.control for entrant in entrants))
            outcomes.append(-game.outcome if turn else game.outcome)
            ends.append(game.end)
            plies.append(len(game.moves))
            reasons.append(reason_of(self._game, game))
            forfeits.append(f"{'ab'[order[game.loser]]} {game.end}" if game.end in FAULTS else None)
            if self._keep_text:
                texts.append(self._game.contest.text(game))
        return Pair(leg, number, tuple(outcomes), tuple(ends), tuple(plies), tuple(reasons), tuple(forfeits), opening, texts)


def reason_of(game: Game, played: PlayedGame) -> str:
    """Why a game ended, in the game's own words if it has some."""
    if game.contest.reason:
        return game.contest.reason(played)
    if played.loser is None:
        return played.end
    return f"{('first', 'second')[played.loser]} player loses by {played.end}" + (f": {played.detail}" if played.detail else "")


def _control_text(first: Control, second: Control) -> str:
    return first.text if first == second else f"{first.text} : {second.text}"


