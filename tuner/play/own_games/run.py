"""`tuner games`, from settings to a folder of games and its summary."""

import shlex
import time
from pathlib import Path

from tuner.core.store import Store
from tuner.core.text import plural
from tuner.evaluation.evaluation import Evaluation
from tuner.io.interrupt import interrupts
from tuner.io.run_folder import change_settings
from tuner.io.terminal import Display
from tuner.options.games import SECTION, GamesSettings
from tuner.parallel import Job, Running
from tuner.play.own_games.parts import Parts, finished
from tuner.play.own_games.play import START, games_job, prepared
from tuner.play.run import Run
from tuner.results.own_games import Counts, OwnGames


def progress_text(counts: Counts, rate: float) -> str:
    """Return the games played as a progress line; `rate` is the number of games a second of this
    process."""
    games = counts["games"][0]
    draws = (
        f", {counts['outcomes'][1] / games:.0%} drawn, {counts['plies'][0] / games:.0f} plies a"
        " game"
        if games
        else ""
    )
    return f"{games:,} games saved, {rate:.1f} games a second{draws}"


OF_A_PROCESS = 10  # games that an engine plays before it is started again
AHEAD = 4  # games submitted for each thread, so that threads do not idle


class OwnGamesRun(Run[OwnGames]):
    """Games of an evaluation against its copies, or of an engine against itself. `start` is the
    evaluation that plays, if it differs from the settings."""

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

    def play(self, store: Store, playing: Running | None) -> OwnGames:
        """See `Run`. Only parts that are not there are played."""
        assert playing is not None, "its games are work"
        settings, display = self.settings, self.display
        parts = Parts(store, self.game.files, settings.games, settings.part, display.note)
        change_settings(store, settings)
        before = parts.counts["games"][0]
        self.note_games(before)
        display.note(f"{settings.words}{plural(settings.games, 'game')}")
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
        return self._result(store.folder, parts, before, time.monotonic() - started)

    def _result(self, folder: Path, parts: Parts, before: int, seconds: float) -> OwnGames:
        """Return the result. Speed is that of this process, over the games that it saved."""
        new, interrupted = parts.counts["games"][0] - before, bool(parts.missing())
        evaluation, settings = self._prepared.evaluation, self.settings
        tune = None
        if evaluation is not None and not interrupted:
            words = evaluation.tuned_by(settings.start, str(folder))
            terms = [word for path in settings.terms for word in ("--terms", path)]
            tune = shlex.join([*words, *terms])
        return OwnGames(
            settings=settings,
            sides=self.game.wording.sides,
            counts=parts.counts,
            bytes=parts.bytes,
            speed=new / max(seconds, 1e-3) if new else None,
            by_engine=self._prepared.recipe.engine is not None,
            unfinished=parts.dropped[0],
            repeated=parts.dropped[1],
            tune=tune,
            run=str(folder),
            interrupted=interrupted,
            advice=self.advice(folder),
        )
