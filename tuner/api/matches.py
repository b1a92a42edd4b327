"""Matches and tournaments of evaluations, and the pages of runs."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, ParamSpec, Protocol, TypeVar

from games.system import available_cpus
from tuner.api.arguments import KeptNotes, takes, typed
from tuner.api.evaluation import Player
from tuner.io.files import PAGE, replace_file, require_writable
from tuner.options.match import MatchOptions, TournamentOptions
from tuner.parallel import OnThreads
from tuner.play.match.match import MatchRun
from tuner.play.match.settings import settings_for, tournament_settings
from tuner.play.match.setup import logged_engines
from tuner.play.match.tournament import TournamentRun
from tuner.play.run import new_run
from tuner.report.page import read_page, render
from tuner.results.match import MatchResult
from tuner.results.standings import Standings

P = ParamSpec("P")
R = TypeVar("R", covariant=True)


class PlayMatch(Protocol[P, R]):
    """The type of `play_match`."""

    def __call__(
        self,
        a: Player | str | Path,
        b: Player | str | Path,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> R:
        """Play a match of a against b."""


def _plays(record: Callable[P, Any]) -> Callable[[Callable[..., R]], PlayMatch[P, R]]:
    return takes(record)


@_plays(MatchOptions)
def play_match(a: Player | str | Path, b: Player | str | Path, **options: Any) -> MatchResult:
    """Play pairs of games from one opening each, with colors swapped, between two evaluations,
    parameter files, networks, "random", or "uci:COMMAND" for an engine.

    The options are those of `tuner match`: both search to `depth` plies or `nodes` nodes a move, or
    what is reached first (default: depth 4, of a game with dice 1); the folder `run` keeps
    everything. InputError names a mistake in one line."""
    with tempfile.TemporaryDirectory(prefix="evaltune-") as folder:
        players = [
            player_file(player, Path(folder) / side) for player, side in ((a, "a"), (b, "b"))
        ]
        settings = settings_for(players[0], players[1], options, terms_of((a, b)))
        pgn, run = (None if path is None else Path(path) for path in (settings.pgn, settings.run))
        executor = OnThreads(settings.workers or available_cpus())
        match = MatchRun(settings, pgn, KeptNotes())
        with logged_engines(settings.log, pgn):
            outcome = new_run(match, run, executor, "tuner.play_match")
    return outcome


class PlayTournament(Protocol[P, R]):
    """The type of `play_tournament`."""

    def __call__(
        self, players: Sequence[Player | str | Path], *args: P.args, **kwargs: P.kwargs
    ) -> R:
        """Play a tournament."""


def _plays_tournament(
    record: Callable[P, Any],
) -> Callable[[Callable[..., R]], PlayTournament[P, R]]:
    return takes(record)


@_plays_tournament(TournamentOptions)
def play_tournament(players: Sequence[Player | str | Path], **options: Any) -> Standings:
    """Play a tournament of players as those of `play_match`: each against each, the first against
    the rest (`gauntlet`), or one against levels of another (`ladder`).

    The options are those of `tuner tournament`; the folder `run` keeps everything. InputError names
    a mistake in one line."""
    with tempfile.TemporaryDirectory(prefix="evaltune-") as folder:
        texts = [player_file(each, Path(folder) / str(i)) for i, each in enumerate(players)]
        settings = tournament_settings(texts, options, terms_of(players))
        pgn, run = (None if path is None else Path(path) for path in (settings.pgn, settings.run))
        executor = OnThreads(settings.workers or available_cpus())
        tournament = TournamentRun(settings, pgn, KeptNotes())
        with logged_engines(settings.log, pgn):
            outcome = new_run(tournament, run, executor, "tuner.play_tournament")
    return outcome


def terms_of(players: Iterable[Player | str | Path]) -> list[str]:
    """Return the files of terms of the evaluations among players."""
    given = (player.terms for player in players if isinstance(player, Player))
    return list(dict.fromkeys(os.path.abspath(path) for terms in given for path in terms))


def player_file(player: Player | str | Path, folder: Path) -> str:
    """A player as an argument of `tuner match`; an evaluation without a file is written into the
    folder."""
    if not isinstance(player, Player):
        return str(player)
    if player.path is not None:
        return player.path
    folder.mkdir()
    return str(player.save(folder / f"{player.name}.yaml"))


@typed
def write_report(
    run: str | Path, output: str | Path | None = None, matches: Iterable[str | Path] = ()
) -> Path:
    """Write one self-contained HTML page about the folder of a run (of `tuner.tune(..., run=...)`,
    a match or self-play), with the folders of `matches` that the learned weights played. By default
    it is `report.html` in the folder."""
    folder, played = Path(run), [Path(match) for match in matches]
    found = read_page(folder, played)
    page = Path(output) if output is not None else folder / "report.html"
    require_writable(page, PAGE, (str(folder), *map(str, played)))
    replace_file(page, render(found)[0])
    return page
