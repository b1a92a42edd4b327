"""Datasets from files of games."""

from __future__ import annotations

from collections.abc import Iterable, Set
from dataclasses import fields
from pathlib import Path
from typing import Any

from games.record import ReadOptions
from games.streams import InputError
from tuner.api.evaluation import Evaluation, load
from tuner.datasets.dataset import Dataset
from tuner.datasets.reader import open_dataset as _open
from tuner.datasets.writer import require_replaceable
from tuner.engine.loading import quiescence_of
from tuner.ingest.build import build
from tuner.io.files import QUIESCENCE

READ_CHOICES = {"positions": ("auto", "all", "quiet", "resolve"), "duplicates": ("games", "positions", "keep")}


def build_dataset(games: str | Path | Iterable[str | Path], output: str | Path, evaluation: Evaluation | str = "classic",
                  **options: Any) -> Dataset:
    """Read games into a dataset in the folder `output`, which has the counts of the evaluation's terms.

    `options` are those of `games.record.ReadOptions`: positions ("auto", "all", "quiet", "resolve"), min_elo, skip_start,
    skip_end, per_game, duplicates ("games", "positions", "keep"), strict, seed.
    """
    require_known("build_dataset", options, {field.name for field in fields(ReadOptions)} - {"evaluation"})
    counted = evaluation if isinstance(evaluation, Evaluation) else load(evaluation)
    sources, target = paths_of(games), Path(output)
    require_replaceable(target, sources)
    data, _ = build(counted.engine, sources, target, ReadOptions(**options), quiescence_of(counted.engine, QUIESCENCE),
                    lambda text: None)
    return data


def open_dataset(path: str | Path) -> Dataset:
    """Open a dataset; InputError if it is damaged."""
    return _open(path)


def require_known(function: str, options: dict[str, Any], known: Set[str]) -> None:
    """InputError for an option that a function does not have, and for a value of positions or duplicates."""
    unknown = sorted(options.keys() - known)
    if unknown:
        raise InputError(f"{function}: unknown option {unknown[0]!r}; known: {', '.join(sorted(known))}")
    for name, choices in READ_CHOICES.items():
        if name in options and options[name] not in choices:
            raise InputError(f"{function}: {name} is {options[name]!r}, expected one of {', '.join(choices)}")


def paths_of(games: str | Path | Iterable[str | Path]) -> list[str]:
    """One path or several as a list."""
    return [str(games)] if isinstance(games, str | Path) else [str(path) for path in games]
