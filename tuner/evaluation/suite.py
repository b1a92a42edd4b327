"""How many positions of a suite, with moves to find or to avoid, a search with an evaluation
solves."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from games.search.searcher import Limits
from games.streams import InputError
from tuner.evaluation.evaluation import Evaluation


@dataclass(frozen=True)
class SuiteResult:
    """What a search solved of a suite; `points` of `most` are None without any; `seconds` is the
    mean of the CPU time of a search."""

    positions: int
    solved: int
    unsolved: list[str]
    seconds: float
    points: int | None = None
    most: int | None = None

    @property
    def lines(self) -> list[str]:
        """As lines of text."""
        share = 100 * self.solved / self.positions
        found = [
            f"solved {self.solved:,} of {self.positions:,} positions ({share:.1f} %),"
            f" {1000 * self.seconds:.1f} CPU ms each"
        ]
        if self.points is not None and self.most:
            share = 100 * self.points / self.most
            found.append(f"points: {self.points:,} of {self.most:,} ({share:.1f} %)")
        return found


def solve_suite(
    evaluation: Evaluation, source: str, limits: Limits, solved: Callable[[int], None]
) -> SuiteResult:
    """Search the positions of a suite; `solved` is called with the number of those searched."""
    searcher, game = evaluation.searcher(), evaluation.game
    unsolved, points, most, number, seconds = [], 0, 0, 0, 0.0
    if game.files.suite is None:
        raise InputError(f"{source}: suites of {game.name} are not read here, only of chess")
    for number, position in enumerate(game.files.suite(source), 1):
        searcher.clear()
        begun = time.process_time()
        found = searcher.search(position.words[None], limits)
        seconds += time.process_time() - begun
        move = "" if found.move is None else game.move_name(position.words, found.move)
        if not position.is_solved(move):
            unsolved.append(position.name)
        points += position.points.get(move, 0)
        most += max(position.points.values(), default=0)
        solved(number)
    if not number:
        raise InputError(f"{source}: holds no position")
    scored = (points, most) if most else (None, None)
    return SuiteResult(number, number - len(unsolved), unsolved, seconds / number, *scored)
