"""Numbers that games judge, and the loop that makes an engine stronger."""

from __future__ import annotations

import functools
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, ParamSpec, Protocol, TypeVar

from games.system import available_cpus
from tuner.api.arguments import KeptNotes, takes, typed
from tuner.api.evaluation import Player
from tuner.api.matches import player_file
from tuner.cli import perform, require_command
from tuner.improve.plan import ImproveSettings, read_plan
from tuner.improve.rounds import ImproveRun, begin_again
from tuner.io.run_folder import kind_of
from tuner.optimize.best import decided
from tuner.optimize.numbers import settings_for
from tuner.optimize.run import OptimizeRun
from tuner.options.optimize import OptimizeOptions
from tuner.options.option import OtherCommands
from tuner.parallel import OnThreads
from tuner.play.run import new_run, resumed_run
from tuner.results.improved import Improved
from tuner.results.optimized import Optimized

P = ParamSpec("P")
R = TypeVar("R", covariant=True)


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
        settings = settings_for(player_file(player, Path(folder) / "a"), options, terms)
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
