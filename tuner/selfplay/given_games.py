"""Openings from inside given games: each is a game of a file up to a random ply."""

from __future__ import annotations

import random

import numpy as np

from games.contest import Openings
from games.streams import InputError
from tuner.match.openings import Book, Opening


class GivenGames:
    """Openings that end at a random ply, from `first` to `last`, before the end of the games of a file, in random order.

    The ply of opening i depends on the seed and i alone. Games of at most `first` plies are left out: `left_out` of them.
    InputError if no game is left.
    """

    def __init__(self, openings: Openings, source: str, first: int, last: int, seed: int) -> None:
        ends = np.zeros(len(openings), np.int64) if openings.ends is None else openings.ends
        lengths = np.diff(ends, prepend=0)
        longest = int(lengths.max(initial=0))
        if longest <= first:
            raise InputError(f"--from-ply {first}:{last}: {source}: the longest game has {longest} plies, expected games of more "
                             f"than {first}")
        self._all, self._long, self._first, self._last, self._seed = openings, np.flatnonzero(lengths > first), first, last, seed
        self.left_out = len(openings) - len(self._long)
        self._order = Book(Openings(self._long[:, None]), "random", seed)

    def opening(self, number: int) -> Opening:
        """The opening of a game, from any thread."""
        start, moves = self._all[int(self._order.opening(number).start[0])]
        ply = random.Random(f"{self._seed} from ply {number}").randint(self._first, min(self._last, len(moves) - 1))
        return Opening(start, moves[:ply])
