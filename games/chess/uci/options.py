"""The options of the engine, and the evaluation whose weights may be options too."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np

    from games.search.searcher import Searcher

SHOWN = 60  # characters quoted in messages


class Evaluation(Protocol):
    """The evaluation to play with."""

    def searcher(self, name: str | None) -> Searcher:
        """Read the evaluation of that name, None for the default, and return its search; ValueError if that fails."""

    def value(self, words: np.ndarray) -> float:
        """Return the static evaluation of a position in centipawns, White's view."""

    def spins(self) -> dict[str, tuple[int, int, int]]:
        """Return the names of the weights that are options, each with its value, least and greatest."""

    def set(self, name: str, value: int) -> None:
        """Change a weight that is an option."""

    def bind(self, searcher: Searcher) -> None:
        """Let a searcher use the changed weights."""


@dataclass
class Options:
    """Values set by `setoption`; `Ponder` concerns the GUI alone."""

    hash: int = 16  # megabytes
    overhead: int = 15  # milliseconds lost per move between the clock and the search
    chess960: bool = False


def truth(name: str, text: str) -> bool:
    """Parse `true` or `false`; ValueError for anything else."""
    if text.lower() not in ("true", "false"):
        raise ValueError(f"{name} {shown(text)} is neither true nor false")
    return text.lower() == "true"


def shown(text: str) -> str:
    """Quote a text in ASCII, shortened for a message."""
    escaped = ascii(text[:SHOWN + 1])
    return escaped if len(escaped) <= SHOWN else escaped[:SHOWN] + "..." + escaped[-1]
