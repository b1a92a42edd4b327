"""Datasets from files of games."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from games.record import ReadOptions
from tuner.api.arguments import paths_of, require_choice, typed
from tuner.api.evaluation import Evaluation, load
from tuner.datasets.dataset import Dataset
from tuner.datasets.reader import open_dataset as _open
from tuner.datasets.writer import require_replaceable
from tuner.engine.loading import games_path, quiescence_of, sources_for
from tuner.ingest.build import build
from tuner.io.files import QUIESCENCE


@typed
def build_dataset(games: str | Path | Iterable[str | Path], output: str | Path,
                  evaluation: Evaluation | str | Path = "classic", *, positions: str = "auto",
                  min_elo: int = 0, skip_start: int | None = None, skip_end: int = 0,
                  per_game: int = 0, duplicates: str = "games", strict: bool = False,
                  seed: int = 1) -> Dataset:
    """Read games into a dataset in the folder `output`, which has the counts of the evaluation's terms.

    The options are those of `tuner dataset`: `positions` are "auto", "all", "quiet" or "resolve",
    `duplicates` "games", "positions" or "keep"; `per_game` 0 keeps all positions.
    """
    reading = reading_of("build_dataset", positions, min_elo, skip_start, skip_end, per_game,
                         duplicates, strict, seed)
    counted = evaluation if isinstance(evaluation, Evaluation) else load(evaluation)
    sources, target = sources_of(counted, games), Path(output)
    require_replaceable(target, sources)
    quiescence = quiescence_of(counted.engine, QUIESCENCE)
    data, _ = build(counted.engine, sources, target, reading, quiescence, lambda text: None)
    return data


@typed
def open_dataset(path: str | Path) -> Dataset:
    """Open a dataset; InputError if it is damaged."""
    return _open(path)


def sources_of(start: Evaluation | str | Path, games: str | Path | Iterable[str | Path]) -> list[str]:
    """The paths of games for an evaluation, with the name of bundled ones replaced."""
    if isinstance(start, Evaluation):
        return [games_path(path, start.game) for path in paths_of(games)]
    return sources_for(start, paths_of(games))


def reading_of(function: str, positions: str, min_elo: int, skip_start: int | None, skip_end: int,
               per_game: int, duplicates: str, strict: bool, seed: int) -> ReadOptions:
    """Options of reading; InputError for unknown positions or duplicates."""
    require_choice(function, "positions", positions, ("auto", "all", "quiet", "resolve"))
    require_choice(function, "duplicates", duplicates, ("games", "positions", "keep"))
    return ReadOptions(positions, None, min_elo, skip_start, skip_end, per_game, duplicates, strict,
                       seed)
