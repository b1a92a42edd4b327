"""The journal of an optimization: a line for each finished pair of games, with the values that both
sides played with and a checksum."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, NamedTuple

from msgspec import Meta

from tuner.core.records import Number, convert
from tuner.io.run_folder import HISTORY
from tuner.play.journal import GrowingFiles, cut_torn, json_line, read_sealed, sealed
from tuner.play.match.journal import PairLine

ESTIMATES = "estimates.jsonl"


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


def _from_json(plain: dict, numbers: int, opponent: bool, points: int) -> TunedPair:
    """Decode a line of the file; ValueError says what is wrong."""
    size = Meta(min_length=numbers, max_length=numbers, description=f"{numbers} numbers")
    sides = [
        tuple(convert(plain.get(name), Annotated[list[Number], size], "", name)) for name in "ab"
    ]
    lines = [
        PairLine.from_json(plain[name], points)
        for name in ("line", "other")
        if isinstance(plain.get(name), dict)
    ]
    if len(lines) != 1 + opponent:
        raise ValueError("its games are missing, or those of another kind of run")
    return TunedPair(sides[0], sides[1], lines[0], lines[1] if opponent else None)


def read_pairs(
    path: Path, numbers: int, opponent: bool, points: int
) -> tuple[list[TunedPair], int]:
    """Read the whole lines of a file, in their order, and the checksum of the last; each checksum
    is of all lines so far. InputError for a damaged line."""
    seen: set[int] = set()

    def decode(plain: dict) -> TunedPair:
        pair = _from_json(plain, numbers, opponent, points)
        if pair.line.pair in seen:
            raise ValueError(f"pair {pair.line.pair} is there twice")
        seen.add(pair.line.pair)
        return pair

    return read_sealed(path, decode, chained=True)


class TunedJournal:
    """Appends finished pairs and estimates; `pairs` are those of an earlier run."""

    def __init__(self, folder: Path, numbers: Sequence[str], opponent: bool, points: int) -> None:
        self._files = GrowingFiles(folder, (HISTORY, ESTIMATES), "the pairs before are kept")
        history, estimates = self._files.paths
        with self._files.opened():
            self.pairs, self._last = read_pairs(history, len(numbers), opponent, points)
            for path in (history, estimates):
                cut_torn(path)

    def append(self, pair: TunedPair) -> None:
        """Append a finished pair."""
        line, self._last = sealed(pair.to_json(), self._last)
        self._files.append(line, b"")
        self._files.sync_sometimes()

    def note(self, estimate: dict) -> None:
        """Append an estimate."""
        self._files.append(b"", json_line(estimate))

    def close(self) -> None:
        """Write everything to disk, and unlock the folder."""
        self._files.sync()
        self._files.close()
