"""Play one game of a learner, against itself or an opponent, and record it for learning."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from games.record import FAULTS, FORFEITS, RULES, Choice, Dice, Game, Left, Openings, Player
from games.search.context import (
    LOWER,
    MORE,
    NODE_BOUND,
    NODE_FACTS,
    NODE_ODD,
    NODE_QUIET,
    NODE_VALUE,
    UNIT,
    UPPER,
)
from games.search.searcher import Limits, Searcher
from games.streams import InputError
from tuner.evaluation.explain import Leaf, leaf_of
from tuner.play.game import Course, Ending, Stopped, play_out
from tuner.play.openings import Book, Opening
from tuner.play.rules import by_length, by_rules

WON, DRAWN, BROKEN_OFF, FORFEITED = "won", "drawn", "limit", "forfeit"  # how a game ended


@dataclass(frozen=True)
class Plan:
    """How games are played: limits of a search, random moves in the opening and later, and the
    longest game."""

    limits: Limits
    random_plies: int = 0
    explore: float = 0.0
    plies: int = 160


@dataclass(frozen=True)
class Tree:
    """Positions (k, words) inside search trees, with bounds `low` and `high` (k,) of their scores
    that a search proved (maybe infinite), in centipawns, first player's view, and whether they are
    `quiet` (k,)."""

    positions: np.ndarray
    low: np.ndarray
    high: np.ndarray
    quiet: np.ndarray


@dataclass(frozen=True)
class Episode:
    """A game; values and scores are from the first player's point of view.

    `line` has the n + 1 positions (n + 1, words) and `moves` the n moves between them; the first
    `opening` moves were given or random. The learner searched m of the positions: `line[ply]`. Each
    search has a leaf in `leaves` (m, words) and a score in `scores` (m,), in centipawns; `known`
    (m,) are the values of leaves where the game is won, lost or drawn, else NaN. `explored` (m,): a
    random move was played in place of the search's. `predicted` (m,): the opponent replied as the
    search expected, or is the learner itself. `outcome` is None for an unfinished game. `tree` has
    the positions inside the searches' trees, if they were kept."""

    number: int
    line: np.ndarray
    moves: list[int]
    opening: int
    ply: np.ndarray
    leaves: np.ndarray
    scores: np.ndarray
    known: np.ndarray
    explored: np.ndarray
    predicted: np.ndarray
    outcome: float | None  # reward of the first player, see `games.record.Game.result`
    end: str
    tree: Tree
    side: int | None = None  # the learner's player, 0 or 1; None: both
    told: str | None = None  # the reason of a result that was told, "" if none was; None: by rules
    opponent: str | None = None  # the name and the rating of the other player, if they are known
    rating: float | None = None

    @property
    def is_forfeit(self) -> bool:
        """Whether it was told that a player lost otherwise than on the board: the last position
        says nothing of that."""
        return FORFEITS.search(self.told or "") is not None

    @property
    def positions(self) -> np.ndarray:
        """The positions searched (m, words)."""
        return self.line[self.ply]


@dataclass
class Search:
    """A search of the learner: its ply, its leaf, the positions kept of its tree, whether another
    move was explored, and the reply that it expected."""

    ply: int
    turn: int
    leaf: Leaf
    kept: np.ndarray
    explored: bool
    expected: int | None


class Learning:
    """The learner as a player of one game, who notes its searches; `rng` draws random moves."""

    def __init__(self, game: Game, searcher: Searcher, plan: Plan, rng: random.Random) -> None:
        self._game, self._searcher, self._plan, self._rng = game, searcher, plan, rng
        self.searches: list[Search] = []
        searcher.clear()
        searcher.choose_by(rng.getrandbits(63) | 1)

    def begin(self, seed: str, start: np.ndarray) -> None:
        """Do nothing: the constructor began it."""

    def choose(self, line: np.ndarray, moves: Sequence[int], left: Left | None) -> Choice:
        game, here = self._game, line[-1]
        searched = self._searcher.search(line, self._plan.limits)
        move, explored = searched.move, False
        if self._plan.explore and self._rng.random() < self._plan.explore:
            legal = game.legal_moves(here)
            move = legal[int(self._rng.random() * len(legal))]
            explored = move != searched.move
        self.searches.append(
            Search(
                len(moves),
                int(game.second_to_move(here)),
                leaf_of(game, here, searched),
                self._searcher.kept.copy(),
                explored,
                searched.pv[1] if len(searched.pv) > 1 and not explored else None,
            )
        )
        assert move is not None, "the game is not over"
        return Choice(move)

    def abort(self) -> None:
        self._searcher.stop()

    def close(self) -> None:
        """Do nothing: the search belongs to the caller."""


def play_episode(
    game: Game,
    searcher: Searcher,
    plan: Plan,
    number: int,
    seed: int,
    opening: Opening,
    opponent: Player | None = None,
    first: int = 0,
    stop: Callable[[], bool] = lambda: False,
) -> Episode | None:
    """Play game `number` from an opening and return it; None if it was stopped. It depends only on
    the arguments and weights.

    The searcher plays both sides, or player `first` (0 or 1) against an opponent.
    """
    rng = random.Random(f"{seed} game {number}")
    if (
        opponent is None
        and not opening.moves
        and not plan.random_plies
        and _whole(game, searcher, plan, opening.start)
    ):
        return _played_whole(game, searcher, plan, number, seed, stop)
    course = Course(game, opening, Dice(seed, number))
    _add_random(course, rng, plan.random_plies)
    given = len(course.moves)
    learning = Learning(game, searcher, plan, rng)
    try:
        players = [learning, opponent or learning][:: 1 - 2 * first]
        ending = play_out(
            course,
            players,
            (by_rules, by_length(plan.plies, None)),
            stop,
            [f"{seed} game {number}"] * 2,
        )
    except Stopped:
        return None
    searches = learning.searches
    predicted = [
        opponent is None or course.moves[search.ply + 1 : search.ply + 2] == [search.expected]
        for search in searches
    ]
    return Episode(
        number,
        course.line,
        course.moves,
        given,
        np.array([search.ply for search in searches], np.int64),
        np.array([search.leaf.words for search in searches], np.uint64).reshape(-1, game.words),
        np.array([search.leaf.score for search in searches], float),
        np.array([search.leaf.known for search in searches], float),
        np.array([search.explored for search in searches], bool),
        np.array(predicted, bool),
        ending.outcome,
        end_of(ending),
        tree_of(searches, game.words),
        None if opponent is None else first,
    )


def end_of(ending: Ending) -> str:
    """Return how a game ended, as episodes have it."""
    if ending.end in FAULTS:
        return FORFEITED
    return BROKEN_OFF if ending.outcome is None else WON if ending.outcome else DRAWN


def _whole(game: Game, searcher: Searcher, plan: Plan, start: np.ndarray) -> bool:
    """Whether a game can be played in one call."""
    return (
        game.has_dice
        and isinstance(searcher, PlaysGames)
        and plan.limits.depth == 1
        and not plan.explore
        and np.array_equal(start, game.start())
    )


def _played_whole(
    game: Game, searcher: Searcher, plan: Plan, number: int, seed: int, stop: Callable[[], bool]
) -> Episode | None:
    """Play a game in one call; None if it was stopped."""
    assert isinstance(searcher, PlaysGames), "see _whole"
    rng = random.Random(f"{seed} game {number}")
    searcher.choose_by(rng.getrandbits(63) | 1)
    moves = play_whole(game, searcher, Dice(seed, number), plan.plies)
    if moves is None or stop():
        return None
    n = len(moves.moves)
    end = end_of(Ending(RULES, moves.outcome))
    return Episode(
        number,
        moves.line,
        moves.moves,
        0,
        np.arange(n),
        moves.leaves,
        moves.scores,
        moves.known,
        np.zeros(n, bool),
        np.ones(n, bool),
        moves.outcome,
        end,
        tree_of([], game.words),
    )


def tree_of(searches: list[Search], words: int) -> Tree:
    """Return the positions that searches kept, with their bounds."""
    kept = np.concatenate(
        [np.zeros((0, words + MORE), np.uint64), *(search.kept for search in searches)]
    )
    signs = np.repeat(
        [1 - 2 * search.turn for search in searches], [len(search.kept) for search in searches]
    )
    value = kept[:, words + NODE_VALUE].view(np.int64) / UNIT
    facts = kept[:, words + NODE_FACTS].view(np.int64)
    signs = np.where(facts & NODE_ODD, -signs, signs)
    bound = facts & NODE_BOUND
    least, most = np.where(bound == UPPER, -np.inf, value), np.where(bound == LOWER, np.inf, value)
    return Tree(
        np.ascontiguousarray(kept[:, :words]),
        np.where(signs > 0, least, -most),
        np.where(signs > 0, most, -least),
        (facts & NODE_QUIET) != 0,
    )


def _add_random(course: Course, rng: random.Random, plies: int) -> None:
    """Add `plies` random moves that do not end the game."""
    for _ in range(plies):
        legal = course.game.legal_moves(course.line[-1])
        rng.shuffle(legal)
        for move in legal:
            course.add(move)
            if by_rules(course) is None:
                break
            course.moves.pop()
        else:
            return


@runtime_checkable
class PlaysGames(Protocol):
    """A search that plays whole games one ply deep, see
    `games.search.expectimax_searcher.ExpectimaxSearcher.play`."""

    def play(self, start: np.ndarray, seed: int, game: int, plies: int) -> Any:
        """Play a game from a position before the roll."""

    def centipawns(self, value: float) -> float:
        """Return a value v in centipawns."""


class Moves(NamedTuple):
    """What a whole game gives: the line (n + 1, words), n moves, and of each move its leaf (n,
    words), its score (n,) in centipawns and its reward if it ended the game (n,), else NaN, both
    first player's view; the outcome, None for a game broken off."""

    line: np.ndarray
    moves: list[int]
    leaves: np.ndarray
    scores: np.ndarray
    known: np.ndarray
    outcome: float | None


def play_whole(game: Game, searcher: PlaysGames, dice: Dice, plies: int) -> Moves | None:
    """Play a game from the start with these dice; None if it was stopped before the first move."""
    played = searcher.play(game.start(), *dice, plies)
    if not played.moves:
        return None
    last = played.after[-1]
    outcome = game.result([last])
    signs = np.array([-1.0 if game.second_to_move(words) else 1.0 for words in played.line])
    scores, known = signs * played.statics, np.full(len(signs), np.nan)
    if outcome is not None:
        known[-1] = outcome
        scores[-1] = signs[-1] * searcher.centipawns(signs[-1] * outcome)
    return Moves(
        np.concatenate([played.line, game.rolled(last, dice)[None]]),
        played.moves,
        played.after,
        scores,
        known,
        outcome,
    )


class GivenGames:
    """Openings that end at a random ply, from `first` to `last`, before the end of the games of a
    file, in random order.

    The ply of opening i depends on the seed and i alone. Games of at most `first` plies are left
    out: `left_out` of them. InputError if no game is left."""

    def __init__(self, openings: Openings, source: str, first: int, last: int, seed: int) -> None:
        ends = np.zeros(len(openings), np.int64) if openings.ends is None else openings.ends
        lengths = np.diff(ends, prepend=0)
        longest = int(lengths.max(initial=0))
        if longest <= first:
            raise InputError(
                f"--from-ply {first}:{last}: {source}: the longest game has {longest} plies,"
                f" expected games of more than {first}"
            )
        self._all, self._long, self._first, self._last, self._seed = (
            openings,
            np.flatnonzero(lengths > first),
            first,
            last,
            seed,
        )
        self.left_out = len(openings) - len(self._long)
        self._order = Book(Openings(self._long[:, None]), "random", seed)

    def opening(self, number: int) -> Opening:
        """The opening of a game, from any thread."""
        start, moves = self._all[int(self._order.opening(number).start[0])]
        ply = random.Random(f"{self._seed} from ply {number}").randint(
            self._first, min(self._last, len(moves) - 1)
        )
        return Opening(start, moves[:ply])
