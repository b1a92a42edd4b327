"""Self-play, and games of evaluations to learn from."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ParamSpec, Protocol, TypeVar

from games.system import available_cpus
from tuner.api.arguments import KeptNotes, takes
from tuner.api.evaluation import Evaluation, Network, Player, file_of, load, load_network
from tuner.core.text import plural
from tuner.evaluation.networks.files import holds_network
from tuner.options.games import GamesOptions
from tuner.parallel import OnThreads
from tuner.play.own_games.run import OwnGamesRun
from tuner.play.own_games.settings import settings_for
from tuner.play.run import new_run
from tuner.play.selfplay.begin import AnyOptions, run_for
from tuner.results.own_games import OwnGames
from tuner.results.selfplay import SelfPlay

P = ParamSpec("P")
R = TypeVar("R", covariant=True)


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
        found |= {"run": None, "output": settings.output, "advice": ""}
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
        settings = settings_for(start, options, terms)
        games = new_run(
            OwnGamesRun(settings, None, KeptNotes()),
            Path(output),
            OnThreads(settings.workers or available_cpus()),
            "tuner.play_games",
        )
    return replace(games, tune=None)  # a command for people
