"""A recorded game: positions and result, as readers build it ply by ply and writers take it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from games.backgammon.files.notation import parse_move
from games.backgammon.rules.board import STATE, start, turn_of, with_dice
from games.backgammon.rules.play import afterstates, points
from games.reading import FileFault

PLAYED, RESIGNED, DROPPED, UNFINISHED = "played", "resigned", "dropped", "unfinished"
HIGHEST_CUBE = 1 << 15
# kinds of faults
CUBE, RESULT = "a cube turned against the rules", "a result that contradicts the moves"


@dataclass
class GameRecord:
    """A game from the start. `rolled` are the positions with dice, `afterstates` those after each
    move, `moves` the steps of each (`games.backgammon.rules.play.steps_of`); `cubes` has the plies
    before which the cube was turned, and its new value.

    `points` are what the first player won, times the cube; `end` how.
    """

    players: tuple[str, str] = ("", "")
    score: tuple[int, int] = (0, 0)
    length: int = 0  # of the match; 0: money
    rolled: list[np.ndarray] = field(default_factory=list)
    afterstates: list[np.ndarray] = field(default_factory=list)
    moves: list[int] = field(default_factory=list)
    cubes: list[tuple[int, int]] = field(default_factory=list)
    points: int = 0
    end: str = UNFINISHED

    @property
    def cube(self) -> int:
        """The value of the cube at the end."""
        return self.cubes[-1][1] if self.cubes else 1

    @property
    def now(self) -> np.ndarray:
        """The position before the next roll, whoever starts."""
        return self.afterstates[-1] if self.afterstates else start()

    @property
    def line(self) -> np.ndarray:
        """The positions before each roll, from the start on, and the last one: (plies + 1,
        words)."""
        if not self.rolled:
            return start()[None]
        return np.array([with_dice(self.rolled[0], (0, 0)), *self.afterstates])

    @property
    def value(self) -> int | None:
        """The points of the first player without the cube; None for a game that has no result."""
        return None if self.end == UNFINISHED else self.points // self.cube

    def play(self, side: int, dice: tuple[int, int], text: str) -> None:
        """Play a ply; Fault if it is not that side's turn, or the move is not legal."""
        self._continue(side, "moves")
        if not all(1 <= die <= 6 for die in dice):
            raise FileFault(
                f"dice {dice[0]}{dice[1]} at ply {len(self.rolled) + 1}, expected two of 1 to 6",
                "impossible dice",
            )
        words = self.now
        if not self.rolled:
            words[STATE] |= np.uint64(side)
        words = with_dice(words, dice)
        after, moves = afterstates(words)
        try:
            k = parse_move(words, text, (after, moves))
        except ValueError as problem:
            raise FileFault(f"{problem} at ply {len(self.rolled) + 1}", "illegal move") from None
        self.rolled.append(words)
        self.afterstates.append(after[k])
        self.moves.append(int(moves[k]))

    def double(self, side: int, value: int | None = None) -> None:
        """Turn the cube before a ply; Fault if it is not that side's turn, or the value is not the
        next."""
        self._continue(side, "doubles")
        if value not in (None, 2 * self.cube):
            raise FileFault(
                f"the cube goes from {self.cube} to {value} at ply {len(self.rolled) + 1}, expected"
                f" {2 * self.cube}",
                CUBE,
            )
        if self.cube >= HIGHEST_CUBE:
            raise FileFault(
                f"the cube goes beyond {HIGHEST_CUBE} at ply {len(self.rolled) + 1}", CUBE
            )
        self.cubes.append((len(self.rolled), 2 * self.cube))

    def drop(self, side: int) -> None:
        """End the game with a cube that is not taken."""
        if not self.cubes or self.cubes[-1][0] != len(self.rolled) or self.end != UNFINISHED:
            raise FileFault(f"no double to be dropped at ply {len(self.rolled) + 1}", CUBE)
        self.cubes.pop()
        self.points, self.end = (-self.cube, DROPPED) if side == 0 else (self.cube, DROPPED)

    def finish(self, won: int | None) -> None:
        """End the game: with the points `won` by the first player that its file states, negative if
        lost, or None. Fault if they are not those of the moves."""
        reached = points(self.now) * self.cube
        if won is not None and self.end == DROPPED and won != self.points:
            raise FileFault(
                f"the file states {won:+d} points for the first player, the dropped cube gives"
                f" {self.points:+d}",
                RESULT,
            )
        if self.end == DROPPED:
            return
        if won is not None and reached and won != reached:
            raise FileFault(
                f"the file states {won:+d} points for the first player, the moves give"
                f" {reached:+d}",
                RESULT,
            )
        if reached:
            self.points, self.end = reached, PLAYED
        elif won is not None:
            if won % self.cube or not 1 <= abs(won) // self.cube <= 3:
                raise FileFault(
                    f"the file states {won:+d} points for the first player, which the cube at"
                    f" {self.cube} cannot give",
                    RESULT,
                )
            self.points, self.end = won, RESIGNED

    def _continue(self, side: int, what: str) -> None:
        if self.end != UNFINISHED or points(self.now):
            raise FileFault(
                f"the game goes on after its end at ply {len(self.rolled) + 1}",
                "the game goes on after its end",
            )
        if self.rolled and side != turn_of(self.now):
            raise FileFault(
                f"{('the first', 'the second')[side]} player {what} at ply {len(self.rolled) + 1},"
                " out of turn",
                "a move or a double out of turn",
            )


class FoundGame(NamedTuple):
    """A game of a file: where it stands or its fault does, such as `12` for a line, the game, and
    its fault or None."""

    place: str
    game: GameRecord
    fault: FileFault | None
