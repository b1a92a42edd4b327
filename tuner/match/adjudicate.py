"""Adjudicate games by the scores that the players report, as cutechess does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TypeVar

from games.contest import DRAW_RULE, RESIGN_RULE, Choice
from games.streams import InputError

CERTAIN = 30000.0  # centipawns for a forced win


@dataclass(frozen=True)
class Resign:
    """A player loses after `movecount` moves in a row with a score of -`score` centipawns or less."""

    movecount: int = 3
    score: float = 400.0


@dataclass(frozen=True)
class Draw:
    """A draw after `movenumber` moves of each side, if all scores of the last `movecount` moves are within +/- `score`."""

    movenumber: int = 40
    movecount: int = 8
    score: float = 20.0

Rule = TypeVar("Rule", Resign, Draw)


@dataclass(frozen=True)
class Adjudication:
    """The rules in force; none by default."""

    resign: Resign | None = None
    draw: Draw | None = None

    def judge(self, choices: Sequence[Choice], plies: int) -> str | None:
        """After a move: "resign rule" (the player who just moved loses), "draw rule" or None."""
        if (resign := self.resign) and len(choices) > 2 * (resign.movecount - 1):
            if all(_score(choice, CERTAIN) <= -resign.score for choice in choices[:-2 * resign.movecount:-2]):
                return RESIGN_RULE
        if (draw := self.draw) and plies >= 2 * draw.movenumber and len(choices) >= 2 * draw.movecount:
            if all(abs(_score(choice, CERTAIN)) <= draw.score for choice in choices[:-2 * draw.movecount - 1:-1]):
                return DRAW_RULE
        return None


NONE = Adjudication()


def _score(choice: Choice, unknown: float) -> float:
    """The score of a move in centipawns; a player without scores neither resigns nor agrees to a draw."""
    if choice.win_in is not None:
        return CERTAIN if choice.win_in > 0 else -CERTAIN
    return unknown if choice.score is None else choice.score


def adjudication_of(resign: Sequence[str] | None, draw: Sequence[str] | None) -> Adjudication:
    """Make the rules from words such as `movecount=3 score=400`; InputError for unknown or wrong ones."""
    return Adjudication(_rule(Resign, "--resign", resign), _rule(Draw, "--draw", draw))


def _rule(kind: type[Rule], option: str, words: Sequence[str] | None) -> Rule | None:
    if words is None:
        return None
    values = {}
    known = [field.name for field in fields(kind)]
    for word in words:
        name, _, value = word.partition("=")
        if name not in known:
            raise InputError(f"{option} {word}: unknown, expected {', '.join(f'{n}=N' for n in known)}")
        if not value.isdecimal() or not 0 < int(value) <= 10**6:
            raise InputError(f"{option} {word}: expected a whole number of 1 or more after {name}=")
        values[name] = int(value)
    return kind(**values)
