"""The interface of a game: one record of functions, found by the name of its folder."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import itertools
import mmap
import pkgutil
import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol, TypeAlias, runtime_checkable

import numpy as np

import games
from games.search.context import SearchConstant
from games.search.searcher import Searcher
from games.streams import InputError

Line: TypeAlias = Sequence[np.ndarray] | np.ndarray  # the positions of a game, in order


class Dice(NamedTuple):
    """Where the dice of a game come from: each roll depends on a seed, the number of the game and
    the ply alone, so that games with the same numbers have the same dice, whoever plays them and
    wherever."""

    seed: int
    game: int


@dataclass(frozen=True)
class ReadOptions:
    """Which games and positions a reader takes.

    `positions`: "all", "quiet" (quiescence equals the static evaluation), "resolve" (the leaf of
    quiescence), "moves" (all of a game from the first to the last, with the dice that were rolled
    there), or "auto" (the game's choice for the kind of file). `evaluation`: addresses of a
    compiled evaluation and of its packed weights, for "quiet" and "resolve"."""

    positions: str = "auto"
    evaluation: tuple[int, int] | None = None
    min_elo: int = 0
    skip_start: int | None = None  # plies at the start of each game; None: the game's default
    skip_end: int = 0  # plies at the end
    from_share: float = 0.0  # of the plies of each game, that are left out at its start
    ended: str = "any"  # "won": no draws; "mate": won by the rules, such as by mate
    per_game: int = 0  # positions drawn at random from each game; 0: all
    duplicates: str = "games"  # "keep" all, or drop duplicate "games" or "positions"
    strict: bool = False  # raise InputError for the first bad game
    seed: int = 1

    @property
    def plain(self) -> dict[str, object]:
        """As plain data, without the addresses."""
        return {name: value for name, value in vars(self).items() if name != "evaluation"}


@dataclass
class ReadReport:
    """Counts of the games read. `memory` belongs to the readers, for duplicates across files."""

    games: int = 0
    used: int = 0
    undecided: int = 0
    by_tag: int = 0  # whose Result tag alone has the result
    bad: int = 0
    below_elo: int = 0
    ended_otherwise: int = 0
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

    `positions` (n, words) uint64; `outcomes` (n,) float32 in [-1, 1] for the first player; `first`
    (g,) int64, the index of the first position of each game; `identities` and `openings` (g,)
    uint64, hashes of each game and of its opening; `numbers` (g,) int64, the number of each game
    within its file, from 1. `scores` (n,) float32 are those of searches that the file records:
    centipawns for the first player, infinite for forced wins, NaN where there is none; None: the
    format records no scores. `forfeits` (g,) bool: the file says that the game was lost otherwise
    than on the board, such as on time; None: the format does not say."""

    positions: np.ndarray
    outcomes: np.ndarray
    first: np.ndarray
    identities: np.ndarray
    openings: np.ndarray
    numbers: np.ndarray
    scores: np.ndarray | None = None
    forfeits: np.ndarray | None = None

    @property
    def recorded(self) -> np.ndarray:
        """The recorded scores (n,) float32, NaN where there is none."""
        return (
            np.full(len(self.positions), np.nan, np.float32) if self.scores is None else self.scores
        )

    @property
    def ranges(self) -> Iterator[tuple[int, int]]:
        """Of each game its first position, and the one after its last."""
        return itertools.pairwise([*self.first.tolist(), len(self.positions)])

    def only(self, keep: np.ndarray) -> PositionBatch:
        """Return the positions that `keep` (n,) bool marks; games may be left with none."""
        before = np.concatenate([[0], np.cumsum(keep)])
        return replace(
            self,
            positions=self.positions[keep],
            outcomes=self.outcomes[keep],
            first=before[self.first],
            scores=None if self.scores is None else self.scores[keep],
        )


USUAL_SCALE = 0.00255  # the value of a pawn of chess is tanh(0.255) = 0.25 (KnightCap, EXchess)


@dataclass(frozen=True)
class Wording:
    """The words of a game in texts for people.

    `unit` is the unit of weights and evaluations, `value` the meaning of v = tanh(scale *
    evaluation). `ratios`: the single numbers of the first term are compared with the first of them,
    as pieces with a pawn. `columns`: the order within a row of a table. `scores`: where its files
    record scores of searches; empty if they record none."""

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


BookMoves: TypeAlias = Callable[[np.ndarray, random.Random], int | None]


class SuitePosition(NamedTuple):
    """A position `words` (words,) of a suite, its name, the best moves and those to avoid, and
    points by move; moves are those of `Game.move_name`."""

    words: np.ndarray
    name: str
    best: frozenset[str]
    avoid: frozenset[str]
    points: Mapping[str, int]

    def is_solved(self, move: str) -> bool:
        """Whether a move is one of the best, or none of those to avoid."""
        return move in self.best if self.best else move not in self.avoid


@dataclass(frozen=True)
class Files:
    """The files of a game: reader and writer."""

    read: Callable[[str, ReadOptions, ReadReport, Callable[[str], None]], Iterator[PositionBatch]]
    suffixes: tuple[str, ...]  # of files of games
    # whether a file contains games rather than labeled positions
    of_games: Callable[[str], bool] = lambda name: True
    # whether a file in a folder is one of games, despite its name
    holds_games: Callable[[str], bool] = lambda name: False
    # a game as text for a file of games; None: no such files
    game_text: Callable[[PlayedGame], str] | None = None
    # makes a function from texts of games, in turn, to their form in a file; None: the texts
    session: Callable[[], Callable[[str], str]] | None = None
    # whether a file with these bytes has games that were played here, none of others: such a file
    # may be replaced by others of them
    made_here: Callable[[bytes | mmap.mmap], bool] = lambda content: False
    # of a file; reports skipped lines; InputError
    openings: Callable[[str, Callable[[str], None], bool], Openings] | None = None
    # the positions of a suite in a file, each with moves to find or to avoid
    suite: Callable[[str], Iterator[SuitePosition]] | None = None
    # an opening book by its file: a function that draws its move in a position, None if it has
    # none; None for files that are no such books; InputError
    book: Callable[[str], BookMoves | None] = lambda path: None
    # a position as SVG; None: `Game.draw` is used
    picture: Callable[[np.ndarray], str] | None = None


class Chance(NamedTuple):
    """The dice of a game, whose positions come before the roll or have dice; results depend on the
    last position alone."""

    # a position before the roll to the same with dice
    roll: Callable[[np.ndarray, Dice], np.ndarray]
    # all rolls of a position that differ: positions with dice (k, words), and how likely each is
    # (k,)
    rolls: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]
    # the distinct positions (k, words) that the moves of a roll lead to, before the next roll
    successors: Callable[[np.ndarray], np.ndarray]
    before: Callable[[np.ndarray], np.ndarray]  # a position without its dice


@dataclass(frozen=True)
class Stock:
    """How much is left on the board, as the probability of a win depends on it: a whole number from
    `low` to `high` to which it is limited, and `anchor`, by which it is divided.

    `published` are coefficients of a and b of the model in `tuner.statistics.wdl` in published use,
    with their `source`."""

    count: Callable[[np.ndarray], np.ndarray]  # (n,) of positions (n, words)
    low: int
    high: int
    anchor: int
    what: str  # that is counted, in words
    published: tuple[tuple[float, ...], tuple[float, ...]]
    source: str

    def shares(self, counts: np.ndarray) -> np.ndarray:
        """Return counts within the limits, in units of the anchor."""
        return np.clip(counts, self.low, self.high) / self.anchor

    def share(self, count: int) -> float:
        """Return the share of one count."""
        return min(max(count, self.low), self.high) / self.anchor


@dataclass(frozen=True)
class UsualSettings:
    """Usual settings of matches and of learning: depths of searches, random plies of openings, and
    so on."""

    match_depth: int = 4
    match_random_plies: int = 8
    judge: tuple[
        str, ...
    ] = ()  # evaluations that measure the luck of the dice in a match, the first that is bundled
    advice: str = "--depth 4 --games 400"  # options of a match that shows what was learned
    method: str = "rootstrap"  # of self-play, as what follows
    selfplay_depth: int = 3
    selfplay_random_plies: int = 4
    selfplay_plies: int = 160  # of the longest game
    # of learning, where they differ from the update rules
    rates: Mapping[str, float] = field(default_factory=dict)
    # settings of self-play by TD-Leaf, of files, where --lambda alone asked for it
    td_leaf: Mapping[str, float] = field(default_factory=dict)
    calibration_games: int = 0  # played for the page of a run of self-play


@dataclass(frozen=True)
class Game:
    """A game: its rules, its files and its players. A position is an array of `words` uint64; a
    move is an int."""

    name: str
    words: int
    stages: tuple[str, ...]  # stages of a tapered evaluation, first to last
    start: Callable[[], np.ndarray]
    legal_moves: Callable[[np.ndarray], list[int]]
    # the position after a move; in a game with dice before the next roll
    play: Callable[[np.ndarray, int], np.ndarray]
    # reward in [-1, 1] of a line, for the first player; None: the game continues
    result: Callable[[Line], float | None]
    second_to_move: Callable[[np.ndarray], bool]
    # (n,) plies played before positions (n, words) of one game, up to a constant
    plies: Callable[[np.ndarray], np.ndarray]
    position: Callable[[str], np.ndarray]  # parse a text; ValueError if it is not a position
    texts: Callable[[np.ndarray], list[str]]  # of positions (n, words)
    draw: Callable[[np.ndarray], str]  # the board as lines of text, for a terminal
    move_text: Callable[[np.ndarray, int], str]  # in the notation of the game: Nf3
    move_name: Callable[[np.ndarray, int], str]  # in coordinates: g1f3
    # by either name; ValueError if no legal move has it
    move_named: Callable[[np.ndarray, str], int]
    files: Files
    contest: Contest
    chance: Chance | None = None  # None: no dice
    # points of a reward of 1: rewards are whole numbers of points divided by it
    points: int = 1
    # the text of a position with the colors exchanged; None: nobody asks
    exchanged: Callable[[str], str] | None = None
    stock: Stock | None = None  # None: nothing leaves the board for good, or nobody asks
    # of new parameter files: the value of an evaluation is v = tanh(scale * evaluation)
    scale: float = USUAL_SCALE
    wording: Wording = Wording()
    usual: UsualSettings = UsualSettings()

    @property
    def has_dice(self) -> bool:
        """Whether dice are rolled before each move."""
        return self.chance is not None

    @property
    def in_points(self) -> bool:
        """Whether games are won by different numbers of points, so that strength is points a game,
        not Elo."""
        return in_points(self.points)

    def text(self, words: np.ndarray) -> str:
        """Return the text of a position."""
        return self.texts(words[None])[0]

    def rolled(self, words: np.ndarray, dice: Dice | None = None) -> np.ndarray:
        """Return a position with its dice rolled: the position itself in a game without dice, and
        when the game is over."""
        if self.chance is None or self.result([words]) is not None:
            return words
        assert dice is not None, f"{self.name} is a game with dice"
        return self.chance.roll(words, dice)

    def after(self, words: np.ndarray, move: int, dice: Dice | None = None) -> np.ndarray:
        """Return the position after a move, with the dice rolled for the next one."""
        return self.rolled(self.play(words, move), dice)

    def successors(self, words: np.ndarray) -> np.ndarray:
        """Return the positions (k, words) after each move of a position, before the next roll."""
        if self.chance is not None:
            return self.chance.successors(words)
        after = [self.play(words, move) for move in self.legal_moves(words)]
        return np.array(after, np.uint64).reshape(-1, self.words)

    def before_roll(self, words: np.ndarray) -> np.ndarray:
        """Return a position without its dice, if the game has any."""
        return words if self.chance is None else self.chance.before(words)

    def points_of(self, reward: float) -> int:
        """Return a reward in points."""
        return round(reward * self.points)

    def forfeited(self, loser: int) -> float:
        """Return the reward of the first player when player 0 or 1 loses by a fault or gives up:
        one point is lost."""
        lost = 1 / self.points if self.in_points else 1
        return lost if loser else -lost

    @property
    def searchable(self) -> bool:
        """Whether positions of games can be searched: there is a search, and no dice have to be
        rolled first."""
        return self.contest.searcher is not None and not self.has_dice


def in_points(points: int) -> bool:
    """Whether games that are won by up to this number of points are counted in points, not in wins,
    draws and losses."""
    return points > 1


@functools.cache
def available() -> tuple[str, ...]:
    """Return the names of all games: subfolders of `games` with a module `game`."""
    return tuple(
        sorted(
            module.name
            for module in pkgutil.iter_modules(games.__path__)
            if module.ispkg and importlib.util.find_spec(f"games.{module.name}.game")
        )
    )


def scale_of(name: str) -> float:
    """Return the usual scale of evaluations of a game, or of what another program counts."""
    return find(name).scale if name in available() else USUAL_SCALE


def wording_of(name: str) -> Wording:
    """Return the words of the game of that name; the usual ones for a game whose rules are not
    known."""
    return find(name).wording if name in available() else Wording()


def points_of(name: str) -> int:
    """Return the most points that the game of that name is won by; 1 for a game whose rules are not
    known."""
    return find(name).points if name in available() else 1


def games_of(protocol: str) -> list[str]:
    """Return the names of the games whose engines can speak a protocol, such as uci, as players."""
    return [name for name in available() if protocol in find(name).contest.protocols]


def game_with_player(player: str, game: str | None = None) -> str | None:
    """Return the name of the game that has a player of this name of its own, among all games or
    one; None if there is none."""
    return next(
        (
            name
            for name in available()
            if game in (None, name) and player in find(name).contest.players
        ),
        None,
    )


def find(name: str) -> Game:
    """Return the game of that name; InputError if there is none."""
    if name not in available():
        raise InputError(f"unknown game {name!r}; available: {', '.join(available())}")
    return importlib.import_module(f"games.{name}.game").GAME


# by which a move may exceed a fixed time, which engines notice late; a clock leaves that to them
MOVETIME_MARGIN = 0.5


@dataclass(frozen=True)
class Control:
    """The limits of a player; times in seconds; None: no such limit."""

    depth: int | None = None
    nodes: int | None = None
    movetime: float | None = None
    base: float | None = None  # on the clock, for `moves` moves
    increment: float = 0.0  # added after each move
    moves: int | None = None  # after which `base` is added again; None: for the whole game
    byoyomi: float = 0.0  # for each move once the clock has run out
    # by which a move may exceed its time; None: nothing of a clock, MOVETIME_MARGIN of `movetime`
    margin: float | None = None
    vary: float = 0.0  # the share by which searches of an engine differ from its limit

    def drawn(self, dice: random.Random) -> Control:
        """Return the limits of one search: its nodes are within that share of the limit; without
        such a limit, that share of searches is one ply less deep, or deeper than one ply."""
        if self.nodes is not None:
            nodes = self.nodes * (1 + self.vary * (2 * dice.random() - 1))
            return replace(self, nodes=max(1, round(nodes)))
        if self.depth is None or dice.random() >= self.vary:
            return self
        return replace(self, depth=self.depth - 1 or 2)

    def exceeded(self, used: float, left: float | None) -> bool:
        """Whether a move took too long: seconds used, and seconds left on a clock."""
        if left is not None:
            return used > left + self.byoyomi + (self.margin or 0.0)
        margin = MOVETIME_MARGIN if self.margin is None else self.margin
        return self.movetime is not None and used > self.movetime + margin

    @property
    def search(self) -> str:
        """The depth or else the nodes of a search, as protocols and the names of caches have them:
        `nodes 1000`."""
        return f"depth {self.depth}" if self.depth is not None else f"nodes {self.nodes}"

    @property
    def text(self) -> str:
        """The control in words, also for the tags of games."""
        if self.base is not None:
            more = f", byoyomi {self.byoyomi:g}" if self.byoyomi else ""
            period = f"{self.moves}/" if self.moves else ""
            return f"{period}{self.base:g}+{self.increment:g}{more}"
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
    """The player loses this game; `kind` is RESIGNS or one of FAULTS, `detail` the circumstances in
    words, `exchange` the lines that passed last between tuner and an engine."""

    def __init__(self, kind: str, detail: str = "", exchange: str = "") -> None:
        super().__init__(kind, detail, exchange)
        self.kind, self.detail, self.exchange = kind, detail, exchange


@runtime_checkable
class Settable(Protocol):
    """A player whose options can change between games."""

    def set(self, values: Mapping[str, str]) -> None:
        """Set options before the next game, for which an engine that fails at it is started again.
        InputError for options that our own player does not have."""


class Left(NamedTuple):
    """The clock of a player: seconds left to it and to its opponent, and its moves to the next time
    control, None if there is none."""

    own: float
    other: float
    moves: int | None = None


class Player(Protocol):
    """A player of a match. Each thread has its own players; their moves must not depend on earlier
    games."""

    def begin(self, seed: str, start: np.ndarray) -> None:
        """Start a new game in a position (words,), before any clock runs; draw all random numbers
        from the seed "match/pair/game/side". Raises Forfeit if it fails to start, InputError for a
        position that it cannot be given."""

    def choose(self, line: np.ndarray, moves: Sequence[int], left: Left | None) -> Choice:
        """Choose a move in the last position of a game: positions (n, words), the n - 1 moves
        between them, and what is `left` on a clock, if there is one. Raises Forfeit instead of
        returning an illegal move."""

    def abort(self) -> None:
        """Make `choose` return soon, with any result; called from another thread."""

    def close(self) -> None:
        """Release all resources; no further games follow."""


# how a game ended; FAULTS are ends that no working player causes, TOLD is the end of a game whose
# result a program was told, with the reason in `detail` if that was told, too
RULES, PLIES, RESIGN_RULE, DRAW_RULE, RESIGNS, TABLES, TOLD = (
    "rules",
    "plies",
    "resign rule",
    "draw rule",
    "resigns",
    "tables",
    "told",
)
FAULTS = ILLEGAL, CRASH, STALL, TIME, CLAIM = (
    "illegal move",
    "crash",
    "stall",
    "time",
    "false claim",
)
# of the reasons that user interfaces and servers tell, those of results that the board says nothing
# of, and of these the ones for running out of time
LATE = re.compile("on time|time forfeit|flag", re.IGNORECASE)
FORFEITS = re.compile(
    f"{LATE.pattern}|forfeit|disconnect|illegal|invalid|abandon|exited", re.IGNORECASE
)


@dataclass
class PlayedGame:
    """A played game.

    `line` (n + 1, words) are the positions; of the n moves between them the first `book` belong to
    the opening. There is one choice for each remaining move, or none at all, and one number of
    seconds for each choice, or none. `outcome` is the reward of the first player, see
    `Game.result`, None for an unfinished game; `loser` is the player, 0 or 1, who lost or
    forfeited, by a fault with this `exchange`."""

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
    exchange: str = ""


@dataclass(frozen=True)
class Openings:
    """Openings of games: positions `starts` (n, words) uint64, and moves from there; those of
    opening i end at ends[i]."""

    starts: np.ndarray
    moves: np.ndarray = field(default_factory=lambda: np.zeros(0, np.uint32))
    ends: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.starts)

    def __getitem__(self, i: int) -> tuple[np.ndarray, list[int]]:
        """Return the first position of an opening and its moves."""
        if self.ends is None:
            return self.starts[i], []
        return self.starts[i], self.moves[self.ends[i - 1] if i else 0 : self.ends[i]].tolist()


@dataclass(frozen=True)
class Contest:
    """Who plays a game: its search, players and external programs, and when games end in practice;
    each may be None."""

    # see games.search.searcher; without it, evaluations cannot play
    searcher: Callable[[int, int, bool, float, int], Searcher] | None = None
    constants: tuple[SearchConstant, ...] = ()  # that this search has
    # the greatest depth of the search, which then is the only limit; None: any limits
    deepest: int | None = None
    # games that compiled loops play, see `tuner.evaluation.networks.compiled.WholeGames`
    whole_games: Any = None
    # that need no evaluation and no engine, by name
    players: Mapping[str, Callable[[], Player]] = field(default_factory=dict)
    # a player that runs an engine: protocol ("uci" or "xboard"), command, options, control,
    # megabytes of hash; InputError
    external: Callable[[str, str, Mapping[str, str], Control, int | None], Player] | None = None
    protocols: tuple[str, ...] = ()  # of these engines
    # an external engine as a source of scores: command, options; InputError
    evaluator: Callable[[str, Mapping[str, object]], Evaluator] | None = None
    evaluating: str = "uci"  # the protocol of these engines
    byoyomi: bool = False  # whether clocks give time for each move once they have run out
    # an engine that evaluates positions after a move: gnubg:0; InputError
    rater: Callable[[str], Rater] | None = None
    reason: Callable[[PlayedGame], str] | None = None  # why a game ended: White mates
    lost_in_practice: float = 600.0  # centipawns by which the score of a lost game is behind
    # whether long games in which no side is ahead are draws in practice
    level_is_drawn: bool = True
    # a draw in practice, unless a search finds a forced win
    drawn_ending: Callable[[np.ndarray], bool] | None = None
    # whether player 0 or 1 has too little to win, whatever happens: its opponent's time may run out
    cannot_win: Callable[[np.ndarray, int], bool] = lambda words, player: False
    # results from tables in a folder: a function from a position to the first player's result, None
    # if unknown; InputError
    tablebase: Callable[[str], Callable[[np.ndarray], int | None]] | None = None


class EngineFault(InputError):
    """An engine that died, fell silent or answered nonsense: what was asked and what came, and how
    many positions of how many were done."""

    def __init__(self, what: str, done: int = 0, total: int = 0) -> None:
        super().__init__(what + (f"; {done:,} of {total:,} positions were done" if total else ""))
        self.what = what


class EngineSilent(EngineFault):
    """An engine that did not answer in time."""


@dataclass(frozen=True)
class EngineOption:
    """An option as the engine declares it; `low` and `high` belong to a spin, `choices` to a
    combo."""

    name: str
    kind: str  # spin, check, combo, button or string
    default: str = ""
    low: int | None = None
    high: int | None = None
    choices: tuple[str, ...] = ()


class Searched(NamedTuple):
    """The result of a search: centipawns of the first player's view, infinite for a forced mate;
    moves to that mate, negative if the first player is mated, 0 if the position itself is mate,
    None without a forced mate."""

    score: float
    mate: int | None


@dataclass(frozen=True)
class Asked:
    """n positions in the notation of the engine, prepared once for any number of searches: the
    texts, and (n,) bool whether the second player moves, whether in check, whether there are legal
    moves. `variant`: of a variant that the engine must be set to, such as Chess960."""

    texts: list[bytes]
    second: np.ndarray
    checked: np.ndarray
    playable: np.ndarray
    variant: bool = False

    def __len__(self) -> int:
        return len(self.texts)

    def __getitem__(self, some: slice) -> Asked:
        return Asked(
            self.texts[some],
            self.second[some],
            self.checked[some],
            self.playable[some],
            self.variant,
        )


class Rater(Protocol):
    """An engine in a process of its own that evaluates positions after a move."""

    def values(self, positions: np.ndarray) -> np.ndarray:
        """Return the values (n,) in [-1, 1] of positions (n, words), first player's view.
        InputError if the engine fails."""

    def close(self) -> None:
        """End the engine."""


class Evaluator(Protocol):
    """An engine in a process of its own, for one thread at a time. All scores are of the first
    player's view."""

    @property
    def name(self) -> str:
        """Name and version, by the engine's own account."""

    @property
    def options(self) -> Mapping[str, EngineOption]:
        """The options by name, in the engine's order."""

    def set(self, values: Mapping[str, object]) -> None:
        """Set options before the next position. InputError for unknown options and for values out
        of range."""

    def asked(self, positions: np.ndarray) -> Asked:
        """Prepare positions (n, words)."""

    def searches(self, asked: Asked, limits: Control) -> Iterator[Searched]:
        """Search each position afresh; yield the results in order, each as soon as it is there."""

    def require_limits(self, limits: Control) -> None:
        """InputError for an engine that does not keep to limits of searches."""

    def abort(self) -> None:
        """Kill the engine, from any thread: what waits for it raises EngineFault."""

    def close(self) -> None:
        """End the engine."""
