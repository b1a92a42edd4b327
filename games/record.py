"""The interface of a game: one record of functions, found by the name of its folder."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import pkgutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np

import games
from games.contest import Contest
from games.search.searcher import Searcher
from games.streams import InputError

Line: TypeAlias = Sequence[np.ndarray] | np.ndarray  # the positions of a game, in order


class Dice(NamedTuple):
    """Where the dice of a game come from: each roll depends on a seed, the number of the game and the ply alone, so that games
    with the same numbers have the same dice, whoever plays them and wherever."""

    seed: int
    game: int


@dataclass(frozen=True)
class ReadOptions:
    """Which games and positions a reader takes.

    `positions`: "all", "quiet" (quiescence equals the static evaluation), "resolve" (the leaf of quiescence), or "auto" (the
    game's choice for the kind of file). `evaluation`: addresses of a compiled evaluation and of its packed weights, for
    "quiet" and "resolve".
    """

    positions: str = "auto"
    evaluation: tuple[int, int] | None = None
    min_elo: int = 0
    skip_start: int | None = None  # plies at the start of each game; None: the game's default
    skip_end: int = 0  # plies at the end
    per_game: int = 0  # positions drawn at random from each game; 0: all
    duplicates: str = "games"  # "keep" all, or drop duplicate "games" or "positions"
    strict: bool = False  # raise InputError for the first bad game
    seed: int = 1


@dataclass
class ReadReport:
    """Counts of the games read. `memory` belongs to the readers, for duplicates across files."""

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
    """Positions of g games, as a reader yields them.

    `positions` (n, words) uint64; `outcomes` (n,) float32 in [-1, 1] for the first player; `first` (g,) int64, the index of the
    first position of each game; `identities` and `openings` (g,) uint64, hashes of each game and of its opening; `numbers` (g,)
    int64, the number of each game within its file, from 1. `scores` (n,) float32 are those of searches that the file records:
    centipawns for the first player, infinite for forced wins, NaN where there is none; None: the format records no scores.
    """

    positions: np.ndarray
    outcomes: np.ndarray
    first: np.ndarray
    identities: np.ndarray
    openings: np.ndarray
    numbers: np.ndarray
    scores: np.ndarray | None = None

    @property
    def recorded(self) -> np.ndarray:
        """The recorded scores (n,) float32, NaN where there is none."""
        return np.full(len(self.positions), np.nan, np.float32) if self.scores is None else self.scores

    def only(self, keep: np.ndarray) -> PositionBatch:
        """Return the positions that `keep` (n,) bool marks; games may be left with none."""
        before = np.concatenate([[0], np.cumsum(keep)])
        return replace(self, positions=self.positions[keep], outcomes=self.outcomes[keep], first=before[self.first],
                       scores=None if self.scores is None else self.scores[keep])


USUAL_SCALE = 0.00255  # the value of a pawn of chess is tanh(0.255) = 0.25 (KnightCap, EXchess)


@dataclass(frozen=True)
class Wording:
    """How text for people names what a game has.

    `unit` is that of weights and evaluations, `value` what v = tanh(scale * evaluation) stands for. `ratios`: the single numbers
    of the first term are compared with the first of them, as pieces with a pawn. `columns`: the order within a row of a table.
    `scores`: where its files record scores of searches; empty if they record none.
    """

    unit: str = "centipawns"
    value: str = "p = (1 + v) / 2"
    sides: tuple[str, str] = ("the first player", "the second player")
    ratios: bool = True
    piece: str = "piece"
    columns: str = "the first column first"
    scores: str = ""

    @property
    def view(self) -> str:
        """Whose view evaluations are of: first player's view."""
        return f"{self.sides[0].removeprefix('the ')}'s view"

    def won(self, points: float) -> str:
        """Return a game that the first player won, or with less than 0 lost, in words."""
        return "drawn" if not points else f"{self.sides[int(points < 0)]} won"


@dataclass(frozen=True)
class Game:
    """A game as a record of functions. A position is an array of `words` uint64; a move is an int."""

    name: str
    words: int
    stages: tuple[str, ...]  # stages of a tapered evaluation, first to last
    start: Callable[[], np.ndarray]
    legal_moves: Callable[[np.ndarray], list[int]]
    play: Callable[[np.ndarray, int], np.ndarray]  # the position after a move; in a game with dice before the next roll
    result: Callable[[Line], float | None]  # reward in [-1, 1] of a line, for the first player; None: the game continues
    second_to_move: Callable[[np.ndarray], bool]
    position: Callable[[str], np.ndarray]  # parse a text; ValueError if it is not a position
    text: Callable[[np.ndarray], str]
    draw: Callable[[np.ndarray], str]  # the board as lines of text, for a terminal
    move_text: Callable[[np.ndarray, int], str]  # in the notation of the game: Nf3
    move_name: Callable[[np.ndarray, int], str]  # in coordinates: g1f3
    move_named: Callable[[np.ndarray, str], int]  # by either name; ValueError if no legal move has it
    plies: Callable[[np.ndarray], np.ndarray]  # (n,) plies played before positions (n, words) of one game, up to a constant
    read: Callable[[str, ReadOptions, ReadReport, Callable[[str], None]], Iterator[PositionBatch]]
    suffixes: tuple[str, ...]  # of files of games
    of_games: Callable[[str], bool] = lambda name: True  # whether a file contains games rather than labelled positions
    holds_games: Callable[[str], bool] = lambda name: False  # whether a file in a folder is one of games, despite its name
    searcher: Callable[[int, int, bool, float, int], Searcher] | None = None  # see games.search.searcher; None: no search
    contest: Contest | None = None  # functions that matches need; None: no matches
    picture: Callable[[np.ndarray], str] | None = None  # a position as SVG; None: `draw` is used
    many_texts: Callable[[np.ndarray], list[str]] | None = None  # `text` of positions (n, words); None: one by one
    wording: Wording = Wording()
    scale: float = USUAL_SCALE  # of new parameter files: the value of an evaluation is v = tanh(scale * evaluation)
    points: int = 1  # what a reward of 1 stands for: rewards are whole numbers of points divided by it
    deepest: int | None = None  # the greatest depth of its search, which then has no other limit; None: any limits
    # games with dice: a position before the roll to the same with dice; the result depends on the last position of a line alone
    roll: Callable[[np.ndarray, Dice], np.ndarray] | None = None  # None: no dice
    # all rolls of a position that differ: positions with dice (k, words), and how likely each is (k,)
    rolls: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]] | None = None
    whole_games: Any = None  # games that compiled loops play, see `tuner.networks.calls.WholeGames`; None: no such loops

    def texts(self, positions: np.ndarray) -> list[str]:
        """Return the text of each position (n, words)."""
        return [self.text(words) for words in positions] if self.many_texts is None else self.many_texts(positions)

    def rolled(self, words: np.ndarray, dice: Dice | None = None) -> np.ndarray:
        """Return a position with its dice rolled: the position itself in a game without dice, and when the game is over."""
        if self.roll is None or self.result([words]) is not None:
            return words
        assert dice is not None, f"{self.name} is a game with dice"
        return self.roll(words, dice)

    def after(self, words: np.ndarray, move: int, dice: Dice | None = None) -> np.ndarray:
        """Return the position after a move, with the dice rolled for the next one."""
        return self.rolled(self.play(words, move), dice)

    def points_of(self, reward: float) -> int:
        """Return a reward in points."""
        return round(reward * self.points)

    def forfeited(self, loser: int) -> float:
        """Return the reward of the first player when player 0 or 1 loses by a fault or gives up: one point is lost."""
        lost = 1 if self.points == 1 else 1 / self.points
        return lost if loser else -lost

    @property
    def searchable(self) -> bool:
        """Whether positions of games can be searched: there is a search, and no dice have to be rolled first."""
        return self.searcher is not None and self.roll is None

    @property
    def matches(self) -> Contest:
        """The functions that matches need; InputError for a game without."""
        if self.contest is None:
            raise InputError(f"{self.name} has no matches")
        return self.contest


@functools.cache
def available() -> tuple[str, ...]:
    """Return the names of all games: subfolders of `games` with a module `game`."""
    return tuple(sorted(module.name for module in pkgutil.iter_modules(games.__path__) if module.ispkg
                        and importlib.util.find_spec(f"games.{module.name}.game")))


def scale_of(name: str) -> float:
    """Return the usual scale of evaluations of a game, or of what another program counts."""
    return find(name).scale if name in available() else USUAL_SCALE


def wording_of(name: str) -> Wording:
    """Return the words of the game of that name; the usual ones for a game whose rules are not known."""
    return find(name).wording if name in available() else Wording()


def points_of(name: str) -> int:
    """Return the most points that the game of that name is won by; 1 for a game whose rules are not known."""
    return find(name).points if name in available() else 1


def games_of(protocol: str) -> list[str]:
    """Return the names of the games whose engines can speak a protocol, such as uci, as players."""
    return [name for name in available() if (contest := find(name).contest) is not None and protocol in contest.protocols]


def game_with_player(player: str, game: str | None = None) -> str | None:
    """Return the name of the game that has a player of this name of its own, among all games or one; None if there is none."""
    return next((name for name in available() if game in (None, name) and (contest := find(name).contest) is not None
                 and player in contest.players), None)


def find(name: str) -> Game:
    """Return the game of that name; InputError if there is none."""
    if name not in available():
        raise InputError(f"unknown game {name!r}; available: {', '.join(available())}")
    return importlib.import_module(f"games.{name}.game").GAME
