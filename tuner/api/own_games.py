"""Games of an evaluation against noisy copies of itself."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from games.streams import InputError
from tuner.api.data import require_known
from tuner.api.evaluation import Evaluation
from tuner.api.notes import Notes
from tuner.datagen.run import new_games
from tuner.datagen.settings import Settings
from tuner.parallel import OnThreads, available_cpus

OPTIONS = {field.name for field in fields(Settings)} - {"start", "games", "terms", "evaluation"}


@dataclass(frozen=True)
class OwnGames:
    """Games that were played: their `folder`, which `tuner.tune` reads; `result`, what `tuner games --json` prints; and `lines`,
    what it prints for people."""

    folder: Path
    result: dict[str, Any]
    lines: tuple[str, ...]

    def __str__(self) -> str:
        return "\n".join(self.lines)

    def __repr__(self) -> str:
        return f"<OwnGames {self.folder}: {self.result['games']:,} games>"


def play_games(evaluation: Evaluation | str | Path, output: str | Path, *, games: int = 6000, threads: int | None = None,
               **options: Any) -> OwnGames:
    """Play games of an evaluation against slightly noisy copies of itself, into the new folder `output`.

    `options` are those of `tuner games`: depth, nodes, noise, resign as (centipawns, plies), draw as (centipawns, plies, first
    ply), syzygy, openings, random_plies, plies, play_on, seed (see `tuner.datagen.settings.Settings`). InputError names a mistake
    in one line."""
    require_known("play_games", options, OPTIONS)
    with tempfile.TemporaryDirectory(prefix="evaltune-") as folder:
        start, terms = str(evaluation), tuple[str, ...]()
        if isinstance(evaluation, Evaluation):
            start = evaluation.path or str(evaluation.save(Path(folder) / f"{evaluation.name}.yaml"))
            terms = tuple(os.path.abspath(path) for path in evaluation.terms)
        settings = Settings(start=start, games=games, terms=terms, **options)
        try:
            settings.require_sense()
        except ValueError as problem:
            raise InputError(f"play_games: {problem}") from None
        found = new_games(settings, Path(output), OnThreads(threads or available_cpus()), "tuner.play_games", Notes())
    # the last line is a command for people
    return OwnGames(Path(output), {key: value for key, value in found.plain.items() if key != "tune"}, tuple(found.lines[:-1]))
