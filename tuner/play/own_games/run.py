"""`tuner games`, from settings to a folder of games: files of whole parts, and a line about each in
`history.jsonl`."""

from __future__ import annotations

import shlex
import time
from pathlib import Path

from tuner.evaluation.evaluation import Evaluation
from tuner.io.interrupt import interrupts
from tuner.io.run_folder import write_config
from tuner.io.terminal import Display
from tuner.options.games import SECTION, GamesSettings
from tuner.parallel import Job, Running
from tuner.play.own_games.finished import finished
from tuner.play.own_games.parts import Parts
from tuner.play.own_games.play import games_job
from tuner.play.own_games.recipe import START, prepared
from tuner.play.own_games.totals import counts_lines, dropped_lines, progress_text
from tuner.play.run import Run, RunResult

OF_A_PROCESS = 10  # games that an engine plays before it is started again
AHEAD = 4  # games submitted for each thread, so that threads do not idle


class OwnGamesRun(Run):
    """Games of an evaluation against its copies, or of an engine against itself. `start` is the
    evaluation that plays, if it is not that of the settings."""

    command = section = SECTION
    kind, what, ahead = GamesSettings, "games", AHEAD

    def __init__(
        self,
        settings: GamesSettings,
        output: Path | None,
        display: Display,
        start: Evaluation | None = None,
    ) -> None:
        super().__init__(settings, output, display)
        self.start = start

    def require_output(self, folder: Path | None) -> None:
        """See `Run`. The folder is all that is written."""

    def load(self, folder: Path | None) -> str | None:
        """See `Run`. InputError for an evaluation that has no search, and for a game with dice or
        without files of games."""
        self._prepared = prepared(self.settings, folder, self.start, self.display.note)
        self.game = self._prepared.game
        return self._prepared.program

    def job(self) -> Job:
        """See `Run`."""
        return games_job(self._prepared.recipe)

    @property
    def _at_once(self) -> int:
        return 1 if self._prepared.recipe.engine is None else OF_A_PROCESS

    def place(self, folder: Path) -> None:
        """See `Run`."""
        if self._prepared.evaluation is not None:
            self._prepared.evaluation.place(folder / START, None)

    def play(self, folder: Path, playing: Running | None) -> RunResult:
        """See `Run`. Only parts that are not there are played."""
        assert playing is not None, "its games are work"
        settings, display = self.settings, self.display
        parts = Parts(folder, self.game.files, settings.games, settings.part, display.note)
        try:
            parts.write_history()
            write_config(folder, SECTION, settings)  # the number of games may have changed
            before = parts.counts["games"][0]
            self.note_games(before)
            display.note(f"{settings.words}{settings.games:,} games")
            display.begin("playing", settings.games)
            started = time.monotonic()
            with interrupts() as interrupted:
                for done in finished(
                    parts, self._prepared.book, playing, interrupted, display, self._at_once
                ):
                    display.playing(
                        progress_text(parts.counts, done / max(time.monotonic() - started, 1e-3)),
                        before + done,
                    )
                playing.end()
            return self._result(folder, parts, before, time.monotonic() - started)
        finally:
            parts.close()

    def _result(self, folder: Path, parts: Parts, before: int, seconds: float) -> RunResult:
        """Return what is said at the end. Speed is that of this process, over the games that it
        saved."""
        settings, games, interrupted = (
            self.settings,
            parts.counts["games"][0],
            bool(parts.missing()),
        )
        speed = (
            f", {(games - before) / max(seconds, 1e-3):.1f} games a second"
            if games > before
            else ""
        )
        lines = [
            f"wrote {games:,} games to {folder}: {parts.bytes / 1e6:,.1f} MB{speed}",
            *counts_lines(parts.counts, settings, self.game.wording.sides),
            *dropped_lines(*parts.dropped),
        ]
        plain = {
            "command": "games",
            "folder": str(folder),
            "interrupted": interrupted,
            "bytes": parts.bytes,
            **{key: value[0] if len(value) == 1 else value for key, value in parts.counts.items()},
        }
        if self._prepared.recipe.engine:  # which is on both sides
            plain["unfinished"], plain["repeated"] = parts.dropped
            del plain["own"]
        if interrupted:
            lines.append(self.advice(folder))
        elif self._prepared.evaluation is None:
            lines.append(
                f"learn from them: tuner dataset {shlex.quote(str(folder))} --engine COMMAND"
                " --params FILE -o ROWS, where COMMAND prints what your engine counts"
            )
        else:
            words = self._prepared.evaluation.tuned_by(settings.start, str(folder))
            plain["tune"] = shlex.join(
                [*words, *(word for path in settings.terms for word in ("--terms", path))]
            )
            lines.append(f"learn from them: {plain['tune']}")
        return RunResult(lines, plain, interrupted)
