"""Data exchanged between matches and games: time controls, chosen moves, openings, played games.

The first player is the one to move in the initial position of the game (White in chess), wherever an opening starts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np

from games.evaluators import EvaluationPattern, Evaluator


@dataclass(frozen=True)
class Control:
    """The limits of a player; times in seconds; None: no such limit."""

    depth: int | None = None
    nodes: int | None = None
    movetime: float | None = None
    base: float | None = None  # clock for the whole game
    increment: float = 0.0  # added after each move

    @property
    def text(self) -> str:
        """The control in words, also for the tags of games."""
        if self.base is not None:
            return f"{self.base:g}+{self.increment:g}"
        if self.movetime is not None:
            return f"{self.movetime:g} s a move"
        return f"depth {self.depth}" if self.depth is not None else f"{self.nodes:,} nodes a move"


class Choice(NamedTuple):
    """A move and the player's own evaluation of it; None: not reported."""

    move: int
    score: float | None = None  # centipawns
    win_in: int | None = None  # plies to a forced win, or minus those to a loss
    depth: int = 0


class Forfeit(Exception):
    """The player loses this game; `kind` is RESIGNS or one of FAULTS, `detail` the circumstances in words."""

    def __init__(self, kind: str, detail: str = "") -> None:
        super().__init__(kind, detail)
        self.kind, self.detail = kind, detail


class Player(Protocol):
    """A player of a match. Each thread has its own players; their moves must not depend on earlier games."""

    def begin(self, seed: str) -> None:
        """Start a new game; draw all random numbers from the seed "match/pair/game/side". Raises Forfeit if it fails to start."""

    def choose(self, line: np.ndarray, moves: Sequence[int], left: tuple[float, float] | None) -> Choice:
        """Choose a move in the last position of a game: positions (n, words), the n - 1 moves between them, and, with a clock,
        the seconds left to this player and to the other. Raises Forfeit instead of returning an illegal move."""

    def abort(self) -> None:
        """Make `choose` return soon, with any result; called from another thread."""

    def close(self) -> None:
        """Release all resources; no further games follow."""


# how a game ended; FAULTS are ends that no working player causes
RULES, PLIES, RESIGN_RULE, DRAW_RULE, RESIGNS = "rules", "plies", "resign rule", "draw rule", "resigns"
FAULTS = ILLEGAL, CRASH, STALL, TIME = ("illegal move", "crash", "stall", "time")


@dataclass
class PlayedGame:
    """A played game.

    `line` (n + 1, words) are the positions; of the n moves between them the first `book` belong to the opening. There is one
    choice for each other move, or none at all, and one number of seconds for each choice, or none. `outcome` is the
    reward of the first player, see `Game.result`, None for an unfinished game; `loser` is the player, 0 or 1, who lost or
    forfeited.
    """

    line: np.ndarray
    moves: list[int]
    book: int
    choices: list[Choice]
    seconds: list[float]
    outcome: float | None
    end: str
    loser: int | None = None
    detail: str = ""
    players: tuple[str, str] = ("?", "?")
    named_first: int = 0  # the player, 0 or 1, whom all games of a match name first
    round: str = "?"
    control: str = "?"
    date: str = "????.??.??"
    event: str = "tuner match"
    luck: float | None = None  # points that the dice gave the first player, None if not measured


@dataclass(frozen=True)
class Openings:
    """Openings of games: positions `starts` (n, words) uint64, and moves from there; those of opening i end at ends[i]."""

    starts: np.ndarray
    moves: np.ndarray = field(default_factory=lambda: np.zeros(0, np.uint32))
    ends: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.starts)

    def __getitem__(self, i: int) -> tuple[np.ndarray, list[int]]:
        """Return the first position of an opening and its moves."""
        if self.ends is None:
            return self.starts[i], []
        return self.starts[i], self.moves[self.ends[i - 1] if i else 0:self.ends[i]].tolist()


@dataclass(frozen=True)
class Contest:
    """Functions of a game that matches need; each may be None."""

    reason: Callable[[PlayedGame], str] | None = None  # why the game ended: White mates
    text: Callable[[PlayedGame], str] | None = None  # the game as text for a file of games
    # makes a function from texts of games, in turn, to what a file takes for each; None: the texts
    session: Callable[[], Callable[[str], str]] | None = None
    openings: Callable[[str, Callable[[str], None]], Openings] | None = None  # of a file; reports skipped lines; InputError
    # a player that runs an engine: protocol ("uci" or "xboard"), command, options, control, megabytes of hash; InputError
    external: Callable[[str, str, dict[str, str], Control, int | None], Player] | None = None
    protocols: tuple[str, ...] = ()
    # an external engine as a source of evaluations: command, options, pattern of its static evaluations; InputError
    evaluator: Callable[[str, Mapping[str, object], EvaluationPattern | None], Evaluator] | None = None
    evaluating: str = "uci"  # the protocol of these engines
    patterns: Mapping[str, EvaluationPattern] = field(default_factory=dict)  # of engines' static evaluations, by name
    players: Mapping[str, Callable[[], Player]] = field(default_factory=dict)  # that need no evaluation and no engine, by name
    lost_in_practice: float = 600.0  # centipawns by which the score of a lost game is behind
    level_is_drawn: bool = True  # whether long games in which no side is ahead are draws in practice
    drawn_ending: Callable[[np.ndarray], bool] | None = None  # a draw in practice, unless a search sees a forced win
    # results from tables in a folder: a function from a position to the first player's result, None if unknown; InputError
    tablebase: Callable[[str], Callable[[np.ndarray], int | None]] | None = None
