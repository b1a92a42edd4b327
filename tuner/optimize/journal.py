"""The finished pairs of an optimization: games, with the values that both sides played with."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, NamedTuple

from msgspec import Meta

from tuner.core.records import Number, convert
from tuner.core.store import naming, read_records
from tuner.play.match.journal import PairLine


class TunedPair(NamedTuple):
    """A finished pair: the values of both sides, and its games as a line of a match. Where both
    sides play an opponent, `line` has the games of a against it, and `other` the games of b."""

    a: tuple[float, ...]
    b: tuple[float, ...]
    line: PairLine
    other: PairLine | None = None
    lost: tuple[str, ...] = ()  # texts of the games lost by a fault, which the journal lacks

    def score(self, points: int) -> float:
        """Return the score of a in a game that wins at most a number of points: the mean of both
        games from 0 to 1. Against an opponent it is 1/2 and what a scored more than b, which may be
        less than 0 or more than 1."""
        if self.other is None:
            return 0.5 + sum(self.line.outcomes) / (4 * points)
        return 0.5 + (sum(self.line.outcomes) - sum(self.other.outcomes)) / (4 * points)

    @property
    def games(self) -> int:
        """The number of games."""
        return 2 if self.other is None else 4

    @property
    def forfeits(self) -> list[str]:
        """Who lost a game by a fault, and which: "a crash". Where both sides play an opponent, it
        is b in all games."""
        ours = list(filter(None, self.line.forfeits))
        theirs = list(filter(None, self.other.forfeits)) if self.other else []
        return ours + theirs

    def to_json(self) -> dict:
        """Return it as plain data."""
        return {
            "pair": self.line.pair,
            "a": list(self.a),
            "b": list(self.b),
            "line": _short(self.line),
            **({} if self.other is None else {"other": _short(self.other)}),
        }


def _short(line: PairLine) -> dict:
    return replace(line, reasons=None).to_json()


def read_pairs(folder: Path, numbers: int, opponent: bool, points: int) -> list[TunedPair]:
    """Return the finished pairs of a run, in their order; InputError for a damaged one."""
    pairs: dict[int, TunedPair] = {}
    size = Meta(min_length=numbers, max_length=numbers, description=f"{numbers} numbers")
    for number, plain in enumerate(read_records(folder)):
        with naming(folder, number):
            a, b = (
                tuple(convert(plain.get(name), Annotated[list[Number], size], "", name))
                for name in "ab"
            )
            lines = [
                PairLine.from_json(plain[name], points)
                for name in ("line", "other")
                if isinstance(plain.get(name), dict)
            ]
            if len(lines) != 1 + opponent:
                raise ValueError("its games are missing, or those of another kind of run")
            if lines[0].pair in pairs:
                raise ValueError(f"pair {lines[0].pair} is there twice")
        pairs[lines[0].pair] = TunedPair(a, b, lines[0], lines[1] if opponent else None)
    return list(pairs.values())
