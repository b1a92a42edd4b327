"""What all runs share: they begin in a new folder or resume in one, load players, play games, and
return a result. Matches, own games and self-play define the rest."""

import abc
import contextlib
import shlex
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

from tuner.core.store import Store
from tuner.io.now import NowDisplay
from tuner.io.run_folder import (
    SETTINGS,
    begin_folder,
    begin_numbered,
    make_files,
    note_foreign,
    read_settings,
    read_told,
    require_fresh,
    write_settings,
)
from tuner.io.terminal import Display
from tuner.parallel import Executor, Job, Running
from tuner.play.game import games_under_way
from tuner.results.result import RunResult

Found = TypeVar("Found", bound=RunResult)


class Run(abc.ABC, Generic[Found]):
    """A run with its settings. `command` can resume it, `section` of config.yaml has the settings,
    which are a `kind`; `program` is the setting that names the program and the machine; `what`
    names the run in messages."""

    command: ClassVar[str]
    section: ClassVar[str]
    kind: ClassVar[type]
    program: ClassVar[str] = "evaluation"
    what: ClassVar[str] = "run"
    ahead: ClassVar[int] = 1  # tasks submitted for each that runs, so that threads do not idle

    def __init__(self, settings: Any, output: Path | None, display: Display) -> None:
        """`output` is the file that is written in addition to the folder, if one is wanted."""
        self.settings, self.output, self.display = settings, output, display

    @abc.abstractmethod
    def require_output(self, folder: Path | None) -> None:
        """InputError for an output that must not be written."""

    @abc.abstractmethod
    def load(self, folder: Path | None) -> str | None:
        """Load everything that the run needs, from its folder if it is resumed. Return the name of
        the program."""

    @abc.abstractmethod
    def job(self) -> Job | None:
        """Return the games as work; None: they are played where they are learned from."""

    @abc.abstractmethod
    def place(self, folder: Path) -> None:
        """Write the initial files into the new folder."""

    @abc.abstractmethod
    def play(self, store: Store, playing: Running | None) -> Found:
        """Play what is left to play. An earlier part of the run may be in the store."""

    @contextlib.contextmanager
    def begin(self, folder: Path | None, command: str) -> Iterator[Store]:
        """Yield the store of a new run, in a given folder or the next that is numbered."""
        with (
            begin_folder(folder, self.command) if folder else begin_numbered(self.command) as store
        ):
            with make_files(store) as work:
                self.place(work)
            write_settings(store, self.section, self.settings, command)
            yield store

    def set_games(self, games: int) -> None:
        """Set a new total of games; InputError for an invalid one."""
        self.settings = replace(self.settings, games=games)

    def note_games(self, games: int, what: str = "games") -> None:
        """Report what an earlier part of the run played."""
        if games:
            self.display.note(f"{games:,} {what} were played before")

    def advice(self, folder: Path | None) -> str:
        """Return how an interrupted run is continued, as a line; without a folder it cannot be."""
        if folder is None:
            return "interrupted"
        return (
            f"interrupted; continue with: tuner {self.command} --resume {shlex.quote(str(folder))}"
        )


def new_run(run: Run[Found], folder: Path | None, executor: Executor | None, command: str) -> Found:
    """Begin a run in a new folder, with its games played by the executor; the text of the `command`
    is recorded there."""
    if folder is not None:
        require_fresh(folder, run.command)
    run.require_output(folder)
    run.display.begin("starting")
    program = run.load(None)
    run.settings = replace(run.settings, **{run.program: program})
    # an error is reported before there is a folder
    with _started(run, executor) as playing, run.begin(folder, command) as store:
        return _played(run, store, playing)


def resumed_run(
    kind: type[Run[Found]],
    folder: Path,
    executor: Executor | None,
    output: Path | None,
    display: Display,
    games: int | None = None,
    make: Callable[[Any, Path | None, Display], Run[Found]] | None = None,
) -> Found:
    """Continue the run in a folder; `games` sets a new total, `make` makes the run if that takes
    more than its settings."""
    settings: Any = read_settings(folder, kind.section, kind.kind)
    note_foreign(read_told(folder), display.note)
    run = (make or kind)(settings, output, display)
    run.require_output(folder)
    display.begin("starting")
    if games is not None:
        run.set_games(games)
    if run.load(folder) != getattr(run.settings, run.program):
        display.note(
            f"the program or the machine is not the one that the {run.what} began with: results may"
            " differ from here on"
        )
    with _started(run, executor) as playing, Store(folder) as store:
        return _played(run, store, playing)


def _played(run: Run[Found], store: Store, playing: Running | None) -> Found:
    """Play with the live state in the store, unless that is removed with the run."""
    if store.blob(SETTINGS) is None:
        return run.play(store, playing)
    with NowDisplay(store, run.display, games_under_way) as run.display:
        result = run.play(store, playing)
        if result.interrupted:
            run.display.interrupt()
        return result


def _started(
    run: Run[Any], executor: Executor | None
) -> contextlib.AbstractContextManager[Running | None]:
    job = run.job()
    return (
        executor.start(job, run.ahead)
        if executor is not None and job is not None
        else contextlib.nullcontext()
    )
