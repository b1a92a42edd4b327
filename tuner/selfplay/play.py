"""Play one game of a learner, against itself or an opponent, and record it for learning."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from games.contest import Forfeit, Player
from games.record import Dice, Game
from games.search.context import UNIT
from games.search.harvest import BOUND_MASK, FACTS, MORE, ODD, QUIET, VALUE
from games.search.searcher import Limits, Searcher
from games.search.transposition import LOWER, UPPER
from tuner.engine.leaves import Leaf, leaf_of
from tuner.selfplay.whole_games import PlaysGames, play_whole

WON, DRAWN, BROKEN_OFF, FORFEITED = "won", "drawn", "limit", "forfeit"  # how a game ended


@dataclass(frozen=True)
class Plan:
    """How games are played: limits of a search, random moves in the opening and later, and the longest game."""

    limits: Limits
    random_plies: int = 0
    explore: float = 0.0
    plies: int = 160


@dataclass(frozen=True)
class Tree:
    """Positions (k, words) inside search trees, with bounds `low` and `high` (k,) of their scores that a search proved (maybe
    infinite), in centipawns, first player's view, and whether they are `quiet` (k,)."""

    positions: np.ndarray
    low: np.ndarray
    high: np.ndarray
    quiet: np.ndarray


@dataclass(frozen=True)
class Episode:
    """A game; values and scores are from the first player's point of view.

    `line` has the n + 1 positions (n + 1, words) and `moves` the n moves between them; the first `opening` moves were given or
    random. The learner searched m of the positions: `line[ply]`. Each search has a leaf in `leaves` (m, words) and a score in
    `scores` (m,), in centipawns; `wins` (m,) are the rewards of forced wins and losses, else 0. `explored` (m,): a random move
    was played in place of the search's. `predicted` (m,): the opponent replied as the search expected, or is the learner itself.
    `outcome` is None for an unfinished game. `tree` has the positions inside the searches' trees, if they were kept.
    """

    number: int
    line: np.ndarray
    moves: list[int]
    opening: int
    ply: np.ndarray
    leaves: np.ndarray
    scores: np.ndarray
    wins: np.ndarray
    explored: np.ndarray
    predicted: np.ndarray
    outcome: float | None  # reward of the first player, see `games.record.Game.result`
    end: str
    tree: Tree
    side: int | None = None  # the learner's player, 0 or 1; None: both

    @property
    def positions(self) -> np.ndarray:
        """The positions searched (m, words)."""
        return self.line[self.ply]


@dataclass
class Search:
    """A search of the learner: its ply, its leaf, the positions kept of its tree, and whether the moves that followed were
    explored or predicted, see `Episode`."""

    ply: int
    turn: int
    leaf: Leaf
    kept: np.ndarray
    explored: bool
    predicted: bool


def play_episode(game: Game, searcher: Searcher, plan: Plan, number: int, seed: int, start: np.ndarray,
                 opening: Sequence[int] = (), opponent: Player | None = None, first: int = 0,
                 stop: Callable[[], bool] = lambda: False) -> Episode | None:
    """Play game `number` from an opening and return it; None if it was stopped. It depends only on the arguments and weights.

    The searcher plays both sides, or player `first` (0 or 1) against an opponent.
    """
    rng = random.Random(f"{seed} game {number}")
    if opponent is None and not opening and not plan.random_plies and _whole(game, searcher, plan, start):
        return _played_whole(game, searcher, plan, number, seed, stop)
    second, dice = game.second_to_move, Dice(seed, number)
    line, moves = [game.rolled(start, dice)], []
    for move in opening:
        line.append(game.after(line[-1], move, dice))
        moves.append(move)
    _add_random(game, rng, dice, plan.random_plies, line, moves)
    given = len(moves)
    side = None if opponent is None else first
    searcher.clear()
    searcher.choose_by(rng.getrandbits(63) | 1)
    searches: list[Search] = []
    expected: int | None = None
    outcome: float | None = None
    end = BROKEN_OFF
    if opponent is not None:
        try:
            opponent.begin(f"{seed} game {number}")
        except Forfeit:
            outcome, end = game.forfeited(1 - first), FORFEITED
    while end == BROKEN_OFF and (outcome := game.result(line)) is None and len(moves) < plan.plies:
        if stop():
            return None
        here = line[-1]
        turn = int(second(here))
        if side is None or turn == side:
            found = searcher.search(line, plan.limits)
            move, other = found.move, False
            if plan.explore and rng.random() < plan.explore:
                legal = game.legal_moves(here)
                move = legal[int(rng.random() * len(legal))]
                other = move != found.move
            searches.append(Search(len(moves), turn, leaf_of(game, here, found), searcher.kept.copy(), other, side is None))
            expected = found.pv[1] if len(found.pv) > 1 and not other else None
        else:
            try:
                move = opponent.choose(np.array(line), moves, None).move
            except Forfeit:
                outcome, end = game.forfeited(turn), FORFEITED
                break
            if searches:
                searches[-1].predicted = move == expected
        line.append(game.after(here, move, dice))
        moves.append(move)
    if outcome is not None and end == BROKEN_OFF:
        end = WON if outcome else DRAWN
    return Episode(number, np.array(line), moves, given, np.array([search.ply for search in searches], np.int64),
                   np.array([search.leaf.words for search in searches], np.uint64).reshape(-1, game.words),
                   np.array([search.leaf.score for search in searches], float),
                   np.array([search.leaf.win for search in searches], float),
                   np.array([search.explored for search in searches], bool),
                   np.array([search.predicted for search in searches], bool), outcome, end, tree_of(searches, game.words), side)


def _whole(game: Game, searcher: Searcher, plan: Plan, start: np.ndarray) -> bool:
    """Whether a game can be played in one call."""
    return (game.roll is not None and isinstance(searcher, PlaysGames) and plan.limits.depth == 1 and not plan.explore
            and np.array_equal(start, game.start()))


def _played_whole(game: Game, searcher: Searcher, plan: Plan, number: int, seed: int,
                  stop: Callable[[], bool]) -> Episode | None:
    """Play a game in one call; None if it was stopped."""
    assert isinstance(searcher, PlaysGames), "see _whole"
    rng = random.Random(f"{seed} game {number}")
    searcher.choose_by(rng.getrandbits(63) | 1)
    found = play_whole(game, searcher, Dice(seed, number), plan.plies)
    if found is None or stop():
        return None
    n = len(found.moves)
    end = BROKEN_OFF if found.outcome is None else WON if found.outcome else DRAWN
    return Episode(number, found.line, found.moves, 0, np.arange(n), found.leaves, found.scores, found.wins, np.zeros(n, bool),
                   np.ones(n, bool), found.outcome, end, tree_of([], game.words))


def tree_of(searches: list[Search], words: int) -> Tree:
    """Return the positions that searches kept, with their bounds."""
    kept = np.concatenate([np.zeros((0, words + MORE), np.uint64), *(search.kept for search in searches)])
    signs = np.repeat([1 - 2 * search.turn for search in searches], [len(search.kept) for search in searches])
    value = kept[:, words + VALUE].view(np.int64) / UNIT
    facts = kept[:, words + FACTS].view(np.int64)
    signs = np.where(facts & ODD, -signs, signs)
    bound = facts & BOUND_MASK
    least, most = np.where(bound == UPPER, -np.inf, value), np.where(bound == LOWER, np.inf, value)
    return Tree(np.ascontiguousarray(kept[:, :words]), np.where(signs > 0, least, -most), np.where(signs > 0, most, -least),
                (facts & QUIET) != 0)


def _add_random(game: Game, rng: random.Random, dice: Dice, plies: int, line: list[np.ndarray], moves: list[int]) -> None:
    """Add `plies` random moves that do not end the game."""
    for _ in range(plies):
        legal = game.legal_moves(line[-1])
        rng.shuffle(legal)
        for move in legal:
            line.append(game.after(line[-1], move, dice))
            if game.result(line) is None:
                moves.append(move)
                break
            line.pop()
        else:
            return
