"""What is checked: a game, games of it that were played at random, and how a complaint is made."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from games.record import Game

OUTCOMES = (-1, 0, 1)  # of a game, for the first player
GAMES, PLIES = 12, 400  # played at random
SEED = 1


class Fault(AssertionError):
    """What a game does not keep: names the game and the position."""


class Evaluation(NamedTuple):
    """A compiled evaluation: addresses of the function and of its weights, for searches; the same from Python, positions
    (n, words) to centipawns (n,) for the first player; and of positions the phase (n,), 0 to `phases`."""

    function: int
    weights: int
    evaluate: Callable[[np.ndarray], np.ndarray]
    phase_of: Callable[[np.ndarray], np.ndarray]
    phases: int


class Played(NamedTuple):
    """A game played at random: positions (n + 1, words), n moves, and the result, None where it was left off."""

    line: np.ndarray
    moves: list[int]
    result: int | None


@dataclass(frozen=True)
class Subject:
    """A game, games of it that were played at random, and how positions are evaluated."""

    game: Game
    make_evaluation: Callable[[], Evaluation] | None = None
    seed: int = SEED

    @cached_property
    def evaluation(self) -> Evaluation:
        """Made when a check first asks for it: it may have to be compiled."""
        return self.make_evaluation()

    @cached_property
    def played(self) -> list[Played]:
        """The same for the same seed."""
        random, found = np.random.default_rng(self.seed), []
        for _ in range(GAMES):
            line, moves = [self.game.start()], []
            while (result := self.game.result(line)) is None and len(moves) < PLIES:
                legal = self.game.legal_moves(line[-1])
                self.expect(len(legal), line[-1], "result is None, but there is no legal move")
                moves.append(legal[random.integers(len(legal))])
                line.append(self.game.play(line[-1].copy(), moves[-1], random).copy())
            found.append(Played(np.array(line), moves, result))
        return found

    @cached_property
    def positions(self) -> np.ndarray:
        """(n, words) all that were met, each once."""
        return np.unique(np.concatenate([played.line for played in self.played]), axis=0)

    def some(self, number: int) -> np.ndarray:
        """Of all positions met, at least so many if there are."""
        return self.positions[::max(1, len(self.positions) // number)]

    def expect(self, condition: object, words: np.ndarray | None, what: str) -> None:
        """Raise Fault unless the condition holds."""
        if not condition:
            raise Fault(f"{self.game.name}: {what}" + ("" if words is None else f"; position {self.game.text(words)!r}"))

    def accepts(self, call: Callable[[], object], words: np.ndarray, what: str) -> object:
        """What the call gives; Fault if it raises ValueError."""
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
