"""The formats of files of rows, by suffix; reading, scanning and writing any of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from games.streams import InputError, beginning, pieces, plain_name
from tuner.datasets.rows import jsonl, parquet, writing
from tuner.datasets.rows.values import OWN_GAME, ExpectedRows, FoundRows, RowBatch
from tuner.parameters.layout import Layout

PARQUET = b"PAR1"
MOST_GAMES = 1 << 22  # whose identities are remembered


class RowFormat(NamedTuple):
    """How files of one format are read, scanned for their names, and written."""

    suffixes: tuple[str, ...]
    compressed: bool  # may be .gz, .bz2, .zst
    read: Callable[[str, ExpectedRows], Iterator[RowBatch]]
    scan: Callable[[str], FoundRows]
    write: Callable[[Path, Iterable[RowBatch], ExpectedRows], int]


FORMATS = {
    "jsonl": RowFormat((".jsonl", ".ndjson"), True, jsonl.read, jsonl.scan, writing.write_jsonl),
    "parquet": RowFormat(
        (".parquet", ".pq"), False, parquet.read, parquet.scan, writing.write_parquet
    ),
}
SUFFIXES = [suffix for form in FORMATS.values() for suffix in form.suffixes]
Write = Callable[[Path, Iterable[RowBatch], ExpectedRows], int]
WRITTEN: dict[str, Write] = {  # for other programs: scikit-learn, spreadsheets; not read
    ".csv": writing.write_csv,
    **dict.fromkeys((".svm", ".svmlight", ".libsvm"), writing.write_svmlight),
}


def _by_suffix(name: str) -> RowFormat | None:
    lower = plain_name(name.lower())
    return next((found for found in FORMATS.values() if lower.endswith(found.suffixes)), None)


def is_rows(source: str) -> bool:
    """Whether a file's name says that it contains rows."""
    return _by_suffix(source) is not None


def format_of(source: str) -> RowFormat:
    """Return the format of a file, by its suffix or else its first bytes; InputError if it is none
    of them."""
    found = _by_suffix(source)
    if found is not None:
        packed = plain_name(source.lower()) != source.lower()
        if packed and not found.compressed:
            raise InputError(
                f"{source}: a compressed {found.suffixes[0]}; expected {found.suffixes[0]} alone;"
                " unpack it first"
            )
        return found
    if source == "-":  # can be read only once
        return FORMATS["jsonl"]
    if source.lower().endswith(tuple(WRITTEN)):
        raise InputError(
            f"{source}: rows are not read from {Path(source).suffix}; expected a name that ends"
            f" with {', '.join(SUFFIXES)}; write the rows as one of these"
        )
    found = _by_content(source)
    if found is None:
        raise InputError(
            f"{source}: no known format of rows; expected a name that ends with"
            f" {', '.join(SUFFIXES)}; rename it"
        )
    return found


def _by_content(source: str) -> RowFormat | None:
    try:
        with open(source, "rb") as stream:
            start = stream.read(4)
    except OSError:
        start = b""
    if start == PARQUET:
        return FORMATS["parquet"]
    text = beginning(pieces(source), 1 << 12).removeprefix(b"\xef\xbb\xbf")
    lines = [line.strip() for line in text.split(b"\n")]
    first = next((line for line in lines if line and not line.startswith((b"#", b"//"))), b"")
    return FORMATS["jsonl"] if first.startswith(b"{") else None


def read(
    source: str,
    layout: Layout,
    stages: int = 2,
    phases: int | None = None,
    note: Callable[[str], None] = lambda text: None,
) -> Iterator[RowBatch]:
    """Yield the rows of a file, or of standard input for `-` (JSON lines), in batches of at most
    32,768.

    With two stages each row needs a phase, of at most `phases` (None: any); with one, phases are 0.
    InputError, one line, for the first fault; `note` is called with remarks on what was read."""
    games = _Games()
    for batch in format_of(source).read(source, ExpectedRows(layout, stages, phases)):
        games.add(batch.game)
        yield batch
    if games.again:
        note(
            f"{source}: {games.again:,} games continue after rows of other games, and each run of"
            " rows counts as a game of its own; sort the rows by game"
        )


def scan(source: str) -> FoundRows:
    """Return what a file contains, without a parameter file: names and shapes, the largest phase,
    the number of rows."""
    return format_of(source).scan(source)


def write(path: Path, batches: Iterable[RowBatch], layout: Layout, stages: int = 2) -> int:
    """Write rows in the format that the suffix of a name says; return their number. An existing
    file is replaced at the end."""
    return writer_of(path)(Path(path), batches, ExpectedRows(layout, stages))


def writer_of(path: Path | str) -> Write:
    """Return the function that writes a file of this name; InputError if the name does not say the
    format."""
    writers = {suffix: form.write for form in FORMATS.values() for suffix in form.suffixes}
    writers |= WRITTEN
    found = writers.get(Path(path).suffix.lower())
    if found is None:
        raise InputError(
            f"{path}: no known format of rows to write; expected a name that ends with "
            f"{', '.join(writers)}; rename it"
        )
    return found


class _Games:
    """Counts games whose rows do not follow each other."""

    def __init__(self) -> None:
        self._seen: set[int] = set()
        self._last: int | None = None
        self.again = 0

    def add(self, game: np.ndarray) -> None:
        """Take the identities of the next rows."""
        starts = np.ones(len(game), np.bool_)
        starts[1:] = game[1:] != game[:-1]
        if len(game) and self._last == int(game[0]):
            starts[0] = False
        named = starts & (game >> np.uint64(48) != np.uint64(OWN_GAME >> 48))
        if len(game):
            self._last = int(game[-1])
        if len(self._seen) < MOST_GAMES:
            found = game[named].tolist()
            before = len(self._seen)
            self._seen.update(found)
            self.again += len(found) - (len(self._seen) - before)
