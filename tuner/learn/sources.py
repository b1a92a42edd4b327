"""What sources have and what methods and options need: one comparison, with a sentence for each
thing that a source lacks."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from games.record import Game
from games.streams import InputError
from tuner.datasets.files import is_dataset

GAMES, LABELS, DATASET, ROWS = "games", "labels", "dataset", "rows"
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


class Need(NamedTuple):
    """An option, or the method, as it was written; what it needs of every source; and what to do
    where a source lacks that."""

    option: str
    what: str
    instead: str


def kind_of(source: str, game: Game | None, rows: bool) -> str:
    """Return the kind of a source; `rows`: the sources are rows of another program."""
    if rows or game is None:
        return ROWS
    if source == "-" or os.path.isdir(source) and not is_dataset(source):
        return GAMES
    if is_dataset(source):
        return DATASET
    return GAMES if game.files.of_games(source) else LABELS


def require_sources(kinds: Sequence[tuple[str, str]], needs: Iterable[Need]) -> None:
    """InputError for the first need that a source, with its kind, does not meet."""
    for option, what, instead in needs:
        for source, kind in kinds:
            if lacks := LACKING[what].get(kind):
                raise InputError(f"{option}: needs {what}; {source} {lacks}; {instead}")
