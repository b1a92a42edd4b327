"""What passes between a match and a game: how long to think, what was chosen, where games begin, and games as played.

The first player is the one who moves in a game's initial position (White), wherever an opening begins.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np


@dataclass(frozen=True)
class Control:
    """What limits the thinking of a player, in seconds where it is time; None: this does not."""

    depth: int | None = None
    nodes: int | None = None
    movetime: float | None = None
    base: float | None = None  # for the whole game
    increment: float = 0.0  # added after each move

    @property
    def text(self) -> str:
        """For people and for the tags of games."""
        if self.base is not None:
            return f"{self.base:g}+{self.increment:g}"
        if self.movetime is not None:
            return f"{self.movetime:g} s a move"
        return f"depth {self.depth}" if self.depth is not None else f"{self.nodes:,} nodes a move"


class Choice(NamedTuple):
    """A move and what the player thought of it, from its own view; None: it does not say."""

    move: int
    score: float | None = None  # centipawns
    win_in: int | None = None  # plies to a forced win, or minus those to a loss
    depth: int = 0


class Forfeit(Exception):
    """The player loses this game; `kind` is one of FAULTS or RESIGNS, `detail` what a reader may want to know."""

    def __init__(self, kind: str, detail: str = "") -> None:
        super().__init__(kind, detail)
        self.kind, self.detail = kind, detail


class Player(Protocol):
    """Whoever chooses moves. Each thread has players of its own; what they do depends on a game alone, not on earlier ones."""

    def begin(self, seed: str) -> None:
        """A new game, with everything random drawn from the seed "match/pair/game/side". Forfeit if it cannot be begun."""

    def choose(self, line: np.ndarray, moves: Sequence[int], left: tuple[float, float] | None) -> Choice:
        """A move in the last position of a game: positions (n, words), the n - 1 moves between them, and the seconds left to
        this player and the other if there is a clock. Raises Forfeit instead of an illegal move."""

    def abort(self) -> None:
        """From another thread: make `choose` return soon, whatever with."""

    def close(self) -> None:
        """No more games."""


# how a game ended; FAULTS are what a player should not do
RULES, PLIES, RESIGN_RULE, DRAW_RULE, RESIGNS = "rules", "plies", "resign rule", "draw rule", "resigns"
FAULTS = ILLEGAL, CRASH, STALL, TIME = ("illegal move", "crash", "stall", "time")


@dataclass
class PlayedGame:
    """A game as it was played.

    `line` (n + 1, words) positions and the n moves between them, of which the first `book` were given; one choice and one
    number of seconds for each of the others, or no choices at all. `outcome` is the first player's, None if it was broken
    off; `loser`, 0 or 1, who lost or forfeited.
    """

    line: np.ndarray
    moves: list[int]
    book: int
    choices: list[Choice]
    seconds: list[float]
    outcome: int | None
    end: str
    loser: int | None = None
    detail: str = ""
    players: tuple[str, str] = ("?", "?")
    round: str = "?"
    control: str = "?"
    date: str = "????.??.??"
    event: str = "tuner match"


@dataclass(frozen=True)
class Openings:
    """Where games begin: `starts` (n, words) uint64, and moves from there; opening i's end at ends[i]."""

    starts: np.ndarray
    moves: np.ndarray = field(default_factory=lambda: np.zeros(0, np.uint32))
    ends: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.starts)

    def __getitem__(self, i: int) -> tuple[np.ndarray, list[int]]:
        """The first position of an opening and its moves."""
        if self.ends is None:
            return self.starts[i], []
        return self.starts[i], self.moves[self.ends[i - 1] if i else 0:self.ends[i]].tolist()


@dataclass(frozen=True)
class Contest:
    """What a game offers to matches beyond its rules. `second_to_move` is needed, the rest may be None."""

    second_to_move: Callable[[np.ndarray], bool]
    reason: Callable[[PlayedGame], str] | None = None  # why it ended: White mates
    text: Callable[[PlayedGame], str] | None = None  # the game for a file of games
    openings: Callable[[str, Callable[[str], None]], Openings] | None = None  # of a file; notes what is skipped; InputError
    # protocol ("uci" or "xboard"), command, options, control, megabytes of hash or None -> a player; InputError
    external: Callable[[str, str, dict[str, str], Control, int | None], Player] | None = None
    protocols: tuple[str, ...] = ()
