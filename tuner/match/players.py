"""Players in this process: our search, and one that moves at random."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np

from games.contest import Choice, Control
from games.record import Game
from games.search.clock import Clock, limits_of, limits_of_move
from games.search.searcher import UNLIMITED, Limits, Searcher

OVERHEAD = 0.01  # seconds that a move may lose between the clock and the search


class SearchPlayer:
    """Our search with some parameters. It forgets everything before each game, so that a game does not depend on others.

    Among moves that are equally good it takes any, by the seed: an evaluation of little would else play the first move that
    it generates, and lose by that. In both games of a pair, and from both sides, it takes the same.
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
        if found.move is None:  # stopped before it had looked at one move
            return Choice(self._legal_moves(line[-1])[0])
        return Choice(found.move, found.value, found.win_in, found.depth)

    def abort(self) -> None:
        self._searcher.stop()

    def close(self) -> None:
        pass


class RandomPlayer:
    """Every legal move with the same chance."""

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
