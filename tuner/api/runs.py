"""What plays games: matches, tournaments, self-play, games to learn from, numbers that games judge,
the loop that makes an engine stronger; and the pages of runs."""

import contextlib
import functools
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
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
from tuner.optimize.numbers import optimize_settings
from tuner.optimize.run import OptimizeRun
from tuner.options.games import GamesOptions
from tuner.options.match import MatchOptions, OptimizeOptions, TournamentOptions
from tuner.options.option import OtherCommands
from tuner.parallel import OnThreads
from tuner.play.match.match import MatchRun, PairsRun
from tuner.play.match.settings import match_settings, tournament_settings
from tuner.play.match.setup import AnySettings, logged_engines
from tuner.play.match.tournament import TournamentRun
from tuner.play.own_games.run import OwnGamesRun
from tuner.play.own_games.settings import games_settings
from tuner.play.run import Run, new_run, resumed_run
from tuner.play.selfplay.begin import AnyOptions, run_for
from tuner.report.page import read_page, render
from tuner.results.improved import Improved
from tuner.results.match import MatchResult
from tuner.results.optimized import Optimized
from tuner.results.own_games import OwnGames
from tuner.results.result import RunResult
from tuner.results.selfplay import SelfPlay
from tuner.results.standings import Standings

P = ParamSpec("P")
R = TypeVar("R", covariant=True)
Played = TypeVar("Played", bound=RunResult)
Pairs = TypeVar("Pairs", MatchResult, Standings)


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
    with _files_of((a, b)) as (files, terms):
        return _pairs_of(MatchRun, match_settings(files[0], files[1], options, terms), "play_match")


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
    with _files_of(players) as (files, terms):
        settings = tournament_settings(files, options, terms)
        return _pairs_of(TournamentRun, settings, "play_tournament")


@contextlib.contextmanager
def _files_of(players: Sequence[Player | str | Path]) -> Iterator[tuple[list[str], list[str]]]:
    """Yield players as arguments of commands, of evaluations their files, and the files of terms of
    these; an evaluation without a file is written for as long."""
    with tempfile.TemporaryDirectory(prefix="evaltune-") as folder:
        named = [file_of(each, Path(folder) / str(i)) for i, each in enumerate(players)]
        terms = (os.path.abspath(path) for _, own in named for path in own)
        yield [file for file, _ in named], list(dict.fromkeys(terms))


def _pairs_of(kind: Callable[..., PairsRun[Pairs]], settings: AnySettings, function: str) -> Pairs:
    """Play the pairs of games of a new match or tournament."""
    pgn = None if settings.pgn is None else Path(settings.pgn)
    with logged_engines(settings.log, pgn):
        return _played(kind(settings, pgn, KeptNotes()), settings.run, function)


def _played(run: Run[Played], folder: str | Path | None, function: str) -> Played:
    """Begin a run with its own number of threads, and return what it found."""
    executor = OnThreads(run.settings.workers or available_cpus())
    return new_run(run, None if folder is None else Path(folder), executor, f"tuner.{function}")


@typed
def write_report(
    run: str | Path, output: str | Path | None = None, matches: Iterable[str | Path] = ()
) -> Path:
    """Write one self-contained HTML page about the folder of a run (of `tuner.tune(..., run=...)`,
    a match or self-play), with the folders of `matches` that the learned weights played. By default
    it is `report.html` in the folder."""
    folder, played = Path(run), [Path(match) for match in matches]
    record = read_page(folder, played)
    page = Path(output) if output is not None else folder / "report.html"
    require_writable(page, PAGE, (str(folder), *map(str, played)))
    replace_file(page, render(record)[0])
    return page


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
    with _files_of([player]) as (files, terms):
        settings = optimize_settings(files[0], options, terms)
        run = OptimizeRun(settings, None, KeptNotes(), Path(options["options"]))
        optimized = _played(run, options.get("run"), "optimize_numbers")
        return decided(optimized, OnThreads(settings.workers or available_cpus()), run.display)


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
        begun, terms = file_of(start, Path(folder))
        make, settings = run_for(begun, options, terms)
        kept = options.get("run")
        output = None if settings.output is None else Path(settings.output)
        run = make(settings, output, KeptNotes())
        outcome = _played(run, kept or Path(folder) / "run", "learn_by_selfplay")
        written = Path(str(outcome.output))
        learned = load_network(written) if holds_network(written) else load(written, terms)
        if not kept and output is None:  # its file is gone with the folder
            learned.name, learned.path = "learned", None
    plain = vars(outcome) | {"match": None}  # a command for people
    if not kept:
        plain |= {"run": None, "output": settings.output, "advice": ""}
    return SelfPlayed(**plain, learned=learned)


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
    with _files_of([evaluation]) as (files, terms):
        settings = games_settings(files[0], options, terms)
        games = _played(OwnGamesRun(settings, None, KeptNotes()), output, "play_games")
    return replace(games, tune=None)  # a command for people
