"""The journal of a match in its folder: finished pairs of games, so that an interrupted match can be resumed.

`history.jsonl` has a line for each finished pair of games, appended in the order in which pairs end. A pair counts once, and
only if its line is complete: after a kill, an incomplete last line is cut off and its pair is played again. `games.pgn` (or the
format of another game) is appended before the line that has the position of the pair's games in it; games without a line are
cut off. The file of --pgn is appended to in the same order, and replaced at the end by the games that count, in order. All other
files are replaced as a whole.

Damage that no kill can cause is reported, the affected pairs are played again, and the damaged files are kept as
`history.jsonl.damaged-1` and so on.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO

from games.streams import InputError
from tuner.io.files import replace_file, replaced
from tuner.io.run_folder import HISTORY, keep_beside, locked, write_all
from tuner.match.history_line import decoded, encoded, torn

SYNC_SECONDS = 1.0  # between syncs, for power cuts; a kill loses no written data
Session = Callable[[], Callable[[str], str]]  # see games.contest.Contest
LEAST_PAIR = 1 << 14  # bytes: games of a pair up to this size are no sign of damage


class Journal:
    """Appends finished pairs; reads those of an earlier run."""

    def __init__(self, folder: Path, games: str, note: Callable[[str], None], legs: int = 1, pairs: int | None = None,
                 points: int = 1, session: Session | None = None) -> None:
        """`games` names the file of games, `note` reports damage; `legs` and `pairs` limit the valid pairs, `points` what a game
        wins; `session` fits the texts of games into one file."""
        self.folder, self._session = folder, session
        self._games_path, self._points = folder / games, points
        with contextlib.ExitStack() as opened:
            try:
                self._lock = opened.enter_context(locked(folder))
                self.lines = self._recovered(note, legs, pairs)
                self._history = opened.enter_context(open(folder / HISTORY, "ab", buffering=0))
                self._games = opened.enter_context(open(self._games_path, "ab", buffering=0))
                self._fit = self._fitting()
            except OSError as problem:
                raise InputError(f"{problem.filename or folder}: cannot be used: {problem.strerror}") from None
            opened.pop_all()
        self.follower: Path | None = None  # a file to which finished games are appended, too
        self._follower: IO[bytes] | None = None
        self._place = self._games.tell()
        self._synced = time.monotonic()

    def append(self, line: dict, texts: list[str]) -> dict:
        """Append a finished pair: the texts of its games, if kept, then its line, which is returned with their place."""
        try:
            return self._append(line, texts)
        except OSError as problem:
            raise InputError(f"{self.folder}: cannot be written: {problem.strerror}; the pairs before are kept") from None

    def _append(self, line: dict, texts: list[str]) -> dict:
        data = [self._fit(text).encode("utf-8", "replace") for text in texts]
        if texts:
            line = line | {"at": self._place, "bytes": [len(piece) for piece in data]}
            self._place += write_all(self._games, b"".join(data))
            self._follow(b"".join(data))
        write_all(self._history, encoded(line, b"".join(data)))
        if time.monotonic() - self._synced > SYNC_SECONDS:
            self.sync()
        return line

    def _follow(self, games: bytes) -> None:
        """Append games to the file that follows, which is begun with all that were finished before: a match that is killed leaves
        what it played."""
        if self.follower is None:
            return
        try:
            if self._follower is None:
                self.copy_games(((line["at"], line["bytes"]) for line in self.lines if "at" in line), self.follower)
                self._follower = open(self.follower, "ab", buffering=0)
            write_all(self._follower, games)
        except OSError as problem:
            raise InputError(f"{self.follower}: cannot be written: {problem.strerror}; the pairs before are kept") from None

    def sync(self) -> None:
        """Write everything to disk: games before the lines that refer to them."""
        for stream in (self._games, self._history):
            os.fsync(stream.fileno())
        self._synced = time.monotonic()

    def close(self) -> None:
        self.sync()
        for stream in (self._games, self._history, self._lock, self._follower):
            if stream is not None:
                stream.close()

    def copy_games(self, wanted: Iterator[tuple[int, list[int]]], output: Path) -> None:
        """Copy the games of pairs, given by place and sizes, to a file that is replaced as a whole."""
        try:
            with replaced(output) as temporary, open(temporary, "wb") as out:
                fit = self._session() if self._session else None
                for text in self._texts(wanted):
                    out.write(fit(text.decode()).encode() if fit else text)
        except OSError as problem:
            raise InputError(f"{output}: cannot be written: {problem.strerror}; the games are in {self._games_path}") from None

    def _texts(self, wanted: Iterable[tuple[int, list[int]]]) -> Iterator[bytes]:
        """Yield the games of pairs, given by place and sizes."""
        with open(self._games_path, "rb") as games:
            for place, sizes in wanted:
                games.seek(place)
                yield from map(games.read, sizes)

    def _fitting(self) -> Callable[[str], str]:
        """Return what fits the next text into the file of games, after those that it has."""
        if self._session is None:
            return str
        fit = self._session()
        places = sorted((line["at"], line["bytes"]) for line in self.lines if "at" in line)
        for text in self._texts(places):
            fit(text.decode())
        return fit

    def _recovered(self, note: Callable[[str], None], legs: int, pairs: int | None) -> list[dict]:
        """Read the lines of an earlier run; cut off unfinished ones, and keep a copy of damaged files."""
        path = self.folder / HISTORY
        lines, whole, faults = self._read(legs, pairs) if path.exists() else ([], [], [])
        places = [(line["at"], sum(line["bytes"])) for line in lines if "at" in line]
        end = max((place + size for place, size in places), default=0)
        size = self._games_path.stat().st_size if self._games_path.exists() else 0
        largest = max((length for _, length in places), default=0)
        if not faults and (lost := end - sum(length for _, length in places)):
            note(f"{path}: lines are missing: {lost:,} bytes of {self._games_path.name} are games of no line; their pairs are "
                 "played again")
        # a kill leaves the games of one pair at most, in a folder that has a history
        if size > end and (faults or not path.exists() or size - end > max(LEAST_PAIR, 2 * largest)):
            beside = keep_beside(self._games_path, end)
            note(f"{self._games_path}: {size - end:,} bytes without a complete line in {HISTORY} were moved to {beside}")
        if faults:
            beside = keep_beside(path)
            more = f", and {len(faults) - 1:,} more damaged lines" if len(faults) > 1 else ""
            note(f"{path}:{faults[0]}{more}; these pairs are played again, the damaged file is kept as {beside}")
            replace_file(path, b"".join(whole))
        elif path.exists():
            os.truncate(path, sum(map(len, whole)))
        if size > end:
            os.truncate(self._games_path, end)
        return lines

    def _read(self, legs: int, pairs: int | None) -> tuple[list[dict], list[bytes], list[str]]:
        """Complete lines as data and as bytes, and the faults of the others, except for an incomplete line at the end."""
        lines, whole, faults, seen = [], [], [], set()
        with contextlib.ExitStack() as files:
            history = files.enter_context(open(self.folder / HISTORY, "rb"))
            games = files.enter_context(open(self._games_path, "rb")) if self._games_path.exists() else None
            for number, raw in enumerate(history, 1):
                if torn(raw):
                    break
                if games is None and b'"at":' in raw:
                    raise InputError(f"{self._games_path}: is missing, but {HISTORY} refers to its games; put it back, or create "
                                     "it as an empty file to play them again")
                try:
                    line = decoded(raw, games, self._points)
                    leg, pair = line["leg"], line["pair"]
                    if leg >= legs or pairs is not None and pair >= pairs:
                        raise ValueError(f"pair {pair} of leg {leg} is not part of this match")
                    if (leg, pair) in seen:
                        raise ValueError(f"pair {pair} is there twice")
                except ValueError as problem:
                    faults.append(f"{number}: {problem}")
                    continue
                seen.add((leg, pair))
                lines.append(line)
                whole.append(raw)
        return lines, whole, faults

