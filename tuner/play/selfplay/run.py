"""Self-play that learns, batch after batch: of weights or of a network."""

from __future__ import annotations

import abc
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

from tuner.evaluation.evaluation import Evaluation
from tuner.io.interrupt import interrupts
from tuner.io.run_folder import CHECKPOINTS, write_config
from tuner.parallel import Running
from tuner.play.run import Run, RunResult
from tuner.play.selfplay.folder import Folder, SavedLearning
from tuner.play.selfplay.matches import MatchMeasurement
from tuner.play.selfplay.measure import Measurement

WRITE_SECONDS = 5.0  # between two versions of the learned file
# a line of the history, and what the batch adds to the other files
Batch = tuple[dict[str, Any], tuple[bytes, ...]]


class LearningRun(Run):
    """A run that learns. `learned` is the file in its folder from which another can start, `doing`
    what it does."""

    command = "selfplay"
    learned: str
    doing: ClassVar[str]
    learner: SavedLearning
    measurement: Measurement | MatchMeasurement | None

    @abc.abstractmethod
    def others(self) -> tuple[str, ...]:
        """Return the names of the files that grow beside the history."""

    @abc.abstractmethod
    def text(self) -> str:
        """Return the settings in a few words."""

    @abc.abstractmethod
    def batches(
        self, folder: Path, games: int, playing: Running | None, interrupted: threading.Event
    ) -> Iterator[Batch]:
        """Learn from one batch of games after another, after so many `games`."""

    @abc.abstractmethod
    def now(self) -> Evaluation:
        """Return the evaluation that has learned so far."""

    @abc.abstractmethod
    def progress(self, line: dict[str, Any]) -> str:
        """Return the state of the run after a batch as a progress line."""

    @abc.abstractmethod
    def write(self, path: Path, line: dict[str, Any]) -> None:
        """Write the learner of now to a file, after the batch of this line."""

    @abc.abstractmethod
    def summary(self, path: Path, line: dict[str, Any]) -> list[str]:
        """Return what was learned, in the file of this path, as lines."""

    @abc.abstractmethod
    def match(self, path: Path) -> tuple[str, str]:
        """Return what a match of the learned file shows, and its command."""

    def play(self, folder: Path, playing: Running | None) -> RunResult:
        """See `Run`."""
        files = Folder(folder, self.learned, self.others(), self.display.note)
        started, written = time.process_time(), time.monotonic()
        try:
            if files.restore(self.learner):
                # the number of games may have changed
                write_config(folder, self.section, self.settings)
            else:
                files.checkpoint(self.learner)
            last = (files.history() or [{"games": 0, "cpu_seconds": 0.0}])[-1]
            spent = last["cpu_seconds"]
            self.note_games(last["games"])
            self.display.note(f"{self.text()}, {self.settings.games:,} games, in {folder}")
            self.display.begin(self.doing, self.settings.games)
            with interrupts() as asked:
                for line, pieces in self.batches(folder, last["games"], playing, asked):
                    measured, aside = None, 0.0
                    if self.measurement:
                        if self.measurement.due(last["games"], line["games"]):
                            measured = self.measurement.of(self.now(), asked)
                        line |= {self.measurement.key: measured.plain} if measured else {}
                        aside = self.measurement.seconds
                    line["cpu_seconds"] = round(spent + time.process_time() - started - aside, 3)
                    if measured:  # before the line that tells of it
                        (folder / CHECKPOINTS).mkdir(exist_ok=True)
                        self.write(folder / CHECKPOINTS / f"{line['games']}.yaml", line)
                    files.append(self.learner, line, *pieces)
                    last = line
                    if measured:
                        self.display.note(f"after {line['games']:,} games: {measured.text}")
                    self.display.playing(self.progress(line), line["games"])
                    if time.monotonic() - written > WRITE_SECONDS:
                        self.write(folder / self.learned, line)
                        written = time.monotonic()
                interrupted = asked.is_set() and last["games"] < self.settings.games
            for path in filter(None, (folder / self.learned, self.output)):
                self.write(path, last)
        finally:
            files.close()
        return self._result(folder, last, interrupted)

    def _result(self, folder: Path, last: dict[str, Any], interrupted: bool) -> RunResult:
        output = self.output or folder / self.learned
        plain = {
            "command": self.command,
            "folder": str(folder),
            "output": str(output),
            "interrupted": interrupted,
            **last,
        }
        lines = self.summary(output, last)
        if interrupted:
            lines.append(self.advice(folder))
        else:
            shows, plain["match"] = self.match(output)
            lines.append(f"{shows}: {plain['match']}")
        return RunResult(lines, plain, interrupted)
