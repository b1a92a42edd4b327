"""Measurements of evaluations without games: headroom, and the order of files."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ParamSpec, Protocol, TypeVar

from tuner.api.arguments import KeptNotes, paths_of, takes
from tuner.api.evaluation import Games, Start, file_of, sources_of
from tuner.headroom import measure as tables
from tuner.headroom import rank
from tuner.headroom.measure import measure_sample
from tuner.headroom.sample import read_sample
from tuner.io.records import to_json
from tuner.options.tune import HeadroomOptions, RankOptions

P = ParamSpec("P")
R = TypeVar("R", covariant=True)


@dataclass(frozen=True)
class Measured:
    """A measurement: `result`, what the command prints with --json; `lines`, what it prints for
    people; and the `notes` taken on the way."""

    result: dict[str, Any]
    lines: tuple[str, ...]
    notes: tuple[str, ...]

    def __str__(self) -> str:
        return "\n".join(self.lines)

    def __repr__(self) -> str:
        return f"<Measured on {self.result['positions']:,} positions>"


class Measure(Protocol[P, R]):
    """The type of `measure_headroom`."""

    def __call__(self, evaluation: Start, games: Games, *args: P.args, **kwargs: P.kwargs) -> R:
        """Measure an evaluation on games."""


def _measures(record: Callable[P, Any]) -> Callable[[Callable[..., R]], Measure[P, R]]:
    return takes(record)


@_measures(HeadroomOptions)
def measure_headroom(evaluation: Start, games: Games, **options: Any) -> Measured:
    """Measure, on at most `sample` positions, how much better weights of the same terms agree with
    values of held-out positions, and how much other functions of the same counts do (scikit-learn).
    The options are those of `tuner headroom`. InputError names a mistake in one line.
    """
    given = HeadroomOptions(**options)
    sources, notes = sources_of(evaluation, games), KeptNotes()
    with tempfile.TemporaryDirectory(prefix="evaltune-") as folder:
        path, terms, name = file_of(evaluation, Path(folder))
        drawn = read_sample(path, sources, given.tuning(terms), given.sample, Path(folder), notes)
        found = measure_sample(drawn, name, given.held_out, notes)
    return Measured(to_json(found), tuple(tables.lines_of(found)), tuple(notes.lines))


class Rank(Protocol[P, R]):
    """The type of `rank_files`."""

    def __call__(
        self, files: Sequence[str | Path], games: Games, *args: P.args, **kwargs: P.kwargs
    ) -> R:
        """Order files by their agreement with values of positions of games."""


def _ranks(record: Callable[P, Any]) -> Callable[[Callable[..., R]], Rank[P, R]]:
    return takes(record)


@_ranks(RankOptions)
def rank_files(files: Sequence[str | Path], games: Games, **options: Any) -> Measured:
    """Order parameter files by how closely their evaluations agree with recorded scores or searches
    of a `teacher`, such as "uci:stockfish", on positions of games that none of them was learned
    from. The options are those of `tuner rank`."""
    given, names, notes = RankOptions(**options), [str(file) for file in files], KeptNotes()
    with tempfile.TemporaryDirectory(prefix="evaltune-") as folder:
        found = rank.ranking(names, paths_of(games), given, Path(folder), notes)
    return Measured(to_json(found), tuple(rank.lines_of(found)), tuple(notes.lines))
