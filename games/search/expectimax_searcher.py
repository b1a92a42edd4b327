"""Expectimax for use from Python."""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from games.search.context import MORE, UNIT
from games.search.expectimax import (
    BEST,
    ENDED,
    MAX_DEPTH,
    MOVES,
    NODES,
    STATIC,
    Expectimax,
    GameRoom,
    Work,
)
from games.search.searcher import SMALL_ADVANTAGE, UNLIMITED, Found, Limits

CERTAIN = 1 - 1e-9  # values of certain wins are cut to this, so that their centipawns are finite


class WholeGame(NamedTuple):
    """A game of n plies: positions with dice and after each move, both (n, words); moves; and the
    static values (n,) of the positions after them, in centipawns for the side that has moved, 0 at
    the end of the game."""

    line: np.ndarray
    after: np.ndarray
    moves: list[int]
    statics: np.ndarray


class ExpectimaxSearcher:
    """The search of a game with dice, see `games.search.searcher.Searcher`. It remembers nothing
    between searches.

    `function` and `weights` are the addresses of a compiled evaluation and of its weights; `margin`
    is SMALL_ADVANTAGE in centipawns, from which the scale of values follows."""

    hashfull = 0.0

    def __init__(self, compiled: Expectimax, function: int, weights: int, margin: float) -> None:
        rules = compiled.rules
        self._compiled, self._scale = compiled, SMALL_ADVANTAGE / margin
        self._work = Work(
            function,
            weights,
            self._scale,
            np.zeros((1 + MAX_DEPTH) * rules.memory, np.uint64),
            np.zeros(MAX_DEPTH * rules.most),
            np.zeros(MOVES + rules.most, np.int64),
            np.zeros(1, np.uint64),
        )
        self._seed = np.uint64(0)
        self.weights: object = None

    def bind(self, function: int, weights: int) -> None:
        self._work = self._work._replace(function=function, weights=weights)

    def resize(self, megabytes: int) -> None:
        """There is no memory of earlier positions."""

    def clear(self) -> None:
        """There is no memory of earlier positions."""

    def choose_by(self, seed: int) -> None:
        self._seed = np.uint64(seed)

    def set_constants(self, values: Mapping[str, int]) -> None:
        if values:
            raise ValueError("a search over dice has no constants")

    def harvest(self, room: int, iteration: int | None = None) -> None:
        if room:
            raise ValueError("a search over dice records no positions of its tree")

    @property
    def kept(self) -> np.ndarray:
        return np.zeros((0, self._compiled.rules.words + MORE), np.uint64)

    def stop(self) -> None:
        self._work.stop[0] = 1

    def search(
        self,
        line: Sequence[np.ndarray] | np.ndarray,
        limits: Limits,
        report: Callable[[Found], None] | None = None,
    ) -> Found:
        """Search the last position of a line, which has its dice. ValueError for limits other than
        a depth up to MAX_DEPTH."""
        if (
            limits.nodes < UNLIMITED
            or limits.seconds is not None
            or limits.soft_seconds is not None
            or limits.depth > MAX_DEPTH
        ):
            raise ValueError(f"a search over dice is limited by a depth of 1 to {MAX_DEPTH} alone")
        started, words = time.monotonic(), np.ascontiguousarray(line[-1])
        self._work.stop[0] = 0
        deepest = self._searched(words, 1, started)
        if report:
            report(deepest)
        for depth in range(2 if report else limits.depth, limits.depth + 1):
            if depth > 1:
                deeper = self._searched(words, depth, started)
                if self._work.stop[0]:
                    break
                deepest = deeper
                if report:
                    report(deepest)
        return deepest

    def centipawns(self, value: float) -> float:
        """Return a value v in centipawns."""
        return math.atanh(max(-CERTAIN, min(CERTAIN, value))) / self._scale

    def best_values(self, positions: np.ndarray) -> np.ndarray:
        """Return v (k,) of the best moves of positions (k, words) with dice, one ply deep, first
        player's view."""
        out = np.zeros(len(positions))
        self._compiled.best_values(np.ascontiguousarray(positions), self._work, out)
        return out

    def play(self, start: np.ndarray, seed: int, game: int, plies: int) -> WholeGame:
        """Play a game from a position before the roll against itself, one ply deep: each move is
        what `search` finds. `seed` and `game` determine the dice. It ends after `plies` plies at
        the latest, or soon after `stop`."""
        words = self._compiled.rules.words
        line, after = np.zeros((2, plies, words), np.uint64)
        moves, statics = np.zeros((2, plies), np.int64)
        record = GameRoom(line, after, moves, statics)
        self._work.stop[0] = 0
        n = int(
            self._compiled.play(
                start.copy(), np.uint64(seed), np.uint64(game), self._seed, self._work, record
            )
        )
        return WholeGame(line[:n], after[:n], moves[:n].tolist(), statics[:n] / UNIT)

    def _searched(self, words: np.ndarray, depth: int, started: float) -> Found:
        found = self._work.found
        value = float(self._compiled.search(words, depth, self._seed, self._work))
        move, ended = int(found[MOVES + found[BEST]]), bool(found[ENDED])
        static = found[STATIC] / UNIT
        centipawns = static if depth == 1 and not ended else self.centipawns(value)
        return Found(
            float(centipawns),
            None,
            (move,),
            depth,
            int(found[NODES]),
            time.monotonic() - started,
            value if ended else None,
        )
