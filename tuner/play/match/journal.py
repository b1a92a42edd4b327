"""The journal of a match: a line for each finished pair of games, with a checksum of itself and of
its games in their file."""

from __future__ import annotations

import contextlib
import os
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Annotated, Any

from msgspec import Meta

from tuner.core.records import Count, InputError, convert
from tuner.io.files import replace_file, replaced
from tuner.io.run_folder import HISTORY, keep_beside, write_all
from tuner.play.journal import (
    CHECK,
    GrowingFiles,
    json_line,
    json_object,
)

BEGINNING = b'{"leg":'
MOST_TORN = 1 << 16  # bytes: all lines are shorter
Points = Annotated[float, Meta(ge=-1e9, le=1e9, description="a number of points")]
Forfeit = Annotated[str, Meta(pattern="^[ab] ", description="'a ...' or 'b ...'")]
Session = Callable[[], Callable[[str], str]]  # see games.record.Files


@dataclass(frozen=True)
class PairLine:
    """A finished pair of games, in which each player was the first player once. `outcomes` are
    points of player a, `forfeits` are the player who lost by a fault and the fault ("b crash"),
    `luck` the points that the dice gave a; `opening` is the place where a generator found the
    opening, `at` the offset of their texts in the file of games, `bytes` the size of each."""

    leg: Count
    pair: Count
    outcomes: tuple[int, int]
    plies: tuple[Count, Count]
    ends: tuple[str, str]
    reasons: tuple[str, str] | None = None
    forfeits: tuple[Forfeit | None, Forfeit | None] = (None, None)
    luck: tuple[Points, Points] | None = None
    opening: tuple[Count, Count] | None = None
    at: Count | None = None
    bytes: tuple[Count, Count] | None = None

    @property
    def size(self) -> int:
        """The size of the texts."""
        return sum(self.bytes or ())

    def to_json(self) -> dict[str, Any]:
        """Return the pair as plain data, without unknown values."""
        return {
            name: value
            for name, value in vars(self).items()
            if value is not None and value != (None, None)
        }

    @classmethod
    def from_json(cls, plain: dict[str, Any], points: int) -> PairLine:
        """Read a line of a game that wins at most a number of points; ValueError describes a
        fault."""
        line: PairLine = convert(plain, cls, "")
        if (line.at is None) != (line.bytes is None):
            raise ValueError("lacks bytes" if line.bytes is None else "lacks at")
        if max(map(abs, line.outcomes)) > points:
            raise ValueError(
                f"outcomes is {line.outcomes!s:.40}, expected whole numbers from -{points} to"
                f" {points}"
            )
        return line


def encoded(line: PairLine, games: bytes) -> bytes:
    """Encode a line for the file; `games` are the texts at its place in the file of games."""
    body = json_line(line.to_json())[:-1]
    return body[:-1] + _check(body, games)


def _check(body: bytes, games: bytes) -> bytes:
    return f',"{CHECK}":{zlib.crc32(games, zlib.crc32(body))}}}\n'.encode()


def torn(raw: bytes) -> bool:
    """Whether this is the beginning of a line, as a kill leaves it."""
    return (
        not raw.endswith(b"\n") and len(raw) < MOST_TORN and raw.startswith(BEGINNING[: len(raw)])
    )


def decoded(raw: bytes, games: IO[bytes] | None, points: int = 1) -> PairLine:
    """Decode a line of the file; ValueError says what is wrong with it or with its games in the
    file `games`. `points` are the most that a game wins."""
    plain = json_object(raw)
    check, text = plain.pop(CHECK, None), b""
    line = PairLine.from_json(plain, points)
    if line.at is not None and games is not None:
        if games.seek(0, 2) < line.at + line.size:
            raise ValueError(f"its games, {line.size:,} bytes from {line.at:,} on, are incomplete")
        games.seek(line.at)
        text = games.read(line.size)
    written = f',"{CHECK}":{check}}}\n'.encode()
    if _check(raw.removesuffix(written) + b"}", text) != written:
        raise ValueError("its checksum is wrong: the line or its games were changed")
    return line


def read_pairs(path: Path, points: int) -> list[PairLine]:
    """Return the whole lines of a match that may be under way; InputError for a damaged one."""
    try:
        raw = path.read_bytes().splitlines(keepends=True)
    except OSError as problem:
        raise InputError(f"{path}: cannot be read: {problem.strerror}") from None
    lines = []
    for number, text in enumerate(raw, 1):
        if torn(text):
            break
        try:
            plain = json_object(text)
            plain.pop(CHECK, None)
            lines.append(PairLine.from_json(plain, points))
        except ValueError as problem:
            raise InputError(f"{path}:{number}: damaged, {problem}") from None
    return lines


LEAST_PAIR = 1 << 14  # bytes: games of a pair up to this size are no sign of damage


class Journal:
    """Appends finished pairs; reads those of an earlier run."""

    def __init__(
        self,
        folder: Path,
        games: str,
        note: Callable[[str], None],
        legs: int = 1,
        pairs: int | None = None,
        points: int = 1,
        session: Session | None = None,
    ) -> None:
        """`games` names the file of games, `note` reports damage; `legs` and `pairs` limit the
        valid pairs, `points` what a game wins; `session` fits the texts of games into one file."""
        self._session, self._points = session, points
        self._files = GrowingFiles(folder, (games, HISTORY), "the pairs before are kept")
        self._games_path, self._path = self._files.paths
        with self._files.opened():
            self.lines = self._recovered(note, legs, pairs)
            self._fit = self._fitting()
        self.follower: Path | None = None  # a file to which finished games are appended, too
        self._follower: IO[bytes] | None = None
        self._place = self._files.sizes[0]

    def append(self, line: PairLine, texts: list[str]) -> PairLine:
        """Append a finished pair: the texts of its games, if kept, then its line, which is returned
        with their place."""
        data = [self._fit(text).encode("utf-8", "replace") for text in texts]
        games = b"".join(data)
        if data:
            line = replace(line, at=self._place, bytes=(len(data[0]), len(data[1])))
            self._place += len(games)
            self._follow(games)
        self._files.append(games, encoded(line, games))
        self._files.sync_sometimes()
        return line

    def _follow(self, games: bytes) -> None:
        """Append games to the file that follows, which is begun with all that were finished before:
        a match that is killed leaves what it played."""
        if self.follower is None:
            return
        try:
            if self._follower is None:
                self.copy_games(self.lines, self.follower)
                self._follower = open(self.follower, "ab", buffering=0)
            write_all(self._follower, games)
        except OSError as problem:
            raise InputError(
                f"{self.follower}: cannot be written: {problem.strerror}; the pairs before are kept"
            ) from None

    def sync(self) -> None:
        """Write everything to disk: games before the lines that refer to them."""
        self._files.sync()

    def close(self) -> None:
        self.sync()
        self._files.close()
        if self._follower is not None:
            self._follower.close()

    def copy_games(self, lines: Iterable[PairLine], output: Path) -> None:
        """Copy the games of pairs to a file that is replaced as a whole."""
        try:
            with replaced(output) as temporary, open(temporary, "wb") as out:
                fit = self._session() if self._session else None
                for text in self._texts(lines):
                    out.write(fit(text.decode()).encode() if fit else text)
        except OSError as problem:
            raise InputError(
                f"{output}: cannot be written: {problem.strerror}; the games are in"
                f" {self._games_path}"
            ) from None

    def _texts(self, lines: Iterable[PairLine]) -> Iterator[bytes]:
        """Yield the games of pairs."""
        with open(self._games_path, "rb") as games:
            for line in lines:
                games.seek(line.at or 0)
                yield from map(games.read, line.bytes or ())

    def _fitting(self) -> Callable[[str], str]:
        """Return what fits the next text into the file of games, after those that it has."""
        if self._session is None:
            return str
        fit = self._session()
        kept = [line for line in self.lines if line.bytes]
        for text in self._texts(sorted(kept, key=lambda line: line.at or 0)) if kept else ():
            fit(text.decode())
        return fit

    def _recovered(
        self, note: Callable[[str], None], legs: int, pairs: int | None
    ) -> list[PairLine]:
        """Read the lines of an earlier run; cut off unfinished ones, and keep a copy of damaged
        files."""
        path, games_path = self._path, self._games_path
        lines, whole, faults = self._read(legs, pairs) if path.exists() else ([], [], [])
        end = max(((line.at or 0) + line.size for line in lines), default=0)
        size, largest = self._files.sizes[0], max((line.size for line in lines), default=0)
        if not faults and (lost := end - sum(line.size for line in lines)):
            note(
                f"{path}: lines are missing: {lost:,} bytes of {games_path.name} are games of no"
                " line; their pairs are played again"
            )
        # a kill leaves the games of one pair at most, in a folder that has a history
        unexplained = faults or not path.exists() or size - end > max(LEAST_PAIR, 2 * largest)
        if size > end and unexplained:
            beside = keep_beside(games_path, end)
            note(
                f"{games_path}: {size - end:,} bytes without a complete line in {HISTORY} were"
                f" moved to {beside}"
            )
        if faults:
            beside = keep_beside(path)
            more = f", and {len(faults) - 1:,} more damaged lines" if len(faults) > 1 else ""
            note(
                f"{path}:{faults[0]}{more}; these pairs are played again, the damaged file is kept"
                f" as {beside}"
            )
            replace_file(path, b"".join(whole))
        elif path.exists():
            os.truncate(path, sum(map(len, whole)))
        if size > end:
            os.truncate(games_path, end)
        return lines

    def _read(self, legs: int, pairs: int | None) -> tuple[list[PairLine], list[bytes], list[str]]:
        """Complete lines as data and as bytes, and the faults of the rest, except for an
        incomplete line at the end."""
        lines, whole, faults, seen = [], [], [], set()
        with contextlib.ExitStack() as files:
            history = files.enter_context(open(self._path, "rb"))
            games = (
                files.enter_context(open(self._games_path, "rb"))
                if self._games_path.exists()
                else None
            )
            for number, raw in enumerate(history, 1):
                if torn(raw):
                    break
                if games is None and b'"at":' in raw:
                    raise InputError(
                        f"{self._games_path}: is missing, but {HISTORY} refers to its games; put it"
                        " back, or create it as an empty file to play them again"
                    )
                try:
                    line = decoded(raw, games, self._points)
                    if line.leg >= legs or pairs is not None and line.pair >= pairs:
                        raise ValueError(
                            f"pair {line.pair} of leg {line.leg} is not part of this match"
                        )
                    if (line.leg, line.pair) in seen:
                        raise ValueError(f"pair {line.pair} is there twice")
                except ValueError as problem:
                    faults.append(f"{number}: {problem}")
                    continue
                seen.add((line.leg, line.pair))
                lines.append(line)
                whole.append(raw)
        return lines, whole, faults
