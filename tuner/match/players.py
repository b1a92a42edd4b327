"""Players in this process: our search, and random moves."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np

from games.contest import Choice, Control
from games.record import Game
from games.search.clock import Clock, limits_of, limits_of_move
from games.search.searcher import UNLIMITED, Limits, Searcher

OVERHEAD = 0.01  # seconds per move between the clock and the search


class SearchPlayer:
    """Our search with some parameters. Its tables are cleared before each game, so that games do not depend on each other.

    Among equally good moves it chooses by the seed: a poor evaluation would otherwise always play the first move generated, and
    lose by that. The choice is the same in both games of a pair and for both sides.
    """

    def __init__(self, game: Game, searcher: Searcher, control: Control) -> None:
        self._searcher, self._control, self._legal_moves = searcher, control, game.legal_moves
        self._limits = Limits(nodes=control.nodes or UNLIMITED) if control.depth is None else Limits(
            depth=control.depth, nodes=control.nodes or UNLIMITED)
        if control.movetime is not None:
            self._limits = limits_of_move(control.movetime, 0.0)

    def begin(self, seed: str) -> None:
        self._searcher.clear()
        self._searcher.choose_by(random.Random(seed.rsplit("/", 2)[0]).getrandbits(63) | 1)

    def choose(self, line: np.ndarray, moves: Sequence[int], left: tuple[float, float] | None) -> Choice:
        limits = self._limits
        if left is not None:
            limits = limits_of(Clock(left[0], self._control.increment), OVERHEAD)
        found = self._searcher.search(line, limits)
        if found.move is None:  # stopped before the first move was searched
            return Choice(self._legal_moves(line[-1])[0])
        return Choice(found.move, found.value, found.win_in, found.depth)

    def abort(self) -> None:
        self._searcher.stop()

    def close(self) -> None:
        pass


class RandomPlayer:
    """Plays every legal move with the same probability."""

    def __init__(self, game: Game) -> None:
        self._legal_moves = game.legal_moves

    def begin(self, seed: str) -> None:
        self._random = random.Random(seed)

    def choose(self, line: np.ndarray, moves: Sequence[int], left: tuple[float, float] | None) -> Choice:
        legal = self._legal_moves(line[-1])
        return Choice(legal[int(self._random.random() * len(legal))])

    def abort(self) -> None:
        pass

    def close(self) -> None:
        pass
