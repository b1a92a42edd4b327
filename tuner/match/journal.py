"""The folder of a match: what was played, so that a match goes on where it stopped, whenever and however that was.

`history.jsonl` has a line for each finished pair of games, appended in the order in which pairs end. A pair counts when its
line is whole, and once: a line that a kill left torn is cut off and the pair is played again. `games.pgn` (or whatever the
game writes) is appended before the line that says where in it the pair's games stand; what no line speaks of is cut off.
Everything else is replaced as a whole.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path

from games.streams import InputError
from tuner.files import replaced
from tuner.runs import HISTORY, locked, write_all

SYNC_SECONDS = 1.0  # a kill loses nothing that was written; this is for a power cut


class Journal:
    """Appends finished pairs; reads those of an earlier run."""

    def __init__(self, folder: Path, games: str) -> None:
        self.folder = folder
        self._games_path = folder / games
        self._lock = locked(folder)
        self.lines = self._whole_lines()
        self._history = open(folder / HISTORY, "ab", buffering=0)
        self._games = open(self._games_path, "ab", buffering=0)
        self._place = self._games.tell()
        self._synced = time.monotonic()

    def append(self, line: dict, texts: list[str]) -> dict:
        """A pair is finished: its games' texts, if they are kept, then the line that makes it count, which is returned."""
        try:
            return self._append(line, texts)
        except OSError as problem:
            raise InputError(f"{self.folder}: cannot be written: {problem.strerror}; the pairs before are kept") from None

    def _append(self, line: dict, texts: list[str]) -> dict:
        if texts:
            data = [text.encode("utf-8", "replace") for text in texts]
            line = line | {"at": self._place, "bytes": [len(piece) for piece in data]}
            self._place += write_all(self._games, b"".join(data))
        write_all(self._history, json.dumps(line, separators=(",", ":")).encode() + b"\n")
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

    def _whole_lines(self) -> list[dict]:
        """The lines of an earlier run; cuts off what it left unfinished."""
        path, kept, end, games_end = self.folder / HISTORY, [], 0, 0
        if not path.exists():
            return kept
        size = self._games_path.stat().st_size if self._games_path.exists() else 0
        seen = set()
        with open(path, "rb") as stream:
            for number, raw in enumerate(stream, 1):
                try:
                    line = json.loads(raw) if raw.endswith(b"\n") else None
                except ValueError:
                    line = None
                if line is None:
                    if stream.read(1):
                        raise InputError(f"{path}:{number}: damaged, although it is not the last line; the match cannot go on")
                    break
                if line.get("at", 0) + sum(line.get("bytes", [])) > size:
                    break  # the power failed before its games were on the disk
                key = line["leg"], line["pair"]
                if key in seen:
                    raise InputError(f"{path}:{number}: pair {key[1]} stands twice; the match cannot go on")
                seen.add(key)
                kept.append(line)
                end += len(raw)
                games_end = max(games_end, line.get("at", 0) + sum(line.get("bytes", [])))
        os.truncate(path, end)
        if size > games_end:
            os.truncate(self._games_path, games_end)
        return kept
