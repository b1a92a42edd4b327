"""What is left to gain for an evaluation, and which of several files is best."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tuner.api.arguments import paths_of, require_choice, typed
from tuner.api.data import reading_of, sources_of
from tuner.api.evaluation import Evaluation
from tuner.api.notes import Notes
from tuner.commands import headroom
from tuner.commands import rank as commands_rank
from tuner.engine.loading import sources_for
from tuner.headroom import rank, tables
from tuner.headroom.measure import measured
from tuner.headroom.sample import sampled
from tuner.parallel import available_cpus
from tuner.tuning.methods import TARGETS
from tuner.tuning.options import TuneOptions


@dataclass(frozen=True)
class Measured:
    """A measurement: `result`, what the command prints with --json; `lines`, what it prints for people; and the `notes` taken
    on the way."""

    result: dict[str, Any]
    lines: tuple[str, ...]
    notes: tuple[str, ...]

    def __str__(self) -> str:
        return "\n".join(self.lines)

    def __repr__(self) -> str:
        return f"<Measured on {self.result['positions']:,} positions>"


@typed
def measure_headroom(evaluation: Evaluation | str | Path, games: str | Path | Iterable[str | Path], *,
                     sample: int = headroom.SAMPLE, held_out: float = headroom.HELD_OUT,
                     targets: str | None = None, teacher: str | None = None, nodes: int | None = None,
                     depth: int | None = None, lambda_: float | None = None, positions: str = "auto",
                     quiescence: str | None = None, min_elo: int = 0, skip_start: int | None = None,
                     skip_end: int = 0, per_game: int = 0, duplicates: str = "games",
                     strict: bool = False, seed: int = 1, workers: int | None = None) -> Measured:
    """Measure, on at most `sample` positions, how much better weights of the same terms agree with
    values of held-out positions, and how much other functions of the same counts do (scikit-learn).
    The options are those of `tuner headroom`. InputError names a mistake in one line.
    """
    require_choice("measure_headroom", "targets", targets, TARGETS)
    reading = reading_of("measure_headroom", positions, min_elo, skip_start, skip_end, per_game,
                         duplicates, strict, seed)
    sources, notes = sources_of(evaluation, games), Notes()
    with tempfile.TemporaryDirectory(prefix="evaltune-") as folder:
        path, terms, name = _file(evaluation, Path(folder))
        given = TuneOptions(
            reading=reading, targets=targets, teacher=teacher, nodes=nodes, depth=depth,
            lambda_=lambda_, per_game=per_game or None, quiescence=quiescence, seed=seed,
            workers=workers or available_cpus(), terms=terms)
        drawn = sampled(path, sources, given, sample, Path(folder), notes)
        found = measured(drawn, name, held_out, notes)
    return Measured(found, tuple(tables.lines_of(found)), tuple(notes.lines))


@typed
def rank_files(files: Sequence[str | Path], games: str | Path | Iterable[str | Path], *,
               sample: int = commands_rank.SAMPLE, teacher: str | None = None, nodes: int | None = None,
               terms: Sequence[str | Path] = (), positions: str = "auto", quiescence: str | None = None,
               min_elo: int = 0, skip_start: int | None = None, skip_end: int = 0, per_game: int = 0,
               duplicates: str = "games", strict: bool = False, seed: int = 1,
               workers: int | None = None) -> Measured:
    """Order parameter files by how closely their evaluations agree with recorded scores or searches
    of a `teacher`, such as "uci:stockfish", on positions of games that none of them was learned
    from. The options are those of `tuner rank`."""
    reading = reading_of("rank_files", positions, min_elo, skip_start, skip_end, per_game, duplicates,
                         strict, seed)
    names, own, notes = [str(file) for file in files], tuple(map(str, terms)), Notes()
    rank.require_comparable(names)
    sources = sources_for(names[0], paths_of(games))
    rank.require_positions(sources)
    given = TuneOptions(
        reading=reading, targets="scores", gradient="central-difference", teacher=teacher, nodes=nodes,
        per_game=per_game or None, quiescence=quiescence, seed=seed,
        workers=workers or available_cpus(), terms=own)
    with tempfile.TemporaryDirectory(prefix="evaltune-") as folder:
        drawn = rank.sample_to_rank(names, sources, given, sample, Path(folder), notes)
        found = rank.ranked(names, drawn, own, notes)
    return Measured(found, tuple(rank.lines_of(found)), tuple(notes.lines))


def _file(evaluation: Evaluation | str | Path, folder: Path) -> tuple[str, tuple[str, ...], str]:
    """Return the parameter file of an evaluation, written if it is in none, its files of terms, and its name."""
    if not isinstance(evaluation, Evaluation):
        return str(evaluation), (), str(evaluation)
    path = evaluation.path or str(evaluation.save(folder / f"{evaluation.name}.yaml"))
    return path, evaluation.terms, evaluation.path or evaluation.name
