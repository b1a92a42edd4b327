"""Results of games that an engine learned from without knowing them, told later by a file of games:
UCI tells an engine no results, the match runner writes them."""

from __future__ import annotations

import bisect
import itertools
import threading
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from games.record import Game, ReadOptions, ReadReport
from tuner.core.records import InputError
from tuner.core.store import Store
from tuner.core.text import plural
from tuner.io.terminal import Display
from tuner.options.selfplay import OTHERS, SelfplaySettings
from tuner.parallel import Job, Running
from tuner.play.selfplay.engine import NEGLIGIBLE, is_own
from tuner.play.selfplay.folder import Folder, read_episodes, read_history, read_untold
from tuner.play.selfplay.games import Episode
from tuner.play.selfplay.learner import Saturated
from tuner.play.selfplay.opponents import PLAYED, points_of
from tuner.play.selfplay.run import Batch
from tuner.play.selfplay.weights import WeightsRun, batch_line
from tuner.results.selfplay import SelfPlay

LONGER = 2  # plies at most by which a game of a file goes on after what the engine saw of it
TOLD = "told"  # of a line of the history: numbers of games whose results were learned
ALL = ReadOptions(positions="all", skip_start=0, duplicates="keep")


def told_games(game: Game, source: str, untold: list[Episode], display: Display) -> list[Episode]:
    """Return the games of which a file tells the results, with these. A game of the file is one of
    them if it begins with all of its positions; games that are alike are told in their order."""
    waiting = defaultdict[tuple[int, bytes], list[Episode]](list)
    for episode in untold:
        waiting[len(episode.line), episode.line.tobytes()].append(episode)
    lengths = {length for length, _ in waiting}
    found = []
    for batch in game.files.read(source, ALL, ReadReport(), display.note):
        ends = np.append(batch.first[1:], len(batch.positions))
        for k, (first, end) in enumerate(zip(batch.first, ends, strict=True)):
            for length in range(end - first, end - first - LONGER - 1, -1):
                line = batch.positions[first : first + length]
                if length not in lengths or not (same := waiting[length, line.tobytes()]):
                    continue
                forfeit = batch.forfeits is not None and bool(batch.forfeits[k])
                outcome, told = float(batch.outcomes[first]), "forfeit" if forfeit else ""
                found.append(replace(same.pop(0), outcome=outcome, told=told))
                break
    return found


class ToldRun(WeightsRun):
    """A run of an engine that learns, which is told the results of a file of games."""

    def __init__(
        self, settings: SelfplaySettings, output: Path | None, display: Display, source: str
    ) -> None:
        super().__init__(settings, output, display)
        self._source, self._told = source, (0, 0)

    def job(self) -> Job | None:
        """See `Run`. InputError for games whose results are known."""
        if self.settings.opponents != (OTHERS,):
            raise InputError(
                f"--results {self._source}: only games of an engine that learns (--learn) lack"
                " results"
            )
        return None

    def text(self) -> str:
        """See `LearningRun`."""
        return f"results of {self._source}"

    def play(self, store: Store, playing: Running | None) -> SelfPlay:
        """See `Run`."""
        return replace(super().play(store, playing), told=self._told)

    def batches(
        self,
        files: Folder,
        last: dict[str, Any],
        playing: Running | None,
        interrupted: threading.Event,
    ) -> Iterator[Batch]:
        """See `LearningRun`. What the results add to games that were learned from is learned."""
        known = {number for line in read_history(files.path) for number in line.get(TOLD, ())}
        untold = [
            episode
            for number, episode in read_episodes(files.path, self.game.words).items()
            if number < last["games"] and episode.outcome is None
        ]
        told = told_games(self.game, self._source, untold, self.display)
        told = [episode for episode in told if episode.number not in known]
        self._told = len(told), sum(episode.number not in known for episode in untold)
        learner, learned = self.learner, read_untold(files.path)
        told.sort(key=lambda episode: episode.number)
        begins = [batch.games for batch in learned]
        for batch, each in itertools.groupby(
            told, lambda episode: bisect.bisect_right(begins, episode.number) - 1
        ):
            if interrupted.is_set():
                return
            games = list(each)
            try:
                watched = learner.learn(games, NEGLIGIBLE, learned[batch])
            except Saturated:
                self.display.note(
                    f"nothing is learned from {plural(len(games), 'result')}: most of the positions"
                    " are won or lost"
                )
                continue
            last = batch_line(learner, games, 0, watched, last["games"])
            last |= {TOLD: [game.number for game in games], PLAYED: points_of(games)}
            yield last, "", []
        self._write_file_of_engine(files, last)

    def _write_file_of_engine(self, files: Folder, line: dict[str, Any]) -> None:
        """Write the file that the engine plays with, unless somebody else changed it."""
        path, _ = files.written() or (None, None)
        if path is None or not path.exists():
            return
        if not is_own(path, files, self.learner):
            self.display.note(f"{path}: has other weights than those learned, and stays as it is")
            return
        self.write(path, line)
        files.note_written(path, self.learner.average)
