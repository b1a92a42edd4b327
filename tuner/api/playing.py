"""Games and matches of evaluations."""

from __future__ import annotations

import functools
import os
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ParamSpec, Protocol, TypeVar

from games.system import available_cpus
from tuner.api.arguments import KeptNotes, takes, typed
from tuner.api.evaluation import Evaluation, Network, Player, file_of, load, load_network
from tuner.cli import perform, require_command
from tuner.core.text import plural
from tuner.evaluation.networks.files import holds_network
from tuner.improve.plan import ImproveSettings, read_plan
from tuner.improve.rounds import ImproveRun, begin_again
from tuner.io.files import PAGE, replace_file, require_writable
from tuner.io.run_folder import kind_of
from tuner.optimize.best import decided
from tuner.optimize.numbers import settings_for as settings_for_numbers
from tuner.optimize.run import OptimizeRun
from tuner.options.games import GamesOptions
from tuner.options.match import MatchOptions, TournamentOptions
from tuner.options.optimize import OptimizeOptions
from tuner.options.option import OtherCommands
from tuner.parallel import OnThreads
from tuner.play.match.match import MatchRun
from tuner.play.match.settings import settings_for, tournament_settings
from tuner.play.match.tournament import TournamentRun
from tuner.play.own_games.run import OwnGamesRun
from tuner.play.own_games.settings import settings_for as settings_for_games
from tuner.play.run import new_run, resumed_run
from tuner.play.selfplay.begin import AnyOptions, run_for
from tuner.report.page import read_page, render, render_inline
from tuner.results.improved import Improved
from tuner.results.match import MatchResult
from tuner.results.optimized import Optimized
from tuner.results.own_games import OwnGames
from tuner.results.result import RunResult
from tuner.results.selfplay import SelfPlay
from tuner.results.standings import Standings

P = ParamSpec("P")
R = TypeVar("R", covariant=True)
RunResult.in_notebook.append(render_inline)


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
        players = [_player(player, Path(folder) / side) for player, side in ((a, "a"), (b, "b"))]
        settings = settings_for(players[0], players[1], options, _terms_of((a, b)))
        pgn, run = (None if path is None else Path(path) for path in (settings.pgn, settings.run))
        executor = OnThreads(settings.workers or available_cpus())
        outcome = new_run(MatchRun(settings, pgn, KeptNotes()), run, executor, "tuner.play_match")
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
        texts = [_player(each, Path(folder) / str(i)) for i, each in enumerate(players)]
        settings = tournament_settings(texts, options, _terms_of(players))
        pgn, run = (None if path is None else Path(path) for path in (settings.pgn, settings.run))
        executor = OnThreads(settings.workers or available_cpus())
        tournament = TournamentRun(settings, pgn, KeptNotes())
        outcome = new_run(tournament, run, executor, "tuner.play_tournament")
    return outcome


def _terms_of(players: Iterable[Player | str | Path]) -> list[str]:
    """Return the files of terms of the evaluations among players."""
    given = (player.terms for player in players if isinstance(player, Player))
    return list(dict.fromkeys(os.path.abspath(path) for terms in given for path in terms))


def _player(player: Player | str | Path, folder: Path) -> str:
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


@dataclass(frozen=True, kw_only=True, repr=False)
class SelfPlayed(SelfPlay):
    """The result of `tuner selfplay`, and what was learned: the `learned` evaluation or network."""

    learned: Evaluation | Network

    def __repr__(self) -> str:
        return f"<SelfPlayed {self.learned.game}: {plural(self.games, 'game')}>"


class LearnBySelfplay(Protocol[P, R]):
    """The type of `learn_by_selfplay`."""

    def __call__(
        self, start: Player | str | Path = "material", *args: P.args, **kwargs: P.kwargs
    ) -> R:
        """Learn an evaluation by self-play."""


def _learns(record: Callable[P, Any]) -> Callable[[Callable[..., R]], LearnBySelfplay[P, R]]:
    return takes(record)


@_learns(AnyOptions)
def learn_by_selfplay(start: Player | str | Path = "material", **options: Any) -> SelfPlayed:
    """Learn an evaluation, or a network, from games that it plays against itself; with `hidden` or
    `encoding` a new network of the game `start`.

    The options are those of `tuner selfplay`: `lambda_` is --lambda. The folder `run` keeps
    everything, if it is given. InputError names a mistake in one line."""
    with tempfile.TemporaryDirectory(prefix="evaltune-") as folder:
        begun, terms, _ = file_of(start, Path(folder))
        make, settings = run_for(begun, options, terms)
        kept = options.get("run")
        output = None if settings.output is None else Path(settings.output)
        outcome = new_run(
            make(settings, output, KeptNotes()),
            Path(kept or Path(folder) / "run"),
            OnThreads(settings.workers or available_cpus()),
            "tuner.learn_by_selfplay",
        )
        written = Path(str(outcome.output))
        learned = load_network(written) if holds_network(written) else load(written, terms)
        if not kept and output is None:  # its file is gone with the folder
            learned.name, learned.path = "learned", None
    found = vars(outcome) | {"match": None}  # a command for people
    if not kept:
        found |= {"run": None, "output": settings.output}
    return SelfPlayed(**found, learned=learned)


class PlayGames(Protocol[P, R]):
    """The type of `play_games`."""

    def __call__(
        self, evaluation: Player | str | Path, output: str | Path, *args: P.args, **kwargs: P.kwargs
    ) -> R:
        """Play games of an evaluation into the folder `output`."""


def _plays_games(record: Callable[P, Any]) -> Callable[[Callable[..., R]], PlayGames[P, R]]:
    return takes(record)


@_plays_games(GamesOptions)
def play_games(evaluation: Player | str | Path, output: str | Path, **options: Any) -> OwnGames:
    """Play games of an evaluation against slightly noisy copies of itself, or of an engine such as
    "uci:COMMAND" against itself, into the new folder `output`.

    The options are those of `tuner games`. InputError names a mistake in one line."""
    with tempfile.TemporaryDirectory(prefix="evaltune-") as folder:
        start, terms, _ = file_of(evaluation, Path(folder))
        settings = settings_for_games(start, options, terms)
        games = new_run(
            OwnGamesRun(settings, None, KeptNotes()),
            Path(output),
            OnThreads(settings.workers or available_cpus()),
            "tuner.play_games",
        )
    return replace(games, tune=None)  # a command for people


class OptimizeNumbers(Protocol[P, R]):
    """The type of `optimize_numbers`."""

    def __call__(self, player: Player | str | Path, *args: P.args, **kwargs: P.kwargs) -> R:
        """Find the best values of numbers of a player."""


def _optimizes(record: Callable[P, Any]) -> Callable[[Callable[..., R]], OptimizeNumbers[P, R]]:
    return takes(record)


@_optimizes(OptimizeOptions)
def optimize_numbers(player: Player | str | Path, **options: Any) -> Optimized:
    """Find the best values of numbers that only games can judge: of an engine "uci:COMMAND", or of
    an evaluation and its search. `options` names the file of numbers (docs/optimize.md); the
    other options are those of `tuner optimize`. InputError names a mistake in one line."""
    with tempfile.TemporaryDirectory(prefix="evaltune-") as folder:
        terms = player.terms if isinstance(player, Player) else ()
        settings = settings_for_numbers(_player(player, Path(folder) / "a"), options, terms)
        executor, display = OnThreads(settings.workers or available_cpus()), KeptNotes()
        run = OptimizeRun(settings, None, display, Path(options["options"]))
        place = None if options.get("run") is None else Path(options["run"])
        return decided(new_run(run, place, executor, "tuner.optimize_numbers"), executor, display)


@typed
def improve_engine(plan: str | Path, run: str | Path) -> Improved:
    """Make an engine stronger as `plan`, a file of YAML, says (docs/improve.md), and keep
    everything in the folder `run`; if that is there, its loop goes on. The commands of its steps
    report on standard error. InputError names a mistake in one line."""
    folder = Path(run)
    make = functools.partial(ImproveRun, commands=OtherCommands(require_command, perform))
    begin_again(folder)
    if kind_of(folder):
        return resumed_run(ImproveRun, folder, None, None, KeptNotes(), make=make)
    settings = ImproveSettings(plan=read_plan(Path(plan)))
    return new_run(make(settings, None, KeptNotes()), folder, None, "tuner.improve_engine")
