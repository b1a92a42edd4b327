"""End games by the scores of the players, in matches and in games to learn from.

In matches a player who sees itself lost resigns, and both agree to draws, as cutechess has it. A
shallow search draws many endings that it has won: results of fast games are worth learning from if
such games end while the scores of both sides are clear, by drawn endings and by tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import TypeVar

import numpy as np

from games.record import DRAW_RULE, PLIES, RESIGN_RULE, RULES, TABLES
from games.streams import InputError
from tuner.play.game import CERTAIN, Course, Ending, score_of


@dataclass(frozen=True)
class Resign:
    """A player loses after `movecount` moves in a row with a score of -`score` centipawns or
    less."""

    movecount: int = 3
    score: float = 400.0


@dataclass(frozen=True)
class Draw:
    """A draw after `movenumber` moves of each side, if all scores of the last `movecount` moves are
    within +/- `score`."""

    movenumber: int = 40
    movecount: int = 8
    score: float = 20.0


Rule = TypeVar("Rule", Resign, Draw)


@dataclass(frozen=True)
class Adjudication:
    """The rules in force in a match; none by default. A player without scores neither resigns nor
    agrees to a draw."""

    resign: Resign | None = None
    draw: Draw | None = None

    def judge(self, course: Course) -> Ending | None:
        """Judge a game after each move."""
        scores = course.choices
        if (resign := self.resign) and len(scores) > 2 * (resign.movecount - 1):
            if all(
                score_of(choice, CERTAIN) <= -resign.score
                for choice in scores[: -2 * resign.movecount : -2]
            ):
                return course.forfeited(course.mover, RESIGN_RULE)
        if (
            (draw := self.draw)
            and len(course.moves) >= 2 * draw.movenumber
            and len(scores) >= 2 * draw.movecount
        ):
            if all(
                abs(score_of(choice, CERTAIN)) <= draw.score
                for choice in scores[: -2 * draw.movecount - 1 : -1]
            ):
                return Ending(DRAW_RULE, 0)
        return None


def adjudication_of(resign: Sequence[str] | None, draw: Sequence[str] | None) -> Adjudication:
    """Make the rules from words such as `movecount=3 score=400`; InputError for unknown or wrong
    ones."""
    return Adjudication(rule_of(Resign, "--resign", resign), rule_of(Draw, "--draw", draw))


def rule_of(kind: type[Rule], option: str, words: Sequence[str] | None) -> Rule | None:
    """Make a rule from words, or several in one; None without words, and for `off`."""
    if words is None or list(words) == ["off"]:
        return None
    values = {}
    known = [field.name for field in fields(kind)]
    for word in " ".join(words).split():
        name, _, value = word.partition("=")
        if name not in known:
            raise InputError(
                f"{option} {word}: unknown, expected {', '.join(f'{n}=N' for n in known)}"
            )
        if not value.isdecimal() or not 0 < int(value) <= 10**6:
            raise InputError(f"{option} {word}: expected a whole number of 1 or more after {name}=")
        values[name] = int(value)
    return kind(**values)


RESIGN, DRAW, ENDING = "resign", "draw", "ending"
BY_SCORES = (RESIGN, DRAW, ENDING)  # rules that may be wrong; tables are not
ENDS = (RULES, RESIGN, DRAW, ENDING, TABLES, PLIES)


@dataclass(frozen=True)
class Adjudicator:
    """The rules in force in games to learn from; None: not this one. Scores are in centipawns,
    first player's view, NaN where a player has none.

    `resign` is (score, plies): the side that is ahead wins if the last `plies` scores are all
    `score` or more in its favour. `draw` is (score, plies, first): a draw, from ply `first` of the
    game on, if the last `plies` scores are within +/- `score`. `drawn_ending` and `tables` are
    those of `games.record.Contest`."""

    resign: tuple[float, int] | None = None
    draw: tuple[float, int, int] | None = None
    drawn_ending: Callable[[np.ndarray], bool] | None = None
    tables: Callable[[np.ndarray], int | None] | None = None

    def verdict(self, words: np.ndarray, scores: Sequence[float], plies: int) -> Ending | None:
        """Return the verdict on a game that has reached the position `words` after `plies` plies,
        with these scores so far."""
        if verdict := self.by_tables(words):
            return verdict
        if self.drawn_ending and scores and abs(scores[-1]) < CERTAIN and self.drawn_ending(words):
            return Ending(ENDING, 0)
        if self.resign and len(scores) >= self.resign[1]:
            last = scores[-self.resign[1] :]
            least = self.resign[0]
            if all(score >= least for score in last) or all(score <= -least for score in last):
                return Ending(RESIGN, 1 if last[0] > 0 else -1)
        if self.draw and plies >= self.draw[2] and len(scores) >= self.draw[1]:
            if all(abs(score) <= self.draw[0] for score in scores[-self.draw[1] :]):
                return Ending(DRAW, 0)
        return None

    def by_tables(self, words: np.ndarray) -> Ending | None:
        """Return the verdict of the tables alone."""
        outcome = self.tables(words) if self.tables else None
        return None if outcome is None else Ending(TABLES, outcome)
