"""Pairs of games on several threads. The search releases Python's lock, and engines are processes of their own."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from typing import TypeVar

from games.contest import FAULTS, Control, PlayedGame, Player
from games.record import Game
from tuner.match.entrants import Entrant
from tuner.match.loop import Abandoned, Rules, Table
from tuner.match.openings import Opening
from tuner.parallel import Threads

Item = TypeVar("Item")


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
        line: dict = {"leg": self.leg, "pair": self.number, "outcomes": self.outcomes, "plies": self.plies, "ends": self.ends,
                "reasons": self.reasons}
        if any(self.forfeits):
            line["forfeits"] = self.forfeits
        return line if self.opening.place is None else line | {"opening": self.opening.place}


class ThreadPlayers:
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
        self._seed, self._text = seed, game.matches.text if keep_text else None
        self._stop = threading.Event()
        self._date = time.strftime("%Y.%m.%d")

    def play(self, tasks: Iterator[tuple[int, int]], threads: int, first: ThreadPlayers,
             interrupted: threading.Event) -> Generator[Pair, None, None]:
        """Play (leg, pair number) one after another; yields them as they end, until all are played or it is interrupted.

        Closing the generator stops all games. `first` has players that are started already.
        """
        states = [first, *(ThreadPlayers() for _ in range(threads - 1))]
        with Threads(self._pair, states, ThreadPlayers.abort, ThreadPlayers.close, self._stop) as executor:
            for task in itertools.islice(tasks, threads):
                executor.submit(task)
            for pair in executor.completed(interrupted):
                yield pair
                for task in itertools.islice(tasks, 1):
                    executor.submit(task)

    def _pair(self, state: ThreadPlayers, task: tuple[int, int]) -> Pair | None:
        try:
            return self._played(state, *task)
        except Abandoned:
            return None

    def _played(self, state: ThreadPlayers, leg: int, number: int) -> Pair:
        opening = self._opening(number)
        sides, table = self._legs[leg], Table(self._game, self._rules, self._stop)
        outcomes: list[int] = []
        ends: list[str] = []
        plies: list[int] = []
        reasons: list[str] = []
        forfeits: list[str | None] = []
        texts: list[str] = []
        for turn in (0, 1):
            order = (turn, 1 - turn)  # who has the first move: a, then b
            entrants = [sides[i] for i in order]
            players = [state.player(f"{leg}/{i}", sides[i]) for i in order]
            game = table.play(opening.start, opening.moves, players, [entrant.control for entrant in entrants],
                              f"{self._seed}/{number}/{turn}")
            game.players = (entrants[0].name, entrants[1].name)
            game.round, game.date = f"{number + 1}.{turn + 1}", self._date
            game.control = _control_text(*(entrant.control for entrant in entrants))
            assert game.outcome is not None, "every game of a match is finished"
            outcomes.append(-game.outcome if turn else game.outcome)
            ends.append(game.end)
            plies.append(len(game.moves))
            reasons.append(reason_of(self._game, game))
            at_fault = game.loser if game.end in FAULTS else None
            forfeits.append(None if at_fault is None else f"{'ab'[order[at_fault]]} {game.end}")
            if self._text:
                texts.append(self._text(game))
        return Pair(leg, number, _both(outcomes), _both(ends), _both(plies), _both(reasons), _both(forfeits), opening, texts)


def _both(items: list[Item]) -> tuple[Item, Item]:
    """The two items of a list."""
    first, second = items
    return first, second


def reason_of(game: Game, played: PlayedGame) -> str:
    """Why a game ended, in the game's own words if it has some."""
    if game.matches.reason:
        return game.matches.reason(played)
    if played.loser is None:
        return played.end
    return f"{('first', 'second')[played.loser]} player loses by {played.end}" + (f": {played.detail}" if played.detail else "")


def _control_text(first: Control, second: Control) -> str:
    return first.text if first == second else f"{first.text} : {second.text}"


