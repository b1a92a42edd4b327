"""The games that threads of this process play now, as data for who looks on from outside."""

from __future__ import annotations

from tuner.io.now import GameNow
from tuner.play.game import UNDER_WAY, Course

MOST = 8  # games that are shown


def games_under_way() -> list[GameNow]:
    """Return the games under way, the first few of many."""
    return [_now(course) for course in list(UNDER_WAY.values())[:MOST]]


def _now(course: Course) -> GameNow:
    plies, game = course.whole, course.game
    last = game.move_text(course.line[plies - 1], course.moves[plies - 1]) if plies else ""
    return GameNow(game.name, list(course.names), game.text(course.line[plies]), plies, last)
