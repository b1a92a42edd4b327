"""One game: players move in turn until a judge says how it ended.

Every game that is played move by move is played here: of matches, of an evaluation against its
copies, of self-play. Judges look at the game before each move. Observers do the rest: players note
their searches, and `rolled` is called for each roll of the dice."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol, TypeAlias, runtime_checkable

import numpy as np

from games.record import (
    TIME,
    Choice,
    Control,
    Dice,
    Forfeit,
    Game,
    Left,
    PlayedGame,
    Player,
)
from tuner.io.now import GameNow
from tuner.play.openings import Opening

ROOM = 256  # positions of a game, at first
UNTIMED = Control()


class Stopped(Exception):
    """The work was stopped during this game."""


class Ending(NamedTuple):
    """How a game ended: a word for it, the reward of the first player (None: it was broken off),
    and the player, 0 or 1, who lost by a fault or gave up."""

    end: str
    outcome: float | None
    loser: int | None = None
    detail: str = ""
    exchange: str = ""


class Course:
    """A game in progress: positions, moves (the first `book` are those of the opening), and the
    choices of the players with the seconds that each took. `mover` is the player, 0 or 1, who chose
    last; `names` are the names of the players, for observers."""

    names: tuple[str, ...] = ()

    def __init__(
        self,
        game: Game,
        opening: Opening,
        dice: Dice | None = None,
        rolled: Callable[[np.ndarray, np.ndarray], None] | None = None,
    ) -> None:
        """`dice` are for games with dice; `rolled` is called with the positions before and after
        each roll."""
        self.game, self.book, self.mover = game, len(opening.moves), 0
        self.moves: list[int] = []
        self.choices: list[Choice] = []
        self.seconds: list[float] = []
        self._dice, self._rolled = dice, rolled
        self._room = np.zeros((ROOM, game.words), np.uint64)
        self._place(opening.start)
        for move in opening.moves:
            self.add(move)

    @property
    def line(self) -> np.ndarray:
        """The positions so far (n, words)."""
        return self._room[: len(self.moves) + 1]

    @property
    def whole(self) -> int:
        """The number of plies with complete positions, even while another thread adds a move."""
        return self.book + len(self.choices)

    @property
    def turn(self) -> int:
        """The player to move, 0 or 1."""
        return int(self.game.second_to_move(self.line[-1]))

    def add(self, move: int) -> None:
        """Make a move, and roll the dice for the next one."""
        words = self.game.play(self.line[-1], move)
        self.moves.append(move)
        self._place(words)

    def forfeited(self, loser: int, end: str, detail: str = "") -> Ending:
        """Return the ending of a game that player 0 or 1 lost by a fault or gave up: a draw if its
        time ran out and the opponent could not win."""
        drawn = end == TIME and self.game.contest.cannot_win(self.line[-1], 1 - loser)
        return Ending(end, 0 if drawn else self.game.forfeited(loser), loser, detail)

    def played(self, ending: Ending, plies: int | None = None) -> PlayedGame:
        """Return the game, or its first plies, with its ending."""
        plies = len(self.moves) if plies is None else plies
        choices = plies - self.book
        return PlayedGame(
            self.line[: plies + 1],
            self.moves[:plies],
            self.book,
            self.choices[:choices],
            self.seconds[:choices],
            ending.outcome,
            ending.end,
            ending.loser,
            ending.detail,
            exchange=ending.exchange,
        )

    def _place(self, words: np.ndarray) -> None:
        n = len(self.moves)
        if n == len(self._room):
            self._room = np.concatenate([self._room, np.zeros_like(self._room)])
        self._room[n] = rolled = self.game.rolled(words, self._dice)
        if self._rolled is not None and rolled is not words:
            self._rolled(words, rolled)


UNDER_WAY: dict[int, Course] = {}  # the game that each thread of this process plays now
Judge: TypeAlias = Callable[[Course], Ending | None]


def play_out(
    course: Course,
    players: Sequence[Player],
    judges: Sequence[Judge],
    stopped: Callable[[], bool],
    seeds: Sequence[str],
    controls: Sequence[Control] = (UNTIMED, UNTIMED),
    clock: Callable[[], float] = time.perf_counter,
) -> Ending:
    """Play a game to its end. Players, seeds and controls are those of the first and the second
    player; the first judge that ends the game decides. Raises Stopped if the work is stopped."""
    if stopped():
        raise Stopped
    left, made, turn = [control.base for control in controls], [0, 0], 0
    thread = threading.get_ident()
    UNDER_WAY[thread] = course
    try:
        for turn, player in enumerate(players):
            player.begin(seeds[turn], course.line[0])
        while True:
            for judge in judges:
                if (ending := judge(course)) is not None:
                    return ending
            turn = course.turn
            own, other, period = left[turn], left[1 - turn], controls[turn].moves
            begun = clock()
            choice = players[turn].choose(
                course.line,
                course.moves,
                None
                if own is None
                else Left(
                    own,
                    own if other is None else other,
                    None if period is None else period - made[turn] % period,
                ),
            )
            used = clock() - begun
            if stopped():
                raise Stopped
            if controls[turn].exceeded(used, own):
                raise Forfeit(TIME)
            made[turn] += 1
            if own is not None:
                left[turn] = max(own - used, 0.0) + controls[turn].increment
                if period is not None and made[turn] % period == 0:
                    left[turn] = (left[turn] or 0.0) + (controls[turn].base or 0.0)
            course.add(choice.move)
            course.choices.append(choice)
            course.seconds.append(used)
            course.mover = turn
    except Forfeit as fault:
        if stopped():
            raise Stopped from None
        return course.forfeited(turn, fault.kind, fault.detail)._replace(exchange=fault.exchange)
    finally:
        UNDER_WAY.pop(thread, None)


@runtime_checkable
class Rolling(Protocol):
    """What luck needs of a search, see `games.search.expectimax_searcher`."""

    def best_values(self, positions: np.ndarray) -> np.ndarray:
        """Return v (k,) of the best moves of positions (k, words) with dice, first player's
        view."""


class Luck:
    """One thread's measure of luck: the points that the rolls of a game gave the first player."""

    def __init__(self, game: Game, judge: Rolling) -> None:
        self._game, self._judge = game, judge
        self.total = 0.0

    def begun(self) -> Callable[[np.ndarray, np.ndarray], None]:
        """Begin a game: return what adds the luck of a roll to the total."""
        self.total = 0.0
        return self._add

    def _add(self, before: np.ndarray, after: np.ndarray) -> None:
        self.total += self.of_roll(before, after)

    def of_roll(self, before: np.ndarray, after: np.ndarray) -> float:
        """Return the luck of a roll, from the position before it to the one with its dice."""
        assert self._game.chance is not None, "only games with dice have luck"
        positions, chances = self._game.chance.rolls(before)
        values = self._judge.best_values(positions)
        came = int(np.flatnonzero((positions == after).all(axis=1))[0])
        return float(values[came] - chances @ values) * self._game.points


MAX_SHOWN_GAMES = 8  # games that are shown


def games_under_way() -> list[GameNow]:
    """Return the games under way, the first few of many."""
    return [_now(course) for course in list(UNDER_WAY.values())[:MAX_SHOWN_GAMES]]


def _now(course: Course) -> GameNow:
    plies, game = course.whole, course.game
    last = game.move_text(course.line[plies - 1], course.moves[plies - 1]) if plies else ""
    return GameNow(game.name, list(course.names), game.text(course.line[plies]), plies, last)
