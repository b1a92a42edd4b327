"""What a server needs of the evaluation to play with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np

    from games.search.searcher import Searcher


class Evaluation(Protocol):
    """The evaluation to play with, whose weights may be options."""

    def searcher(self, name: str | None) -> Searcher:
        """Read the evaluation of that name, None for the default, and return its search; ValueError if that fails."""

    def value(self, words: np.ndarray) -> float:
        """Return the static evaluation of a position in centipawns, the first player's view."""

    def spins(self) -> dict[str, tuple[int, int, int]]:
        """Return the names of the weights that are options, each with its value, least and greatest."""

    def set(self, name: str, value: int) -> None:
        """Change a weight that is an option."""

    def bind(self, searcher: Searcher) -> None:
        """Let a searcher use the changed weights."""
