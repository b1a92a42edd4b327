"""Self-play that learns, batch after batch: of weights or of a network.

In games without dice its strength is measured by pairs of games from the same openings each time,
which differ from the training games."""

import abc
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

from games.record import Control, Game
from games.system import available_cpus
from tuner.core.records import to_json
from tuner.core.store import Store
from tuner.evaluation.evaluation import Evaluation, quiescence_of
from tuner.io.interrupt import interrupts
from tuner.io.run_folder import CHECKPOINTS, change_settings
from tuner.options.selfplay import SelfplaySettings
from tuner.parallel import Job, OnThreads, Running, run
from tuner.play.match.journal import PairLine
from tuner.play.match.pairs import MatchPlayers, MatchSpec, PairTask, pair_text, play_pair
from tuner.play.openings import JUDGE, Generator, start_of
from tuner.play.players import make_player, search_player
from tuner.play.rules import GameRules
from tuner.play.run import Run
from tuner.play.selfplay.folder import Folder, SavedLearning, read_history
from tuner.play.selfplay.measure import Measurement, due
from tuner.play.selfplay.settings import player_named
from tuner.results.selfplay import MeasuredMatch, SelfPlay

SEED = 1 << 41  # added to the seed of a run, for openings of its own
MEGABYTES = 1


class MeasuredMatches(list[MeasuredMatch]):
    """What a measurement found: a match with each opponent."""

    @property
    def text(self) -> str:
        """In a line."""
        return "; ".join(match.text for match in self)


class MatchMeasurement:
    """Measures an evaluation by matches against the players of the settings. `seconds` of CPU time
    went into it. InputError for players that cannot play here."""

    key = "matches"  # of a line of the history

    def __init__(
        self, evaluation: Evaluation, settings: SelfplaySettings, note: Callable[[str], None]
    ) -> None:
        game, self._settings, self.seconds = evaluation.game, settings, 0.0
        self._control = Control(depth=settings.depth, nodes=settings.nodes)
        self._opponents = [
            player_named("--measure", name, game, settings, self._control)
            for name in settings.measure
        ]
        for opponent in self._opponents:
            make_player(opponent, game).close()  # engines start
        plies = game.usual.match_random_plies
        judge = quiescence_of(game, JUDGE).searcher(megabytes=MEGABYTES) if plies else None
        openings = Generator(game, plies, settings.seed + SEED, judge, note)
        self._openings = openings if plies else start_of(game)

    def due(self, before: int, games: int) -> bool:
        """Return whether to measure after `games` games, if there were `before` a batch earlier."""
        return due(self._settings, before, games)

    def measured(
        self, evaluation: Evaluation, interrupted: threading.Event | None = None
    ) -> MeasuredMatches | None:
        """Measure an evaluation; None if that was interrupted."""
        settings, begun = self._settings, time.process_time()
        learner = search_player("learner", evaluation, self._control, MEGABYTES)
        spec = MatchSpec(
            game=evaluation.game.name,
            rules=GameRules(plies=settings.measure_plies or 0, seed=settings.seed),
            legs=tuple((learner, opponent) for opponent in self._opponents),
        )
        pairs = settings.measure_games // 2
        tasks = (
            PairTask(leg, number, self._openings.opening(number))
            for number in range(pairs)
            for leg in range(len(self._opponents))
        )
        executor = OnThreads(settings.workers or available_cpus())
        with executor.start(Job(MatchPlayers, play_pair, spec, pair_text)) as playing:
            lines = [pair.line for pair in run(playing, tasks, interrupted)]
        self.seconds += time.process_time() - begun
        if len(lines) < pairs * len(self._opponents):
            return None
        return MeasuredMatches(
            _match_of(opponent.name, [line for line in lines if line.leg == leg])
            for leg, opponent in enumerate(self._opponents)
        )


def _match_of(opponent: str, lines: Sequence[PairLine]) -> MeasuredMatch:
    games = [
        (outcome, plies)
        for line in lines
        for outcome, plies in zip(line.outcomes, line.plies, strict=True)
    ]
    won = sorted(plies for outcome, plies in games if outcome > 0)
    draws = sum(outcome == 0 for outcome, _ in games)
    return MeasuredMatch(opponent, len(games), len(won), draws, won)


WRITE_SECONDS = 5.0  # between two versions of the learned file
# the record of a batch, and the texts and the keys of its games
Batch = tuple[dict[str, Any], str, list[int]]


class LearningRun(Run[SelfPlay]):
    """A run that learns. `learned` is the file in its folder from which another can start, `doing`
    its state."""

    command = "selfplay"
    game: Game
    learned: str
    doing: ClassVar[str]
    learner: SavedLearning
    measurement: Measurement | MatchMeasurement | None

    @abc.abstractmethod
    def games_file(self) -> str | None:
        """Return the name of the file of games, None if they have no texts."""

    @abc.abstractmethod
    def text(self) -> str:
        """Return the settings in a few words."""

    @abc.abstractmethod
    def batches(
        self,
        files: Folder,
        last: dict[str, Any],
        playing: Running | None,
        interrupted: threading.Event,
    ) -> Iterator[Batch]:
        """Learn from one batch of games after another; `last` is the line of the last one."""

    @abc.abstractmethod
    def now(self) -> Evaluation:
        """Return the evaluation that has learned so far."""

    @abc.abstractmethod
    def progress(self, line: dict[str, Any]) -> str:
        """Return the state of the run after a batch as a progress line."""

    @abc.abstractmethod
    def write(self, path: Path, line: dict[str, Any]) -> None:
        """Write the present learner to a file, after the batch of this line."""

    def values(self) -> tuple[dict[str, float], dict[str, float]]:
        """Return values for the headline of the result, at the start and now."""
        return {}, {}

    def weights_file(self, path: Path) -> str | None:
        """Return the name of the file of weights beside the learned file, if there is one."""
        return None

    @abc.abstractmethod
    def match(self, path: Path) -> tuple[str, str]:
        """Return what a match of the learned file shows, and its command."""

    def play(self, store: Store, playing: Running | None) -> SelfPlay:
        """See `Run`."""
        folder, files = store.folder, Folder(store, self.learned, self.games_file())
        started, written = time.process_time(), time.monotonic()
        try:
            last = self._take_up(store, files)
            spent = last["cpu_seconds"]
            with interrupts() as asked:
                for line, text, keys in self.batches(files, last, playing, asked):
                    measures = self._measures(last, line)
                    measured = measures.measured(self.now(), asked) if measures else None
                    if measures and measured is None:  # the batch is learned again with --resume
                        files.restore(self.learner)
                        break
                    line |= {measures.key: to_json(measured)} if measures else {}
                    aside = self.measurement.seconds if self.measurement else 0.0
                    line["cpu_seconds"] = round(spent + time.process_time() - started - aside, 3)
                    if measured:  # before its line
                        (folder / CHECKPOINTS).mkdir(exist_ok=True)
                        self.write(folder / CHECKPOINTS / f"{line['games']}.yaml", line)
                    files.append(self.learner, line, text, keys)
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

    def _take_up(self, store: Store, files: Folder) -> dict[str, Any]:
        """Restore the learner, or keep that of a new run; return the line of the last batch."""
        folder = store.folder
        if files.restore(self.learner):
            change_settings(store, self.settings)
        else:
            files.checkpoint(self.learner)
        last = (read_history(folder) or [{"games": 0, "cpu_seconds": 0.0}])[-1]
        if not (folder / self.learned).exists():  # so that there is a report at any time
            self.write(folder / self.learned, last)
        self.note_games(last["games"])
        self.display.note(f"{self.text()}, in {folder}")
        self.display.begin(self.doing, self.settings.games)
        return last

    def _measures(
        self, last: dict[str, Any], line: dict[str, Any]
    ) -> Measurement | MatchMeasurement | None:
        """Return what measures the learner after this batch; None if nothing does."""
        measurement = self.measurement
        due = measurement and measurement.due(last["games"], line["games"])
        return measurement if due else None

    def _result(self, folder: Path, last: dict[str, Any], interrupted: bool) -> SelfPlay:
        output = self.output or folder / self.learned
        shows, match = self.match(output)
        before, now = self.values()
        return SelfPlay(
            settings=self.settings,
            output=str(output),
            last=last,
            in_points=self.game.in_points,
            before=before,
            now=now,
            weights_file=self.weights_file(output),
            shows=shows,
            match=None if interrupted else match,
            run=str(folder),
            interrupted=interrupted,
            advice=self.advice(folder),
        )
