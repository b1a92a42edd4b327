"""The journal of an optimisation: a line for each finished pair of games, with the values that both
sides played with and a checksum."""

from __future__ import annotations

import json
import time
import zlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from games.streams import InputError
from tuner.io.run_folder import HISTORY, fits
from tuner.play.journal import GrowingFiles, json_line, json_object
from tuner.play.match.journal import PairLine

ESTIMATES = "estimates.jsonl"
SYNC_SECONDS = 1.0


class TunedPair(NamedTuple):
    """A finished pair: the values of both sides, and its games as a line of a match. Where both
    sides play an opponent, `line` has the games of a against it, and `other` those of b."""

    a: tuple[float, ...]
    b: tuple[float, ...]
    line: PairLine
    other: PairLine | None = None

    def score(self, points: int) -> float:
        """Return the score of a in a game that wins so many points at most: the mean of both games
        from 0 to 1. Against an opponent it is 1/2 and what a scored more than b, which may be less
        than 0 or more than 1."""
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

    def encoded(self, before: int) -> bytes:
        """Return the line of the file after one with this checksum."""
        plain = {
            "pair": self.line.pair,
            "a": list(self.a),
            "b": list(self.b),
            "line": _short(self.line),
            **({} if self.other is None else {"other": _short(self.other)}),
        }
        return json_line({**plain, "crc": zlib.crc32(json_line(plain), before)})


def _short(line: PairLine) -> dict:
    return replace(line, reasons=None).to_json()


def _checksum(raw: bytes) -> int:
    """Return the checksum that a line of the file ends with."""
    return json_object(raw)["crc"]


def _decoded(raw: bytes, before: int, numbers: int, opponent: bool, points: int) -> TunedPair:
    """Decode a line of the file after one with a checksum; ValueError says what is wrong."""
    plain = json_object(raw)
    check = plain.pop("crc", None)
    if check != zlib.crc32(json_line(plain), before):
        raise ValueError("its checksum is wrong: it, or the lines before it, were changed")
    sides = []
    for name in ("a", "b"):
        if not fits(plain.get(name), tuple[float, ...]) or len(plain[name]) != numbers:
            raise ValueError(
                f"{name} is {json.dumps(plain.get(name))[:40]}, expected {numbers} numbers"
            )
        sides.append(tuple(plain[name]))
    lines = [
        PairLine.from_json(plain[name], points)
        for name in ("line", "other")
        if isinstance(plain.get(name), dict)
    ]
    if len(lines) != 1 + opponent:
        raise ValueError("its games are missing, or those of another kind of run")
    return TunedPair(sides[0], sides[1], *lines)


def read_pairs(
    path: Path, numbers: int, opponent: bool, points: int
) -> tuple[list[TunedPair], int]:
    """Read the whole lines of a file, in their order, and the checksum of the last; each checksum
    is of all lines so far. InputError for a damaged line."""
    content = path.read_bytes() if path.exists() else b""
    pairs: list[TunedPair] = []
    seen: set[int] = set()
    last = 0
    for number, raw in enumerate(content[: content.rfind(b"\n") + 1].splitlines(), 1):
        try:
            pair = _decoded(raw, last, numbers, opponent, points)
            last = _checksum(raw)
            if pair.line.pair in seen:
                raise ValueError(f"pair {pair.line.pair} is there twice")
        except (ValueError, TypeError) as problem:
            raise InputError(
                f"{path}:{number}: damaged, {problem}; restore the file, or start another run"
            ) from None
        seen.add(pair.line.pair)
        pairs.append(pair)
    return pairs, last


class TunedJournal:
    """Appends finished pairs and estimates; `pairs` are those of an earlier run."""

    def __init__(self, folder: Path, numbers: Sequence[str], opponent: bool, points: int) -> None:
        self._files = GrowingFiles(folder, (HISTORY, ESTIMATES), "the pairs before are kept")
        history, estimates = self._files.paths
        with self._files.opened():
            self.pairs, self._last = read_pairs(history, len(numbers), opponent, points)
            for path in (history, estimates):  # a kill may leave the beginning of a line
                if path.exists():
                    content = path.read_bytes()
                    with open(path, "r+b") as stream:
                        stream.truncate(content.rfind(b"\n") + 1)
        self._synced = time.monotonic()

    def append(self, pair: TunedPair) -> None:
        """Append a finished pair."""
        line = pair.encoded(self._last)
        self._files.append(line, b"")
        self._last = _checksum(line)
        if time.monotonic() - self._synced > SYNC_SECONDS:
            self._files.sync()
            self._synced = time.monotonic()

    def note(self, estimate: dict) -> None:
        """Append an estimate."""
        self._files.append(b"", json_line(estimate))

    def close(self) -> None:
        """Write everything to disk, and unlock the folder."""
        self._files.sync()
        self._files.close()
