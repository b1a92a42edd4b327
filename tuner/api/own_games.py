"""Games of an evaluation against noisy copies of itself."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from games.streams import InputError
from tuner.api.arguments import typed
from tuner.api.evaluation import Evaluation
from tuner.api.notes import Notes
from tuner.datagen.run import new_games
from tuner.datagen.settings import DRAW, RESIGN, Settings
from tuner.engine.loading import games_path, parameter_path
from tuner.parallel import OnThreads, available_cpus
from tuner.parameters.heading import game_of


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


@typed
def play_games(evaluation: Evaluation | str | Path, output: str | Path, *, games: int = 6000,
               depth: int | None = 3, nodes: int | None = None, noise: float = 10.0,
               openings: str | Path | None = None, random_plies: int = 8, plies: int = 300,
               resign: tuple[float, int] | None = RESIGN,
               draw: tuple[float, int, int] | None = DRAW, play_on: float = 0.02,
               syzygy: str | Path | None = None, seed: int = 1, threads: int | None = None) -> OwnGames:
    """Play games of an evaluation against slightly noisy copies of itself, into the new folder
    `output`.

    The options are those of `tuner games`: `resign` is (centipawns, plies), `draw` (centipawns,
    plies, first ply). InputError names a mistake in one line."""
    with tempfile.TemporaryDirectory(prefix="evaltune-") as folder:
        start, terms = str(evaluation), tuple[str, ...]()
        if isinstance(evaluation, Evaluation):
            start = evaluation.path or str(evaluation.save(Path(folder) / f"{evaluation.name}.yaml"))
            terms = tuple(os.path.abspath(path) for path in evaluation.terms)
        if openings is not None:
            openings = games_path(str(openings), game_of(parameter_path(start)))
        settings = Settings(start, games, depth, nodes, noise, random_plies, _absolute(openings), plies,
                            resign, draw, play_on, _absolute(syzygy), seed, terms=terms)
        try:
            settings.require_sense()
        except ValueError as problem:
            raise InputError(f"play_games: {problem}") from None
        found = new_games(settings, Path(output), OnThreads(threads or available_cpus()), "tuner.play_games", Notes())
    # the last line is a command for people
    return OwnGames(Path(output), {key: value for key, value in found.plain.items() if key != "tune"}, tuple(found.lines[:-1]))


def _absolute(path: str | Path | None) -> str | None:
    return None if path is None else os.path.abspath(path)
