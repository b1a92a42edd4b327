"""The folder of a match: what was played, so that a match goes on where it stopped, whenever and however that was.

`history.jsonl` has a line for each finished pair of games, appended in the order in which pairs end. A pair counts when its
line is whole, and once: a line that a kill left torn is cut off and the pair is played again. `games.pgn` (or whatever the
game writes) is appended before the line that says where in it the pair's games stand; what no line speaks of is cut off.
Everything else is replaced as a whole.

Damage that no kill leaves is told, the pairs that it concerns are played again, and the files as they were stay beside, as
`history.jsonl.damaged-1` and so on.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from games.streams import InputError
from tuner.io.files import replace_file, replaced
from tuner.io.run_folder import HISTORY, keep_beside, locked, write_all
from tuner.match.history_line import decoded, encoded, torn

SYNC_SECONDS = 1.0  # a kill loses nothing that was written; this is for a power cut
LEAST_PAIR = 1 << 14  # bytes that the games of a pair may take whatever those of others do


class Journal:
    """Appends finished pairs; reads those of an earlier run."""

    def __init__(self, folder: Path, games: str, note: Callable[[str], None], legs: int = 1, pairs: int | None = None) -> None:
        """`games` names the file of games, `note` tells of damage; `legs` and `pairs` say which pairs there can be."""
        self.folder = folder
        self._games_path = folder / games
        with contextlib.ExitStack() as opened:
            try:
                self._lock = opened.enter_context(locked(folder))
                self.lines = self._recovered(note, legs, pairs)
                self._history = opened.enter_context(open(folder / HISTORY, "ab", buffering=0))
                self._games = opened.enter_context(open(self._games_path, "ab", buffering=0))
            except OSError as problem:
                raise InputError(f"{problem.filename or folder}: cannot be used: {problem.strerror}") from None
            opened.pop_all()
        self._place = self._games.tell()
        self._synced = time.monotonic()

    def append(self, line: dict, texts: list[str]) -> dict:
        """A pair is finished: its games' texts, if they are kept, then the line that makes it count, which is returned."""
        try:
            return self._append(line, texts)
        except OSError as problem:
            raise InputError(f"{self.folder}: cannot be written: {problem.strerror}; the pairs before are kept") from None

    def _append(self, line: dict, texts: list[str]) -> dict:
        data = [text.encode("utf-8", "replace") for text in texts]
        if texts:
            line = line | {"at": self._place, "bytes": [len(piece) for piece in data]}
            self._place += write_all(self._games, b"".join(data))
        write_all(self._history, encoded(line, b"".join(data)))
        if time.monotonic() - self._synced > SYNC_SECONDS:
            self.sync()
        return line

    def sync(self) -> None:
        """Make sure that it is on the disk: games before the lines that speak of them."""
        for stream in (self._games, self._history):
            os.fsync(stream.fileno())
        self._synced = time.monotonic()

    def close(self) -> None:
        self.sync()
        for stream in (self._games, self._history, self._lock):
            stream.close()

    def copy_games(self, wanted: Iterator[tuple[int, list[int]]], output: Path) -> None:
        """Write the games of some pairs, given by place and sizes, to a file of their own, replaced as a whole."""
        try:
            with replaced(output) as temporary, open(self._games_path, "rb") as games, open(temporary, "wb") as out:
                for place, sizes in wanted:
                    games.seek(place)
                    out.write(games.read(sum(sizes)))
        except OSError as problem:
            raise InputError(f"{output}: cannot be written: {problem.strerror}; the games are in {self._games_path}") from None

    def _recovered(self, note: Callable[[str], None], legs: int, pairs: int | None) -> list[dict]:
        """The lines of an earlier run; cuts off what it left unfinished, and keeps beside what is damaged."""
        path = self.folder / HISTORY
        lines, whole, faults = self._read(legs, pairs) if path.exists() else ([], [], [])
        places = [(line["at"], sum(line["bytes"])) for line in lines if "at" in line]
        end = max((place + size for place, size in places), default=0)
        size = self._games_path.stat().st_size if self._games_path.exists() else 0
        largest = max((size for _, size in places), default=0)
        # a kill leaves the games of one pair at most, in a folder that has a history
        if size > end and (faults or not path.exists() or size - end > max(LEAST_PAIR, 2 * largest)):
            beside = keep_beside(self._games_path, end)
            note(f"{self._games_path}: {size - end:,} bytes that no whole line of {HISTORY} speaks of are now in {beside}")
        if faults:
            beside = keep_beside(path)
            more = f", and {len(faults) - 1:,} more damaged lines" if len(faults) > 1 else ""
            note(f"{path}:{faults[0]}{more}; what is damaged is left out and played again, the file as it was is {beside}")
            replace_file(path, b"".join(whole))
        elif path.exists():
            os.truncate(path, sum(map(len, whole)))
        if size > end:
            os.truncate(self._games_path, end)
        return lines

    def _read(self, legs: int, pairs: int | None) -> tuple[list[dict], list[bytes], list[str]]:
        """Whole lines, as data and as they stand in the file, and what is wrong with the others but a torn one at the end."""
        lines, whole, faults, seen = [], [], [], set()
        with contextlib.ExitStack() as files:
            history = files.enter_context(open(self.folder / HISTORY, "rb"))
            games = files.enter_context(open(self._games_path, "rb")) if self._games_path.exists() else None
            for number, raw in enumerate(history, 1):
                if torn(raw):
                    break
                if games is None and b'"at":' in raw:
                    raise InputError(f"{self._games_path}: is missing, but {HISTORY} speaks of its games; put it back, or make "
                                     "it an empty file to play them again")
                try:
                    line = decoded(raw, games)
                    leg, pair = line["leg"], line["pair"]
                    if leg >= legs or pairs is not None and pair >= pairs:
                        raise ValueError(f"pair {pair} of leg {leg} is none of this match")
                    if (leg, pair) in seen:
                        raise ValueError(f"pair {pair} stands twice")
                except ValueError as problem:
                    faults.append(f"{number}: {problem}")
                    continue
                seen.add((leg, pair))
                lines.append(line)
                whole.append(raw)
        return lines, whole, faults

