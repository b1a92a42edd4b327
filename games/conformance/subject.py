"""The subject of the checks: a game and random games of it; and the exception that reports a violation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeVar

import numpy as np

from games.record import Dice, Game

GAMES, PLIES = 12, 400  # random games, and the longest
SEED = 1
Found = TypeVar("Found")


class Fault(AssertionError):
    """A violation of the interface; the message names the game and the position."""


class Evaluation(NamedTuple):
    """A compiled evaluation: addresses of the function and of its packed weights, for searches; `evaluate`, the same function
    from Python, from positions (n, words) to centipawns (n,) for the first player; `phase_of`, from positions to phases (n,)
    between 0 and `phases`."""

    function: int
    weights: int
    evaluate: Callable[[np.ndarray], np.ndarray]
    phase_of: Callable[[np.ndarray], np.ndarray]
    phases: int


class Played(NamedTuple):
    """A random game: positions (n + 1, words), n moves, and the result, None for a game stopped after PLIES plies."""

    line: np.ndarray
    moves: list[int]
    result: float | None


@dataclass(frozen=True)
class Subject:
    """A game under test, random games of it, and optionally an evaluation."""

    game: Game
    make_evaluation: Callable[[], Evaluation] | None = None
    seed: int = SEED

    @cached_property
    def evaluation(self) -> Evaluation:
        """The evaluation, made at its first use because it may have to be compiled."""
        assert self.make_evaluation is not None, "checks of an evaluation are chosen if there is one"
        return self.make_evaluation()

    @cached_property
    def played(self) -> list[Played]:
        """Random games, the same for the same seed."""
        random, found = np.random.default_rng(self.seed), []
        for number in range(GAMES):
            dice = Dice(self.seed, number)
            line = [self.game.rolled(self.game.start(), dice)]
            moves: list[int] = []
            while (result := self.game.result(line)) is None and len(moves) < PLIES:
                legal = self.game.legal_moves(line[-1])
                self.expect(len(legal), line[-1], "result is None, but there is no legal move")
                moves.append(legal[random.integers(len(legal))])
                line.append(self.game.after(line[-1].copy(), moves[-1], dice).copy())
            found.append(Played(np.array(line), moves, result))
        return found

    @cached_property
    def positions(self) -> np.ndarray:
        """(n, words) the distinct positions of the random games."""
        return np.unique(np.concatenate([played.line for played in self.played]), axis=0)

    def some(self, number: int) -> np.ndarray:
        """Return a sample of the positions: at least `number` if there are that many."""
        return self.positions[::max(1, len(self.positions) // number)]

    def expect(self, condition: object, words: np.ndarray | None, what: str) -> None:
        """Raise Fault unless the condition holds."""
        if not condition:
            raise Fault(f"{self.game.name}: {what}" + ("" if words is None else f"; position {self.game.text(words)!r}"))

    def accepts(self, call: Callable[[], Found], words: np.ndarray, what: str) -> Found:
        """Return the result of the call; Fault if it raises ValueError."""
        try:
            return call()
        except ValueError as problem:
            raise Fault(f"{self.game.name}: {what} is refused: {problem}; position {self.game.text(words)!r}") from problem

    def refuses(self, call: Callable[[], object], words: np.ndarray | None, what: str) -> None:
        """Raise Fault unless the call raises ValueError."""
        try:
            found = call()
        except ValueError:
            return
        self.expect(False, words, f"{what} gives {found!r}, expected ValueError")
