"""Games of self-play that a search plays in one call, if it can: the same games as move by move."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from games.record import Dice, Game


@runtime_checkable
class PlaysGames(Protocol):
    """A search that plays whole games one ply deep, see `games.search.expectimax_searcher.ExpectimaxSearcher.play`."""

    def play(self, start: np.ndarray, seed: int, game: int, plies: int) -> Any:
        """Play a game from a position before the roll."""

    def centipawns(self, value: float) -> float:
        """Return a value v in centipawns."""


class Moves(NamedTuple):
    """What a whole game gives: the line (n + 1, words), n moves, and of each move its leaf (n, words), its score (n,) in
    centipawns and its reward if it ended the game (n,), else 0, both first player's view; the outcome, None for a
    game broken off."""

    line: np.ndarray
    moves: list[int]
    leaves: np.ndarray
    scores: np.ndarray
    wins: np.ndarray
    outcome: float | None


def play_whole(game: Game, searcher: PlaysGames, dice: Dice, plies: int) -> Moves | None:
    """Play a game from the start with these dice; None if it was stopped before the first move."""
    found = searcher.play(game.start(), *dice, plies)
    if not found.moves:
        return None
    last = found.after[-1]
    outcome = game.result([last])
    signs = np.array([-1.0 if game.second_to_move(words) else 1.0 for words in found.line])
    scores, wins = signs * found.statics, np.zeros(len(signs))
    if outcome is not None:
        wins[-1] = outcome
        scores[-1] = signs[-1] * searcher.centipawns(signs[-1] * outcome)
    return Moves(np.concatenate([found.line, game.rolled(last, dice)[None]]), found.moves, found.after, scores, wins, outcome)
