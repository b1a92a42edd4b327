"""What a game is to the rest of the program, and how its folder is found by name."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

import games
from games.contest import Contest
from games.search.searcher import Searcher
from games.streams import InputError


@dataclass(frozen=True)
class ReadOptions:
    """Which games and positions to take.

    `positions`: "all", "quiet" (quiescence equals the static evaluation), "resolve" (the quiescence leaf), or "auto":
    what the game takes for best for the kind of file. `evaluation` is the address of a compiled evaluation and of its
    packed weights, for "quiet" and "resolve".
    """

    positions: str = "auto"
    evaluation: tuple[int, int] | None = None
    min_elo: int = 0
    skip_start: int | None = None  # None: the game's own choice
    skip_end: int = 0
    per_game: int = 0  # 0: all
    duplicates: str = "games"  # drop what: "keep" nothing, "games", "positions"
    strict: bool = False
    seed: int = 1


@dataclass
class ReadReport:
    """What became of the games that were read. `memory` is what readers keep from one file to the next."""

    games: int = 0
    used: int = 0
    undecided: int = 0
    bad: int = 0
    below_elo: int = 0
    duplicate_games: int = 0
    positions: int = 0
    duplicate_positions: int = 0
    bytes: int = 0
    faults: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.memory: dict = {}


@dataclass
class PositionBatch:
    """Positions of some games: the unit in which games are read.

    `positions` (n, words) uint64; `outcomes` (n,) float32 in [-1, 1] for the first player; `first` (g,) int64 the first
    position of each game; `identities` and `openings` (g,) uint64 name the games and their openings, `numbers` (g,) int64
    say which of its file's games each is, from 1.
    """

    positions: np.ndarray
    outcomes: np.ndarray
    first: np.ndarray
    identities: np.ndarray
    openings: np.ndarray
    numbers: np.ndarray


@dataclass(frozen=True)
class Game:
    """A game as a record of functions. Positions are rows of `words` uint64."""

    name: str
    words: int
    stages: tuple[str, ...]  # names of the stages of a tapered evaluation, first to last
    start: Callable[[], np.ndarray]
    legal_moves: Callable[[np.ndarray], list[int]]
    play: Callable[[np.ndarray, int, np.random.Generator], np.ndarray]
    result: Callable[[list[np.ndarray]], int | None]  # of a line of positions, for the first player; None: goes on
    position: Callable[[str], np.ndarray]  # text to position; ValueError
    text: Callable[[np.ndarray], str]
    draw: Callable[[np.ndarray], str]  # the board for a terminal
    move_text: Callable[[np.ndarray, int], str]
    move_name: Callable[[np.ndarray, int], str]  # without a board to look at: e2e4
    move_named: Callable[[np.ndarray, str], int]  # ValueError if no legal move has that name
    plies: Callable[[np.ndarray], np.ndarray]  # played before positions (n, words) of one game, up to a constant
    read: Callable[[str, ReadOptions, ReadReport, Callable[[str], None]], Iterator[PositionBatch]]
    suffixes: tuple[str, ...]  # of files with games
    of_games: Callable[[str], bool] = lambda name: True  # whether a file of either kind holds games, not labelled positions
    holds_games: Callable[[str], bool] = lambda name: False  # whether a file of another name in a folder is one of these
    searcher: Callable[[int, int, bool, float, int], Searcher] | None = None  # see games.search.searcher; None: no search
    contest: Contest | None = None  # what matches need beyond the rules; None: no matches
    picture: Callable[[np.ndarray], str] | None = None  # a position as SVG; None: `draw` has to do


def available() -> list[str]:
    """Names of all games: subfolders of `games` that define GAME."""
    return sorted(module.name for module in pkgutil.iter_modules(games.__path__) if module.ispkg
                  and importlib.util.find_spec(f"games.{module.name}.game"))


def find(name: str) -> Game:
    """The game of that name; InputError lists those that there are."""
    if name not in available():
        raise InputError(f"unknown game {name!r}; available: {', '.join(available())}")
    return importlib.import_module(f"games.{name}.game").GAME
