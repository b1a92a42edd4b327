"""Matches between evaluations."""

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
from tuner.engine.loading import games_path
from tuner.match.defaults import require_suitable, usual_of
from tuner.match.entrants import understood
from tuner.match.match import Ways, new_match, with_files
from tuner.match.settings import settings_of
from tuner.match.setup import game_of_match, test_of
from tuner.parallel import OnThreads, available_cpus


@dataclass(frozen=True)
class MatchResult:
    """What a match found: `result` is what `tuner match --json` prints, `lines` what it prints for people."""

    result: dict[str, Any]
    lines: tuple[str, ...]

    @property
    def wins(self) -> int:
        """Of the first player named."""
        return int(self.result["wins"])

    @property
    def draws(self) -> int:
        """Drawn games."""
        return int(self.result["draws"])

    @property
    def losses(self) -> int:
        """Of the first player named."""
        return int(self.result["losses"])

    def __str__(self) -> str:
        return "\n".join(self.lines)

    def __repr__(self) -> str:
        return f"<MatchResult +{self.wins} ={self.draws} -{self.losses}>"


@typed
def play_match(a: Evaluation | str | Path, b: Evaluation | str | Path, *, games: int = 100, depth: int | None = None,
               nodes: int | None = None, openings: str | Path | None = None, random_plies: int | None = None, seed: int = 1,
               sprt: tuple[float, float] | None = None, run: str | Path | None = None, pgn: str | Path | None = None,
               concurrency: int | None = None) -> MatchResult:
    """Play pairs of games from one opening each, with colours swapped, between two evaluations, parameter files, "random", or
    "uci:COMMAND" for an engine. Both search to `depth` plies or `nodes` nodes a move, or what is
    reached first (default: depth 4, of a game with dice 1). The folder `run` keeps
    everything. InputError names a mistake in one line."""
    with tempfile.TemporaryDirectory(prefix="evaltune-") as folder:
        players = [_player(player, Path(folder) / side) for player, side in ((a, "a"), (b, "b"))]
        terms = tuple(dict.fromkeys(os.path.abspath(path) for player in (a, b) if isinstance(player, Evaluation)
                                    for path in player.terms))
        game = game_of_match(*map(understood, players))
        usual = usual_of(game)
        given = {"depth": depth, "nodes": nodes}
        limits = {name: limit for name, limit in given.items() if limit is not None} or {"depth": usual.depth}
        settings = settings_of(*players, games=games, sprt=sprt, controls=(limits, dict(limits)), seed=seed, terms=terms,
                               openings=None if openings is None else games_path(str(openings), game.name),
                               random_plies=usual.random_plies if random_plies is None else random_plies, model=usual.model,
                               luck=usual.luck)
        try:
            settings.require_sense()
        except ValueError as problem:
            raise InputError(f"play_match: {problem}") from None
        require_suitable(settings, game)
        test_of(settings, game)
        ways = Ways(OnThreads(concurrency or available_cpus()), None if pgn is None else Path(pgn))
        outcome = new_match(with_files(settings), None if run is None else Path(run), ways, "tuner.play_match", Notes())
    return MatchResult(outcome.plain, tuple(outcome.lines))


def _player(player: Evaluation | str | Path, folder: Path) -> str:
    """What `tuner match` takes for a player; an evaluation without a file is written into the folder."""
    if not isinstance(player, Evaluation):
        return str(player)
    if player.path is not None:
        return player.path
    folder.mkdir()
    return str(player.save(folder / f"{player.name}.yaml"))
