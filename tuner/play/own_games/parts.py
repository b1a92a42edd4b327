"""A folder of games: files of whole parts, and a record of each in the store of the run.

A part counts if its record exists and its file has the checksum in the record. The file is written
first, so that a kill loses only the unfinished parts; they are played again, to the same games."""

import itertools
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import zstandard

from games.record import Files
from tuner.core.records import Count, InputError, convert, to_json
from tuner.core.store import Store, naming, read_records
from tuner.core.text import plural
from tuner.io.files import plain_text, replace_file, sha256_of
from tuner.io.terminal import Display
from tuner.parallel import Running, run
from tuner.play.openings import Book
from tuner.play.own_games.play import BY_SCORES, ENDS, GameTask, Generated
from tuner.results.own_games import DRAWN, REVERSED, SAME, Counts

LEVEL = 10  # of the compression
# keys of a line, and how many whole numbers each has
COUNTS = {
    "games": 1,
    "plies": 1,
    "outcomes": 3,
    "own": 3,
    **{f"end_{end}": 1 for end in ENDS.values()},
    **{f"checked_{rule}": 3 for rule in BY_SCORES.values()},
}


@dataclass(frozen=True)
class PartRecord:
    """A part whose file is written: the checksum of that, what its games count, how many games were
    dropped (not finished, and the same as another), and the identities of games of engines."""

    part: Count
    file: str
    sha256: str
    counts: dict[str, list[Count]]
    dropped: tuple[Count, Count] = (0, 0)
    identities: list[int] = field(default_factory=list)


def counts_of(games: list[Generated]) -> Counts:
    """Count games: `outcomes` are wins, draws and losses of the first player, `own` the same of the
    evaluation itself; `end_...` how they ended; `checked_...` how games that were played on ended:
    as the rule said, drawn instead, won by the opponent."""
    counts = {key: [0] * size for key, size in COUNTS.items()}
    for game in games:
        counts["games"][0] += 1
        counts["plies"][0] += game.plies
        counts["outcomes"][_kind(game.outcome)] += 1
        counts["own"][_kind(game.own)] += 1
        counts[f"end_{ENDS[game.end]}"][0] += 1
        if game.checked:
            rule, outcome, end = game.checked
            counts[f"checked_{BY_SCORES[rule]}"][
                SAME if end == outcome else DRAWN if end == 0 else REVERSED
            ] += 1
    return counts


def _kind(outcome: float) -> int:
    """Return 0 for a win, 1 for a draw, 2 for a loss."""
    return 1 - (outcome > 0) + (outcome < 0)


def sum_of(lines: Iterable[Counts]) -> Counts:
    """Return the sums of counts."""
    counts = {key: [0] * size for key, size in COUNTS.items()}
    for line in lines:
        counts = {
            key: [a + b for a, b in zip(total, line[key], strict=True)]
            for key, total in counts.items()
        }
    return counts


class Parts:
    """The parts of a folder, which one process at a time may use. `games` is their number in all,
    `size` the number in a part."""

    def __init__(
        self, store: Store, files: Files, games: int, size: int, note: Callable[[str], None]
    ) -> None:
        self.folder, self._files, self._games, self._size = store.folder, files, games, size
        self._drops: dict[int, list[int]] = {}
        self._store = store
        self._lines = self._read(note)
        self.counts = sum_of(
            line.counts for line in self._lines.values()
        )  # of parts that are there

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
        return self.folder / f"games-{part + 1:05d}{self._files.suffixes[0]}.zst"

    def save(self, part: int, games: list[Generated]) -> None:
        """Write a part, and then the line that makes it count."""
        fit = self._files.session() if self._files.session else str
        text = plain_text("".join(fit(game.text) for game in games)).encode()
        replace_file(self.path(part), zstandard.ZstdCompressor(level=LEVEL).compress(text))
        unfinished, repeated = self._drops.get(part, [0, 0])
        line = self._lines[part] = PartRecord(
            part,
            self.path(part).name,
            sha256_of(self.path(part)),
            counts_of(games),
            (unfinished, repeated),
            [game.identity for game in games if game.identity is not None],
        )
        self.counts = sum_of([self.counts, line.counts])
        self._store.append(to_json(line))

    def drop(self, part: int, game: Generated) -> None:
        """Count a game of a part that is played again: not finished, or the same as another."""
        drops = self._drops.setdefault(part, [0, 0])
        drops[not game.fault] += 1

    def repeated(self, part: int, games: Iterable[Generated]) -> list[Generated]:
        """Return the games of a part that repeat an earlier game of this or an earlier part."""
        seen = {
            identity
            for before, line in self._lines.items()
            if before < part
            for identity in line.identities
        }
        again = []
        for game in sorted(games, key=lambda game: game.number):
            if game.identity in seen:
                again.append(game)
            elif game.identity is not None:
                seen.add(game.identity)
        return again

    @property
    def dropped(self) -> list[int]:
        """How many games were not finished, and how many were the same as another."""
        drops = [line.dropped for line in self._lines.values()]
        return [sum(drop[kind] for drop in drops) for kind in (0, 1)]

    def _read(self, note: Callable[[str], None]) -> dict[int, PartRecord]:
        """Return the records of the parts that are there and whole; the last of each counts."""
        lines: dict[int, PartRecord] = {}
        for number, plain in enumerate(read_records(self.folder)):
            with naming(self.folder, number):
                line: PartRecord = convert(plain, PartRecord, "")
                if {key: len(several) for key, several in line.counts.items()} != COUNTS:
                    raise ValueError("its counts are those of another version")
            lines[line.part] = line
        records = {}
        for part, line in lines.items():
            file, (games,) = self.path(part), line.counts["games"]
            if games > len(self.numbers(part)):
                raise InputError(
                    f"{self.folder}: contains more than {plural(self._games, 'game')} already;"
                    " choose a larger --games"
                )
            if games < len(self.numbers(part)):
                continue  # the last part of fewer games
            if not file.is_file() or sha256_of(file) != line.sha256:
                note(f"{file}: is missing or was changed; its games are played again")
                continue
            records[part] = line
        return records


Item = TypeVar("Item")
MOST_FAULTS = 5  # games in a row that an engine did not finish
MOST_SHARE = 0.05  # of all games, once they are more than that
MOST_ATTEMPTS = 10  # to play a game that is not the same as another


def finished(
    parts: Parts,
    book: Book | None,
    playing: Running,
    interrupted: threading.Event,
    display: Display,
    at_once: int,
) -> Iterator[int]:
    """Save each part, in order, when its last game is finished; yield the number of games finished
    so far. A game that an engine did not finish, or that is the same as one before, is played
    again. InputError if that does not help. `at_once` games are one task."""

    def task(number: int, attempt: int = 0) -> GameTask:
        return GameTask(number, book.opening(number) if book else None, attempt)

    def again(part: int, games: list[Generated]) -> None:
        for game in games:
            parts.drop(part, game)
            if game.attempt == MOST_ATTEMPTS:
                why = game.fault or "was the same as another one each time"
                raise InputError(
                    f"game {game.number + 1} was played {MOST_ATTEMPTS + 1} times, and {why};"
                    " choose more openings, --random-plies, or a larger --vary"
                )
        for some in in_lots(games):
            playing.submit([task(game.number, game.attempt + 1) for game in some])

    def in_lots(several: Sequence[Item]) -> Iterator[Sequence[Item]]:
        for begin in range(0, len(several), at_once):
            yield several[begin : begin + at_once]

    left = parts.missing()
    tasks = (
        [task(number) for number in some]
        for part in tuple(left)
        for some in in_lots(parts.numbers(part))
    )
    waiting: dict[int, dict[int, Generated]] = {part: {} for part in left}
    faults = all_faults = done = 0
    said: set[str] = set()
    for game in itertools.chain.from_iterable(run(playing, tasks, interrupted)):
        part = parts.part_of(game.number)
        faults = faults + 1 if game.fault else 0
        if faults == MOST_FAULTS:
            raise InputError(
                f"{MOST_FAULTS} games in a row were not finished, the last because of"
                f" {game.fault}; the games before are kept"
            )
        all_faults += bool(game.fault)
        if all_faults > max(MOST_FAULTS, MOST_SHARE * (done + all_faults)):
            raise InputError(
                f"{all_faults:,} of {done + all_faults:,} games were not finished, the last because"
                f" of {game.fault}; the games before are kept"
            )
        if game.fault:
            if game.fault not in said:
                said.add(game.fault)
                display.note(
                    f"game {game.number + 1} was not finished: {game.fault}; it is played again"
                )
            again(part, [game])
            continue
        waiting[part][game.number] = game
        done += 1
        while left and len(waiting[left[0]]) == len(parts.numbers(left[0])):
            games = waiting[left[0]]
            repeated = parts.repeated(left[0], games.values())
            again(left[0], repeated)
            for each in repeated:
                del games[each.number]
            done -= len(repeated)
            if repeated:
                break
            parts.save(left[0], [games[number] for number in sorted(games)])
            del waiting[left.pop(0)]
        yield done
