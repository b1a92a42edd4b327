"""Sources to learn from, as their user named them: what each is, decided once, and what methods and
options need of it, with a sentence for each thing that it lacks."""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from games.record import Game
from games.streams import InputError, plain_name
from tuner.datasets.files import is_dataset
from tuner.datasets.rows.build import of_rows
from tuner.datasets.rows.formats import is_rows

GAMES, LABELS, DATASET, ROWS = "games", "labels", "dataset", "rows"
STANDARD_INPUT = "-"
POSITIONS, ORDER = "positions", "positions in the order of their games"
# kinds of sources without it, and what those are
LACKING = {
    POSITIONS: {
        DATASET: "is a dataset, which holds counts",
        ROWS: "holds rows, which are counts of another program",
    },
    ORDER: {
        LABELS: "holds labeled positions",
        DATASET: "is a dataset, which holds counts",
        ROWS: "holds rows, which are counts of another program",
    },
}


class Source(NamedTuple):
    """A source: its path as it was named, its kind, and the files that are read of it, of a folder
    several; none of a dataset, which was read before."""

    path: str
    kind: str
    files: tuple[str, ...]


def sources_of(paths: Iterable[str], game: Game) -> tuple[Source, ...]:
    """Return the sources of these paths. InputError for a path where nothing is, and for a folder
    without files of the game."""
    return tuple(_source_of(path, game) for path in paths)


def _source_of(path: str, game: Game) -> Source:
    if path == STANDARD_INPUT:
        return Source(path, GAMES, (path,))
    if is_dataset(path):
        return Source(path, ROWS if of_rows(path) else DATASET, ())
    if is_rows(path):
        return Source(path, ROWS, (path,))
    if os.path.isdir(path):
        return Source(path, GAMES, tuple(_files_in(path, game)))
    if not os.path.exists(path):  # reported before reading the files before it
        raise InputError(f"{path}: no such file")
    return Source(path, GAMES if game.files.of_games(path) else LABELS, (path,))


def _files_in(folder: str, game: Game) -> list[str]:
    """Return the files of games in a folder, recognized by name or by content."""
    files = sorted(
        str(file)
        for file in Path(folder).iterdir()
        if not file.name.startswith(".")
        and not file.is_dir()
        and (
            plain_name(file.name.lower()).endswith(tuple(game.files.suffixes))
            or game.files.holds_games(str(file))
        )
    )
    if not files:
        suffixes = " or ".join(game.files.suffixes)
        raise InputError(f"{folder}: holds no {suffixes} file and is not a dataset")
    return files


def holds_rows(path: str) -> bool:
    """Return whether a path is one of rows that another program counted, in a file or a dataset."""
    return path != STANDARD_INPUT and (of_rows(path) if is_dataset(path) else is_rows(path))


def sources_of_rows(paths: Iterable[str]) -> tuple[Source, ...]:
    """Return sources that all hold rows, see `holds_rows`."""
    return tuple(Source(path, ROWS, () if is_dataset(path) else (path,)) for path in paths)


class Need(NamedTuple):
    """An option, or the method, as it was written; what it needs of every source; and what to do
    where a source lacks that."""

    option: str
    what: str
    instead: str


def games_named(paths: Iterable[str], game: Game, asked: str) -> tuple[Source, ...]:
    """Return the sources of these paths, of which `asked`, an option or a command, needs positions;
    InputError as for `sources_of` and `require_sources`."""
    sources = sources_of(paths, game)
    require_sources(sources, [Need(asked, POSITIONS, "name the games")])
    return sources


def require_sources(sources: Sequence[Source], needs: Iterable[Need]) -> None:
    """InputError for the first need that a source does not meet."""
    for option, what, instead in needs:
        for source in sources:
            if lacks := LACKING[what].get(source.kind):
                raise InputError(f"{option}: needs {what}; {source.path} {lacks}; {instead}")
