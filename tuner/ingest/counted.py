"""Read files of games, batch by batch, and count the terms of their positions."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from games.record import Game, PositionBatch, ReadOptions, ReadReport
from games.streams import InputError, plain_name
from tuner.datasets.rows import Rows
from tuner.engine.counter import Counter
from tuner.engine.loading import Evaluator
from tuner.io.files import sha256_of


@dataclass(frozen=True)
class CountedBatch:
    """The counts of the positions of g games: `rows`, valid until the next batch is counted, outcomes and recorded scores (n,),
    and of each game its first position, identity and opening (g,), see `games.record.PositionBatch`."""

    rows: Rows
    outcomes: np.ndarray
    scores: np.ndarray
    first: np.ndarray
    identities: np.ndarray
    openings: np.ndarray

    def kept(self) -> CountedBatch:
        """Return a copy that stays valid."""
        rows = self.rows._replace(index=self.rows.index.copy(), count=self.rows.count.copy())
        return replace(self, rows=rows)

    def only(self, games: np.ndarray) -> CountedBatch:
        """Return the games that `games` (g,) bool marks."""
        sizes = np.diff(self.first, append=len(self.outcomes))
        keep = np.repeat(games, sizes)
        return CountedBatch(self.rows.only(keep), self.outcomes[keep], self.scores[keep],
                            np.concatenate([[0], np.cumsum(sizes[games])])[:int(games.sum())],
                            self.identities[games], self.openings[games])


def sha256(path: str | Path) -> str:
    """Return the hash of a file, or "-" if it cannot be read again, such as standard input and pipes, or not at all."""
    return sha256_of(path) if os.path.isfile(path) and os.access(path, os.R_OK) else "-"


def expand(sources: Sequence[str], suffixes: Sequence[str],
           holds_games: Callable[[str], bool] = lambda name: False) -> list[str]:
    """Return the files to read: of a folder, its game files, recognised by name or, with `holds_games`, by content."""
    files = []
    for source in sources:
        if source != "-" and os.path.isdir(source):
            inside = sorted(str(file) for file in Path(source).iterdir()
                            if not file.name.startswith(".") and not file.is_dir()
                            and (plain_name(file.name.lower()).endswith(tuple(suffixes)) or holds_games(str(file))))
            if not inside:
                raise InputError(f"{source}: holds no {' or '.join(suffixes)} file and is not a dataset")
            files.extend(inside)
        elif source != "-" and not os.path.exists(source):  # reported before reading the files before it
            raise InputError(f"{source}: no such file")
        else:
            files.append(source)
    return files


def batches(game: Game, sources: Sequence[str], options: ReadOptions, report: ReadReport,
            note: Callable[[str], None]) -> Iterator[tuple[str, Iterator[PositionBatch]]]:
    """Yield the files of the sources, each with the batches read from it.

    A file of a folder that cannot be read to its end is noted and skipped from there, unless reading is strict. InputError
    for such a file if it was named itself.
    """
    for source in expand(sources, game.suffixes, game.holds_games):
        read = game.read(source, options, report, note)
        yield source, read if options.strict or source in sources else as_far_as_it_goes(read, report, note)


def as_far_as_it_goes(read: Iterator[PositionBatch], report: ReadReport, note: Callable[[str], None]) -> Iterator[PositionBatch]:
    before = report.games
    while True:
        try:
            batch = next(read, None)
        except InputError as problem:
            games = report.games - before
            note(f"{problem}; " + (f"only the first {games:,} games of this file were read" if games else "file skipped"))
            return
        if batch is None:
            return
        yield batch


def prepared(options: ReadOptions, quiescence: Evaluator | None) -> tuple[ReadOptions, np.ndarray | None]:
    """Return options with the evaluation for quiescence, and its weights, which the caller keeps alive while options are used."""
    if quiescence is None:
        return options, None
    engine, parameters = quiescence
    packed = engine.packed(parameters)
    return replace(options, evaluation=engine.evaluation(packed)), packed


def counted(counter: Counter, source: str, batch: PositionBatch) -> CountedBatch:
    """Return the counts of a batch; InputError for counts that are too large."""
    try:
        rows = counter.count(batch.positions)
    except OverflowError as problem:
        raise InputError(f"{source}: {problem}") from None
    return CountedBatch(rows, batch.outcomes, batch.recorded, batch.first, batch.identities, batch.openings)
