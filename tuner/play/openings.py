"""Openings of the pairs of games: from a file, or balanced positions after random moves."""

import itertools
import random
import threading
from array import array
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from games.record import BookMoves, Game, Openings
from games.search.searcher import Limits, Searcher
from games.streams import InputError
from tuner.core.text import plural

JUDGE = "classic"  # the bundled evaluation that checks openings
BALANCED = 50.0  # centipawns
DEPTH = 4  # of the search that checks the balance
PATIENCE = 2000  # candidates in a row that were used before: then the openings are exhausted
# candidates in a row that were over or unbalanced, after which the search is given up; lines of a
# book are drawn slowly
HOPELESS, HOPELESS_BOOK = 20_000, 1000


class Opening(NamedTuple):
    """Start and moves of an opening; `place` is where a Generator found it."""

    start: np.ndarray
    moves: Sequence[int] = ()
    place: tuple[int, int] | None = None


class Book:
    """Openings of a file in its order or a random one; when all are used, it starts again (in
    another random order)."""

    def __init__(self, openings: Openings, order: str, seed: int) -> None:
        self.openings, self._order, self._seed = openings, order, seed
        self._rounds: dict[int, np.ndarray] = {}

    @property
    def size(self) -> int:
        return len(self.openings)

    @property
    def starts(self) -> np.ndarray:
        """The first positions (n, words) of all openings."""
        return self.openings.starts

    def opening(self, pair: int) -> Opening:
        """The opening of a pair, from any thread."""
        turn, place = divmod(pair, len(self.openings))
        if self._order == "random":
            if turn not in self._rounds:
                self._rounds[turn] = np.random.default_rng([self._seed, turn]).permutation(
                    len(self.openings)
                )
            place = int(self._rounds[turn][place])
        return Opening(*self.openings[place])

    def known(self, places: dict[int, tuple[int, int]]) -> None:
        """Openings of a file need nothing from an earlier run."""


def book_from(
    game: Game, path: str, order: str, seed: int, note: Callable[[str], None], ended: bool = False
) -> Book:
    """Return the openings of a file, with games that end on the board if `ended`; InputError in a
    game that reads none."""
    if game.files.openings is None:
        raise InputError(f"{game.name} reads no openings; --random-plies N makes some")
    return Book(game.files.openings(path, note, ended), order, seed)


def start_of(game: Game) -> Book:
    """Return the initial position for every pair."""
    return Book(Openings(game.start()[None]), "sequential", 0)


class Generator:
    """Openings of random moves: each is the next candidate that is balanced, not over, and new.

    Candidate j depends only on the seed and j. Since searches take most of the time, the candidate
    of each pair is kept with its games, so that a resumed match does not search again."""

    def __init__(
        self,
        game: Game,
        plies: int,
        seed: int,
        searcher: Searcher | None,
        note: Callable[[str], None],
        book: BookMoves | None = None,
        source: str = "",
    ) -> None:
        """`book` draws the moves from the file `source`; None: all legal moves are alike."""
        self._game, self._plies, self._seed, self._searcher, self._note = (
            game,
            plies,
            seed,
            searcher,
            note,
        )
        self._move = book or self._any_move
        self._what = f"plies of {source}" if book else "random plies"
        self._lock = threading.Lock()
        self._start = game.start()
        self.starts = self._start[None]  # the first positions of all openings
        self._found = array("q")  # candidate of each pair
        self._turns = array("q")  # how often all openings were exhausted before each pair
        self._seen: set[int | bytes] = set()
        self._next, self._turn = 0, 0
        self._known: dict[int, tuple[int, int]] = {}

    def known(self, places: dict[int, tuple[int, int]]) -> None:
        """Set the places of the openings that an earlier run found."""
        self._known = places

    def opening(self, pair: int) -> Opening:
        """The opening of a pair, from any thread."""
        with self._lock:
            while len(self._found) <= pair:
                self._find()
            candidate, turn = self._found[pair], self._turns[pair]
        return Opening(self._start, self._candidate(candidate)[1], (candidate, turn))

    def _find(self) -> None:
        """Find the opening of the next pair."""
        if (place := self._known.get(len(self._found))) is not None:
            candidate, turn = place
            if turn > self._turn:
                self._begin_again(turn)
            line, _ = self._candidate(candidate)
        else:
            candidate, line = self._search()
        self._seen.add(self._identity(line[-1]))
        self._found.append(candidate)
        self._turns.append(self._turn)
        self._next = candidate + 1

    def _begin_again(self, turn: int) -> None:
        self._turn = turn
        self._seen.clear()

    def _search(self) -> tuple[int, list[np.ndarray]]:
        met = refused = 0
        for candidate in itertools.count(self._next):
            line, moves = self._candidate(candidate)
            if len(moves) < self._plies or not self._balanced(line):
                refused += 1
                if refused == HOPELESS_BOOK and self._what != "random plies":
                    raise InputError(
                        f"no line of {self._plies} {self._what} in {HOPELESS_BOOK:,} tries; choose"
                        " fewer with --book-plies"
                    )
                if refused == HOPELESS:
                    raise InputError(
                        f"no balanced position after {self._plies} random plies in {HOPELESS:,}"
                        " tries; choose fewer with --random-plies, or --openings FILE"
                    )
            elif self._identity(line[-1]) in self._seen:
                met += 1
                if met == PATIENCE:
                    self._note(
                        f"there are only {plural(len(self._seen), 'opening')} of {self._plies}"
                        f" {self._what}: they are repeated"
                    )
                    self._begin_again(self._turn + 1)
            else:
                return candidate, line
        raise AssertionError("there is always another candidate")

    def _balanced(self, line: list[np.ndarray]) -> bool:
        if self._searcher is None:
            return True
        self._searcher.clear()
        self._searcher.choose_by(0)  # whatever it played before
        return abs(self._searcher.search(line, Limits(depth=DEPTH)).value) <= BALANCED

    def _candidate(self, number: int) -> tuple[list[np.ndarray], list[int]]:
        """Positions and moves of a candidate; fewer moves than `plies` if the game was over."""
        game, dice = self._game, random.Random(f"{self._seed} opening {number}")
        line, moves = [self._start], []
        for _ in range(self._plies):
            move = self._move(line[-1], dice)
            if move is None:
                break
            line.append(game.play(line[-1], move))
            if game.result(line) is not None:
                break
            moves.append(move)
        return line, moves

    def _any_move(self, words: np.ndarray, dice: random.Random) -> int:
        legal = self._game.legal_moves(words)
        return legal[int(dice.random() * len(legal))]

    def _identity(self, words: np.ndarray) -> int | bytes:
        """A key that ignores move counters: the last word of positions that are searched, else all
        words."""
        return int(words[-1]) if self._searcher is not None else words.tobytes()
