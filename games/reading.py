"""Functions shared by the readers of all games: which games and positions of a file are taken, and
how its faults are reported."""

import math
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np

from games.record import Game, PositionBatch, ReadOptions, ReadReport, available, find
from games.streams import UTF8_MARK, InputError, beginning, pieces, plain_name

MOST_NOTES = 1000  # faults of a file of games that are noted one by one
MOST_OF_OPENINGS = 5  # the same of a file of openings


class Notes:
    """Passes on the first `most` notes about a file, and counts the rest."""

    def __init__(self, source: str, note: Callable[[str], None], most: int) -> None:
        self._source, self._note, self._most, self._found = source, note, most, 0

    def add(self, text: str) -> None:
        """Pass on a note while there is room."""
        self._found += 1
        if self._found <= self._most:
            self._note(text)

    def end(self, what: str) -> None:
        """Note how many were only counted, and of what."""
        if self._found > self._most:
            self._note(f"{self._source}: {self._found - self._most:,} more {what}")


def counted(stream: Iterable[bytes], report: ReadReport) -> Iterator[bytes]:
    """Yield the pieces of a file, and count their bytes in the report."""
    for piece in stream:
        report.bytes += len(piece)
        yield piece


class Faults:
    """Notes the faults of a file, and counts them by kind; under `strict` the first raises
    InputError. `what` is skipped where there is one: a game, a line."""

    def __init__(
        self, source: str, what: str, strict: bool, report: ReadReport, note: Callable[[str], None]
    ) -> None:
        self.source, self.what, self._strict, self._report = source, what, strict, report
        self._notes = Notes(source, note, MOST_NOTES)

    def add(self, place: object, text: object, kind: str) -> None:
        """Count a fault of a kind; `text` describes it, `place` is its place in the file."""
        where = f"{self.source}:{place}: {text}"
        if self._strict:
            raise InputError(
                f"{where}; fix it, or leave out --strict to skip such {self.what}s"
            ) from None
        self._report.bad += 1
        self._report.faults[kind] = self._report.faults.get(kind, 0) + 1
        self._notes.add(f"{where}; {self.what} skipped")

    def end(self) -> None:
        """Note how many faults were not noted one by one."""
        self._notes.end(f"bad {self.what}s skipped")


class FileFault(ValueError):
    """A fault of a game or a line of a file, in words without its place; `kind` is what
    such faults are counted as."""

    def __init__(self, text: str, kind: str = "", line: int = 0) -> None:
        super().__init__(text)
        self.kind, self.line = kind or text, line


@dataclass
class FileGame:
    """A game of a file: its place there, and its fault or what follows.

    `line` (n, words) are its positions; `outcome` is the reward of the first player, None if there
    is none; `identity` and `opening` are hashes. `once` is the hash by which duplicates are told,
    by default the identity. `over`: the rules end the game in its last position, which "auto"
    leaves out. `rating` is the lower one of both players; `scores` (n,) see PositionBatch."""

    place: object
    fault: FileFault | None = None
    line: np.ndarray | None = None
    outcome: float | None = None
    identity: np.uint64 = np.uint64(0)
    opening: np.uint64 = np.uint64(0)
    once: np.uint64 | None = None
    over: bool = False
    rating: float = 0.0
    scores: np.ndarray | None = None


def hash_of(content: bytes) -> np.uint64:
    """Return a hash of a game, an opening or a position."""
    return np.frombuffer(blake2b(content, digest_size=8).digest(), np.uint64)[0]


@dataclass(frozen=True)
class Policy:
    """Takes games and positions as the options say, and counts them in the report.

    `key` is what makes a position the same as another. `skip` is the usual number of plies left out
    at the start of a game; `select` returns positions, perhaps replaced, and which
    of them to keep."""

    game: str
    options: ReadOptions
    report: ReadReport
    faults: Faults
    key: Callable[[np.ndarray], bytes]
    skip: int = 0
    select: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]] | None = None

    @property
    def _seen(self) -> set:
        return self.report.memory.setdefault(self.game, set())

    def batches(self, games: Iterable[FileGame]) -> Iterator[PositionBatch]:
        """Yield the positions of each game that is taken."""
        options, report, seen = self.options, self.report, self._seen
        for number, game in enumerate(games, 1):
            report.games += 1
            once = game.identity if game.once is None else game.once
            if game.fault is not None:
                self.faults.add(game.place, game.fault, game.fault.kind)
            elif game.outcome is None:
                report.undecided += 1
            elif options.min_elo and game.rating < options.min_elo:
                report.below_elo += 1
            elif not self._ended(game):
                report.ended_otherwise += 1
            elif once in seen and options.duplicates != "keep":
                report.duplicate_games += 1
            else:
                seen.add(once)
                yield self._batch(game, number)
        self.faults.end()

    def _ended(self, game: FileGame) -> bool:
        """Return whether a game ended as is wanted."""
        won = bool(game.outcome)
        return {"any": True, "won": won, "mate": won and game.over}[self.options.ended]

    def _batch(self, game: FileGame, number: int) -> PositionBatch:
        options, line = self.options, game.line
        assert line is not None, "a game without a fault has positions"
        first = self.skip if options.skip_start is None else options.skip_start
        first = max(first, math.ceil(options.from_share * (len(line) - 1)))
        end = len(line) - max(options.skip_end, game.over and options.positions == "auto")
        plies = np.arange(first, max(first, end))
        positions = line[first : max(first, end)]
        if self.select is not None:
            positions, keep = self.select(positions)
            positions, plies = positions[keep], plies[keep]
        if options.per_game and len(plies) > options.per_game:
            draw = np.random.default_rng([int(game.identity), options.seed])
            some = np.sort(draw.choice(len(plies), options.per_game, replace=False))
            positions, plies = positions[some], plies[some]
        if options.duplicates == "positions":
            new = self._new(positions)
            self.report.duplicate_positions += int(np.count_nonzero(~new))
            positions, plies = positions[new], plies[new]
        self.report.used += 1
        self.report.positions += len(plies)
        return PositionBatch(
            positions,
            np.full(len(plies), game.outcome, np.float32),
            np.zeros(1, np.int64),
            np.array([game.identity]),
            np.array([game.opening]),
            np.array([number]),
            None if game.scores is None else game.scores[plies],
        )

    def lone(self, positions: np.ndarray) -> np.ndarray:
        """Return the indices of those positions (n, words) to take of a file in which each is a
        game of its own, without a rating; count the rest."""
        keep = np.ones(len(positions), bool)
        if self.options.min_elo:
            self.report.below_elo += len(positions)
            keep[:] = False
        elif self.options.ended != "any":  # a position has no end
            self.report.ended_otherwise += len(positions)
            keep[:] = False
        elif self.options.duplicates == "positions":
            keep = self._new(positions)
            self.report.duplicate_games += int(np.count_nonzero(~keep))
        return np.flatnonzero(keep)

    def lone_batch(
        self,
        positions: np.ndarray,
        outcomes: np.ndarray,
        identities: np.ndarray,
        numbers: np.ndarray,
        scores: np.ndarray | None = None,
    ) -> Iterator[PositionBatch]:
        """Yield positions each of which is a game of its own, if there are any."""
        self.report.used += len(positions)
        self.report.positions += len(positions)
        if len(positions):
            yield PositionBatch(
                positions,
                outcomes,
                np.arange(len(positions)),
                identities,
                identities.copy(),
                numbers,
                scores,
            )

    def _new(self, positions: np.ndarray) -> np.ndarray:
        """Return which positions (n,) were not seen before; they are from now on."""
        new, seen = np.ones(len(positions), bool), self._seen
        for i, words in enumerate(positions):
            key = self.key(words)
            new[i] = key not in seen
            seen.add(key)
        return new


def format_by_name(name: str, suffixes: Mapping[str, str]) -> str | None:
    """Return the format of the suffix of a file, compressed or not; None if it is unknown."""
    plain = plain_name(name.lower())
    return next((form for suffix, form in suffixes.items() if plain.endswith(suffix)), None)


def start_of(name: str, size: int) -> bytes:
    """Return the first bytes of a file; none of a pipe or a folder, or if it cannot be read."""
    try:
        return beginning(pieces(name), size) if os.path.isfile(name) else b""
    except InputError:
        return b""


# formats that no game reads: suffixes, how a line of them begins, and what to do
_FOREIGN = (
    (
        (".ki2", ".ki2u"),
        "^(▲|△|☗|☖)".encode(),
        "a game in KI2, which leaves out where men come from; save it as KIF or CSA",
    ),
    ((".sgf",), rb"\A\s*\(;\s*[A-Z]{1,2}\[", "a game in SGF; save it as PGN, KIF or .mat"),
    (
        (),
        rb"^XGID=",
        "a position as XGID, which has no result; give games, or positions labeled with results",
    ),
    (
        (".jsonl",),
        rb'\A\s*\{\s*"fen"',
        "JSON; write its positions as CSV with the columns fen,result,score",
    ),
    ((".binpack",), rb"\ABINP", "a binpack; convert it to .plain with Stockfish's tools"),
    (
        (".cbh", ".cbv", ".si4", ".si5"),
        rb"\AScid\.",
        "a database of ChessBase or Scid; export its games as PGN",
    ),
)


def refuse_foreign(source: str) -> None:
    """InputError for a file, by its name or its first bytes, in a known format that is not read."""
    start, name = start_of(source, 1 << 12).removeprefix(UTF8_MARK), plain_name(source.lower())
    for suffixes, begins, what in _FOREIGN:
        if name.endswith(suffixes) or re.search(begins, start, re.MULTILINE):
            raise InputError(f"{source}: is {what}")


def require_own(source: str, game: str) -> None:
    """InputError if a file that does not begin as one of a game is named, or else begins, as one of
    another game. A suffix of the game itself is believed, and a pipe can be read once only: its
    reader judges it."""
    refuse_foreign(source)
    own = find(game)
    if not os.path.isfile(source) or _suffix(source, own):
        return
    others = [find(name) for name in available() if name != game]
    for other in others:
        if suffix := _suffix(source, other):
            raise InputError(
                f"{source}: is named as a file of {other.name} ({suffix}) and does not begin as one"
                f" of {own.name}; {_advice(other, own)}"
            )
    for other in others:
        if other.files.holds_games(source):
            raise InputError(
                f"{source}: begins as a file of {other.name}, not of {own.name};"
                f" {_advice(other, own)}"
            )


def _suffix(source: str, game: Game) -> str | None:
    plain = plain_name(source.lower())
    return next((suffix for suffix in game.files.suffixes if plain.endswith(suffix)), None)


def _advice(other: Game, own: Game) -> str:
    suffixes = ", ".join(own.files.suffixes)
    return (
        f"give parameters of {other.name}, such as {other.name}/classic, or files of {own.name}"
        f" ({suffixes})"
    )
