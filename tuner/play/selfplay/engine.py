"""Learning from the games that a program plays as an engine, against anyone: TD-Leaf(lambda) from
the leaves of its own searches, as EXchess and KnightCap did.

The server of the protocol tells a `Watcher` of positions, searches and the ends of games; each game
is a batch of a run of self-play, whose store, checkpoints and report it has. Results that the
engine did not learn, as UCI tells it none, are told later by the file that a match runner wrote."""

import bisect
import contextlib
import itertools
import queue
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from games.record import Game, ReadOptions, ReadReport
from games.search.searcher import Found
from tuner.core.records import InputError
from tuner.core.store import Store
from tuner.core.text import plural
from tuner.evaluation.evaluation import load_evaluation
from tuner.evaluation.explain import leaf_of
from tuner.io.run_folder import kind_of, read_settings
from tuner.io.terminal import Display
from tuner.options.selfplay import OTHERS, SelfplaySettings
from tuner.parallel import POLL_SECONDS, Job, Running
from tuner.play.game import Ending
from tuner.play.run import new_run, resumed_run
from tuner.play.selfplay.folder import (
    Folder,
    read_episodes,
    read_history,
    read_untold,
    require_begun_with,
)
from tuner.play.selfplay.games import Episode, Search, end_of, tree_of
from tuner.play.selfplay.learner import Saturated, Untold, WeightsLearner
from tuner.play.selfplay.run import Batch
from tuner.play.selfplay.weights import (
    PLAYED,
    WeightsRun,
    batch_line,
    noted_mistakes,
    points_of,
    texts_of,
)
from tuner.results.selfplay import SelfPlay

TAKEN_BACK = 4  # plies at most: a line that is shorter by more is another game
WRITTEN = 0.01  # of a weight, by which a file may differ from what was written into it
# mean square of the errors of a game below which it teaches nothing: Adam divides by the size of
# errors, so its step would be as large as any, and its momentum would repeat those of other games
NEGLIGIBLE = 1e-4
NEW = 2  # plies in which a line may differ, as after another reply than the one pondered on


class Opponent(NamedTuple):
    """The name and the rating of an opponent, as far as they are known."""

    name: str | None = None
    rating: float | None = None


class Watcher:
    """Turns what an engine plays into episodes; `learn` is called with each, and returns when it
    was learned from. `game` returns the game, once it is known."""

    def __init__(self, game: Callable[[], Game], learn: Callable[[Episode], None]) -> None:
        self._game, self._learn = game, learn
        self._line: Sequence[np.ndarray] = []
        self._searches: list[tuple[Sequence[np.ndarray], Found]] = []
        self._opponent = self._next = Opponent()

    def met(self, name: str | None, rating: float | None = None) -> None:
        """See `games.protocol.server.Watcher`."""
        self._next = Opponent(name, rating)
        if not self._searches:
            self._opponent = self._next

    def placed(self, line: Sequence[np.ndarray]) -> bool:
        """Take the positions of a game; return whether another game ended with that, and was
        learned from."""
        old = self._line
        shared = 0
        while shared < min(len(old), len(line)) and np.array_equal(old[shared], line[shared]):
            shared += 1
        same = shared >= min(len(old), len(line)) - NEW and len(line) >= len(old) - TAKEN_BACK
        learned = not (same and shared) and self.ended()
        self._line = line
        return learned

    def searched(self, line: Sequence[np.ndarray], found: Found) -> None:
        """Take a search of the last position of a line, whose move is played."""
        if found.pv:
            self._searches.append((line, found))

    def abandoned(self) -> None:
        """See `games.protocol.server.Watcher`."""
        self._line, self._searches, self._opponent = [], [], self._next

    def ended(
        self, outcome: float | None = None, own: float | None = None, reason: str = ""
    ) -> bool:
        """See `games.protocol.server.Watcher`; without a known outcome it is that of the board, if
        the game is over there."""
        line = list(self._line)
        # searches of moves that were taken back, or pondered on in vain, are of no game
        last = {
            len(part) - 1: found
            for part, found in self._searches
            if len(part) <= len(line) and np.array_equal(part[-1], line[len(part) - 1])
        }
        opponent = self._opponent
        self._line, self._searches, self._opponent = [], [], self._next
        if not last:
            return False
        game, played = self._game(), last.get(len(line) - 1)
        if played is not None:  # its move was played; what followed is not known
            line.append(game.play(line[-1], played.pv[0]))
        if own is not None:
            second = game.second_to_move(line[max(last)])
            outcome = -own if second else own
        on_board = game.result(line)
        result = on_board if outcome is None else outcome
        if result is None and max(last) == 0:  # a match runner tries the engine: nobody answered
            return False
        told = None if result == on_board else reason
        episode = episode_of(game, line, last, result)
        self._learn(replace(episode, told=told, opponent=opponent.name, rating=opponent.rating))
        return True


def episode_of(
    game: Game, line: Sequence[np.ndarray], found: dict[int, Found], outcome: float | None
) -> Episode:
    """Return a game, of which some plies were searched, as an episode."""
    moves = [_move_between(game, *pair) for pair in zip(line, line[1:], strict=False)]
    none = np.zeros((0, 0), np.uint64)
    searches = []
    for ply in sorted(found):
        here, search = line[ply], found[ply]
        expected = search.pv[1] if len(search.pv) > 1 and moves[ply] == search.pv[0] else None
        turn = int(game.second_to_move(here))
        explored = moves[ply] != search.pv[0]
        leaf = leaf_of(game, here, search)
        searches.append(Search(ply, turn, leaf, none, explored, expected))
    sides = {search.turn for search in searches}
    return Episode(
        0,
        np.array(line),
        moves,
        0,
        np.array([search.ply for search in searches], np.int64),
        np.array([search.leaf.words for search in searches], np.uint64),
        np.array([search.leaf.score for search in searches], float),
        np.array([search.leaf.known for search in searches], float),
        np.array([search.explored for search in searches], bool),
        np.array([moves[s.ply + 1 : s.ply + 2] == [s.expected] for s in searches], bool),
        outcome,
        end_of(Ending("", outcome)),
        tree_of([], game.words),
        sides.pop() if len(sides) == 1 else None,
    )


def _move_between(game: Game, before: np.ndarray, after: np.ndarray) -> int:
    """Return the move from one position to the next."""
    return next(
        move for move in game.legal_moves(before) if np.array_equal(game.play(before, move), after)
    )


class EngineRun(WeightsRun):
    """A run whose games come from outside, one after another; `learned` is called with the weights
    (stages, columns) that play from then on, `say` with a line about games that taught nothing."""

    command = "learning while playing"  # of what the learned file says

    def __init__(
        self,
        settings: SelfplaySettings,
        output: Path,
        display: Display,
        learned: Callable[[np.ndarray], None],
        say: Callable[[str], None],
    ) -> None:
        super().__init__(settings, None, display)
        self._file, self._learned, self._say = output, learned, say
        self._games: queue.SimpleQueue[Episode | None] = queue.SimpleQueue()
        self._idle = threading.Event()
        self.begun = self._stopped = False

    def job(self) -> Job | None:
        """See `Run`."""
        return None

    def require_output(self, folder: Path | None) -> None:
        """See `Run`: its file is the start, or was checked before."""

    def learn(self, episode: Episode) -> None:
        """Learn from a game, in the thread of the run, and wait until that is done."""
        if self._stopped:
            return
        self._idle.clear()
        self._games.put(episode)
        self._idle.wait()

    def known_game(self) -> Game:
        """Return its game, once it can learn."""
        self._idle.wait()
        return self.game

    def stop(self, problem: Exception) -> None:
        """Learn from no further game: the program plays on as it is."""
        self._say(f"learning has stopped, and the weights stay as they are: {problem}")
        self._stopped = True
        self._idle.set()

    def end(self) -> None:
        """No further game follows."""
        self._games.put(None)

    def batches(
        self,
        files: Folder,
        last: dict[str, Any],
        playing: Running | None,
        interrupted: threading.Event,
    ) -> Iterator[Batch]:
        """See `LearningRun`. Games wait in the store until there are enough for a batch; then the
        file is replaced, once the batch is stored."""
        learner, games, line = self.learner, last["games"], last
        kept = read_episodes(files.path, self.game.words)
        waiting = [kept[number] for number in sorted(kept) if number >= games]
        while True:
            self._require_own(files)
            if games or not self._file.exists():
                self.write(self._file, line)
                files.note_written(self._file, learner.average)
            self._learned(learner.average)
            self.begun = True
            while len(waiting) < self.settings.batch:
                self._idle.set()
                if (episode := self._next(interrupted)) is None:
                    return
                waiting.append(replace(episode, number=games + len(waiting)))
                if len(waiting) < self.settings.batch or episode.outcome is None:
                    files.keep(waiting[-1])
            batch, waiting = waiting, []
            if any(episode.outcome is None for episode in batch):
                files.note_untold(Untold(learner.weights, games))
            try:
                watched = learner.learn(batch, NEGLIGIBLE)
            except Saturated:
                what = "this game" if len(batch) == 1 else f"{len(batch)} games"
                self._say(f"nothing is learned from {what}: most of the positions are won or lost")
                for episode in batch:
                    files.drop(episode.number)
                continue
            games += len(batch)
            line = batch_line(learner, batch, 0, watched, games)
            line |= {PLAYED: points_of(batch), **noted_mistakes(learner.evaluation, batch)}
            yield line, texts_of(self.game, batch, time.strftime("%Y.%m.%d")), []

    def _next(self, interrupted: threading.Event) -> Episode | None:
        """Wait for the next game; None if there is none."""
        while not interrupted.is_set():
            with contextlib.suppress(queue.Empty):
                return self._games.get(timeout=POLL_SECONDS)
        return None

    def _require_own(self, files: Folder) -> None:
        """InputError for a file that has other weights than this run wrote into it."""
        if self._file.exists() and not is_own(self._file, files, self.learner):
            raise InputError(
                f"{self._file}: has other weights than those learned in {files.path}; put"
                f" {files.path / self.learned} back, or remove the folder to learn from these"
            )


def is_own(file: Path, files: Folder, learner: WeightsLearner) -> bool:
    """Return whether a file has the weights that a run learned last or, if it was killed, before
    that; else they are an author's, or those of another program."""
    weights = load_evaluation(file, learner.settings.terms).weights
    known = [learner.evaluation.weights, *learner.kept.values()]
    known += [] if (written := files.written()) is None else [written[1]]
    return any(
        weights.shape == each.shape and np.allclose(weights, each, atol=WRITTEN) for each in known
    )


def learn_while_playing(
    output: Path,
    folder: Path,
    settings: SelfplaySettings,
    learned: Callable[[np.ndarray], None],
    serve: Callable[[Watcher], None],
    say: Callable[[str], None],
    command: str,
    typed: Collection[str] = (),
) -> None:
    """Serve a protocol in another thread, and learn here from the games that it plays.

    The run in the folder goes on if there is one, else it begins with the start of the settings.
    `output` is replaced after each game, and `learned` called with the weights that play from then
    on, once before the first. Where learning fails later, `say` is called with the reason, the
    program plays on with the weights that it has, and the problem is raised at its end. InputError
    for what cannot learn, of another program that learns into the folder, and of `typed` settings
    that are not those of the run that goes on."""
    problems: list[BaseException] = []
    begun: list[tuple[EngineRun, threading.Thread]] = []

    def begin(settings: SelfplaySettings, none: Path | None, display: Display) -> EngineRun:
        run = EngineRun(settings, output, display, learned, say)

        def work() -> None:
            try:
                serve(Watcher(run.known_game, run.learn))
            except BaseException as problem:
                problems.append(problem)
            finally:
                run.end()

        begun.append((run, threading.Thread(target=work, daemon=True)))
        begun[0][1].start()
        return run

    display, kind = Display(), kind_of(folder)
    if kind:
        known = read_settings(folder, EngineRun.section, EngineRun.kind)
        if known.opponents != (OTHERS,):
            raise InputError(
                f"{folder}: a run of `tuner selfplay`; name another folder for what is learned"
            )
        require_begun_with(folder, known, settings, typed)
    try:
        if kind:
            resumed_run(EngineRun, folder, None, None, display, make=begin)
        else:
            new_run(begin(settings, None, display), folder, None, command)
    except Exception as problem:
        if not kind and isinstance(problem, InputError) and kind_of(folder):
            problem = InputError(
                f"{folder}: another program began to learn there at the same moment; name another"
                " folder with --run"
            )
        for run, serving in begun:
            if run.begun:
                run.stop(problem)
                serving.join()
        raise problem
    if problems:
        raise problems[0]


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
    episodes = []
    for batch in game.files.read(source, ALL, ReadReport(), display.note):
        for k, (first, end) in enumerate(batch.ranges):
            for length in range(end - first, end - first - LONGER - 1, -1):
                line = batch.positions[first : first + length]
                if length not in lengths or not (same := waiting[length, line.tobytes()]):
                    continue
                forfeit = batch.forfeits is not None and bool(batch.forfeits[k])
                outcome, told = float(batch.outcomes[first]), "forfeit" if forfeit else ""
                episodes.append(replace(same.pop(0), outcome=outcome, told=told))
                break
    return episodes


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
