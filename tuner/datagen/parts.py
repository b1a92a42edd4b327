"""The folder of generated games: files of whole parts, and a line about each in `history.jsonl`.

A part counts when its line is there and its file has the checksum that the line names. Both are replaced as a whole, the file
first, so that a kill at any moment loses only the parts under way; they are played again, to the same games.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import zstandard

from games.streams import InputError
from tuner.datagen.adjudicate import BY_SCORES, ENDS
from tuner.datagen.play import Generated
from tuner.io.files import HISTORY, plain_text, replace_file, sha256_of
from tuner.io.run_folder import locked

LEVEL = 10  # of the compression
SAME, DRAWN, REVERSED = 0, 1, 2  # how games that were played on ended, beside their verdicts
COUNTS = {"games": 1, "plies": 1, "outcomes": 3, "own": 3, **{f"end_{end.replace(' ', '_')}": 1 for end in ENDS},
          **{f"checked_{rule}": 3 for rule in BY_SCORES}}  # keys of a line, and how many whole numbers each has
Counts = dict[str, list[int]]


def counts_of(games: list[Generated]) -> Counts:
    """Count games: `outcomes` are wins, draws and losses of the first player, `own` those of the evaluation itself; `end_...`
    how they ended; `checked_...` how games that were played on ended: as the rule said, drawn instead, won by the other side."""
    counts = {key: [0] * size for key, size in COUNTS.items()}
    for game in games:
        counts["games"][0] += 1
        counts["plies"][0] += game.plies
        counts["outcomes"][_kind(game.outcome)] += 1
        counts["own"][_kind(game.own)] += 1
        counts[f"end_{game.end.replace(' ', '_')}"][0] += 1
        if game.checked:
            rule, outcome, end = game.checked
            counts[f"checked_{rule}"][SAME if end == outcome else DRAWN if end == 0 else REVERSED] += 1
    return counts


def _kind(outcome: float) -> int:
    """Return 0 for a win, 1 for a draw, 2 for a loss."""
    return 1 - (outcome > 0) + (outcome < 0)


def sum_of(lines: Iterable[Mapping[str, Any]]) -> Counts:
    """Return the sums of the counts of lines."""
    counts = {key: [0] * size for key, size in COUNTS.items()}
    for line in lines:
        counts = {key: [a + b for a, b in zip(total, line[key], strict=True)] for key, total in counts.items()}
    return counts


class Parts:
    """The parts of a folder, which one process at a time may use. `games` is their number in all, `size` that of a part."""

    def __init__(self, folder: Path, suffix: str, games: int, size: int, note: Callable[[str], None]) -> None:
        self.folder, self._suffix, self._games, self._size = folder, suffix, games, size
        self._lock = locked(folder)
        try:
            self._lines = self._read(note)
        except BaseException:
            self._lock.close()
            raise
        self.counts = sum_of(self._lines.values())  # over all parts that are there

    @property
    def count(self) -> int:
        """The number of parts."""
        return -(-self._games // self._size)

    def numbers(self, part: int) -> range:
        """Return the numbers of the games of a part."""
        return range(part * self._size, min(self._games, (part + 1) * self._size))

    def part_of(self, number: int) -> int:
        """Return the part of a game."""
        return number // self._size

    def missing(self) -> list[int]:
        """Return the parts that are yet to be played."""
        return [part for part in range(self.count) if part not in self._lines]

    @property
    def bytes(self) -> int:
        """The size of all files."""
        return sum(self.path(part).stat().st_size for part in self._lines)

    def path(self, part: int) -> Path:
        """Return the path of the file of a part."""
        return self.folder / f"games-{part + 1:05d}{self._suffix}.zst"

    def save(self, part: int, games: list[Generated]) -> None:
        """Write a part, and then the line that makes it count."""
        text = plain_text("".join(game.text for game in games)).encode()
        replace_file(self.path(part), zstandard.ZstdCompressor(level=LEVEL).compress(text))
        counts = counts_of(games)
        self._lines[part] = {"part": part, "file": self.path(part).name, "sha256": sha256_of(self.path(part)), **counts}
        self.counts = sum_of([self.counts, counts])
        self.write_history()

    def write_history(self) -> None:
        """Write the lines of all parts that are there."""
        replace_file(self.folder / HISTORY, "".join(
            json.dumps(self._lines[part], separators=(",", ":")) + "\n" for part in sorted(self._lines)))

    def close(self) -> None:
        self._lock.close()

    def _read(self, note: Callable[[str], None]) -> dict[int, dict]:
        """Return the lines of the parts that are there and whole."""
        path = self.folder / HISTORY
        try:
            raw = path.read_bytes().splitlines() if path.exists() else []
        except OSError as problem:
            raise InputError(f"{path}: cannot be read: {problem.strerror}") from None
        found: dict[int, dict] = {}
        for number, text in enumerate(raw, 1):
            line = _line_of(text)
            if line is None:
                note(f"{path}:{number}: damaged, expected the line of a part; its games are played again")
                continue
            part, file = line["part"], self.path(line["part"])
            if line["games"][0] > len(self.numbers(part)):
                raise InputError(f"{self.folder}: contains more than {self._games:,} games already; choose a larger --games")
            if line["games"][0] < len(self.numbers(part)):
                continue  # the last part of fewer games
            if not file.is_file() or sha256_of(file) != line["sha256"]:
                note(f"{file}: is missing or was changed; its games are played again")
                continue
            found[part] = line
        return found


def _line_of(text: bytes) -> dict | None:
    """Decode a line of the history; None if it is not one."""
    try:
        line = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(line, dict) or line.keys() != {"part", "file", "sha256", *COUNTS} or not _whole(line["part"]):
        return None
    good = all(isinstance(line[key], list) and len(line[key]) == size and all(map(_whole, line[key]))
               for key, size in COUNTS.items())
    return line if good else None


def _whole(value: object) -> bool:
    return type(value) is int and 0 <= value < 1 << 53
