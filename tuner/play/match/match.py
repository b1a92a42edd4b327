"""Runs of pairs of games: `tuner match` from players to a result, and what it shares with
tournaments."""

import abc
import contextlib
import itertools
import os
import tempfile
import threading
import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from games.record import Game
from games.streams import InputError
from tuner.core.store import Store, read_blob
from tuner.evaluation.evaluation import copy_evaluation
from tuner.io.files import GAMES, require_writable
from tuner.io.interrupt import interrupts
from tuner.io.run_folder import change_settings, read_told, this_place
from tuner.io.terminal import Pace
from tuner.options.match import SECTION, MatchSettings
from tuner.parallel import Job, Running, run
from tuner.play.match.journal import Journal, PairLine
from tuner.play.match.pairs import (
    BLOCK,
    MatchPlayers,
    MatchSpec,
    Pair,
    PairTask,
    block_text,
    play_block,
)
from tuner.play.match.setup import (
    LUCK_COPY,
    AnySettings,
    Contestants,
    changed_files,
    contestants_of,
    openings_of,
    test_of,
)
from tuner.play.match.tally import (
    Tally,
    fault_hints,
    first_forfeit_text,
    ladder_of,
    progress_text,
    result_of,
)
from tuner.play.players import EVALUATION, PlayerSpec, require_able, understood
from tuner.play.rules import rules_of
from tuner.play.run import Found, Run
from tuner.results.match import MatchResult
from tuner.statistics.sprt import Sprt

OUTPUT = "pgn"  # name in the store: of the path of the file of games


@dataclass(frozen=True)
class Score:
    """The tallies of all legs, and the finished pairs by leg and number."""

    tallies: list[Tally]
    done: dict[tuple[int, int], PairLine] = field(default_factory=dict)

    def add(self, line: PairLine) -> None:
        """Count a pair."""
        self.tallies[line.leg].add(line)
        self.done[line.leg, line.pair] = line

    def decided(self) -> bool:
        """Return whether the test has decided."""
        return self.tallies[0].decision is not None

    def counted(self) -> list[PairLine]:
        """Return the pairs that were counted, in order."""
        return [
            line
            for (leg, number), line in sorted(self.done.items(), key=lambda item: item[0])
            if self.tallies[leg].counts(number)
        ]


def blocks_left(
    legs: int,
    pairs: int | None,
    done: Collection[tuple[int, int]],
    stop: Callable[[], bool],
    size: int = 1,
    wanted: Callable[[int], bool] = lambda leg: True,
) -> Iterator[list[tuple[int, int]]]:
    """Yield blocks of `size` pairs (leg, pair number) to play, one block of each leg in turn; none
    of a leg of which no more are `wanted`. A block of which some pairs are done is played whole, so
    that its games do not depend on interruptions."""
    for first in itertools.count(0, size) if pairs is None else range(0, pairs, size):
        last = first + size if pairs is None else min(pairs, first + size)
        for leg in range(legs):
            if stop():
                return
            block = [(leg, number) for number in range(first, last)]
            if not all(pair in done for pair in block) and wanted(leg):
                yield block


class PlayersRun(Run[Found]):
    """Games between players, who are copied into the folder. The output is a file of games; without
    a folder the run cannot be resumed."""

    settings: AnySettings
    kept = False  # whether its folder is
    more = False  # whether the number of games has changed
    game: Game
    legs: list[tuple[PlayerSpec, PlayerSpec]]
    luck: PlayerSpec | None

    @abc.abstractmethod
    def make_players(self, folder: Path | None) -> str | None:
        """Make `game`, `legs` and `luck`; return the name of the terms, None without any."""

    def made_of_two(self, settings: MatchSettings, folder: Path | None) -> Contestants:
        """Do the same for the players of a match, and return them."""
        contestants = contestants_of(settings, folder)
        self.game, self.legs, self.luck = contestants.game, contestants.legs, contestants.luck
        if folder is None:
            a, b = contestants.legs[0]
            self.settings = replace(settings, names=(a.name, b.name))
        return contestants

    def set_games(self, games: int) -> None:
        """See `Run`. InputError for fewer than before, of which some may have been played."""
        before = self.settings.games
        if games % 2 or before is None or games < before:
            raise InputError(
                f"--games {games}: expected an even number of {before or 2} or more, as many as the"
                f" {self.what} began with"
            )
        self.more = True
        super().set_games(games)

    def require_output(self, folder: Path | None) -> None:
        """See `Run`. A run that is resumed completes the file that it has been told of."""
        settings, self.kept = self.settings, folder is not None
        if self.output is None and folder is not None and (told := read_told(folder)):
            remembered = read_blob(folder, OUTPUT) if told.place == this_place() else None
            self.output = Path(os.fsdecode(remembered)) if remembered else None
        if self.output is not None:
            texts = (entrant.text for entrant in settings.entrants)
            require_writable(
                self.output, GAMES, (*texts, settings.openings, *settings.files), folder
            )

    def load(self, folder: Path | None) -> str | None:
        """See `Run`."""
        if folder and (changed := changed_files(self.settings)):
            raise InputError(
                f"{changed[0]}: has changed since the {self.what} began; put it back, or"
                f" start another {self.what}"
            )
        terms = self.make_players(folder)
        self.openings = openings_of(self.settings, self.game, self.display.note)
        require_able(itertools.chain(*self.legs), self.game, self.openings.starts)
        if self.output is not None and self.game.files.game_text is None:
            raise InputError(f"{self.game.name} has no text of games to write")
        return terms

    def job(self) -> Job:
        """See `Run`."""
        settings, text = (
            self.settings,
            self.game.files.game_text is not None and (self.kept or self.output is not None),
        )
        return Job(
            MatchPlayers,
            play_block,
            MatchSpec(
                game=self.game.name,
                rules=rules_of(settings, bool(settings.restart)),
                legs=tuple(self.legs),
                text=text,
                date=time.strftime("%Y.%m.%d"),
                luck=self.luck,
                affinity=settings.affinity,
                event=f"tuner {self.command}",
            ),
            block_text,
        )

    @contextlib.contextmanager
    def begin(self, folder: Path | None, command: str) -> Iterator[Store]:
        """See `Run`; in a temporary folder if none is given."""
        self.openings.opening(0)  # an error in them is reported before any game
        with contextlib.ExitStack() as opened:
            if folder is None:
                name = opened.enter_context(tempfile.TemporaryDirectory(prefix="evaltune-"))
                yield opened.enter_context(Store(Path(name)))
            else:
                yield opened.enter_context(super().begin(folder, command))

    def place(self, folder: Path) -> None:
        """Copy the files of the players, and of the evaluation that measures luck."""
        copies = [(entrant.text, entrant.copy) for entrant in self.settings.entrants]
        if self.settings.luck:
            copies.append((self.settings.luck, LUCK_COPY))
        for text, copy in copies:
            named = understood(text)
            if named.kind == EVALUATION:
                copy_evaluation(Path(named.what), folder / copy)


class PairsRun(PlayersRun[Found]):
    """Pairs of games: of a match, or of a tournament."""

    @property
    def test(self) -> Sprt | None:
        """The sequential test of the first leg."""
        return None

    @abc.abstractmethod
    def progress(self, score: Score, rate: float | None) -> str:
        """Return the score so far, in one line; `rate` are pairs a second."""

    @abc.abstractmethod
    def result(self, score: Score, **about: Any) -> Found:
        """Return the result; `about` are the fields of all results."""

    def wanted(self, score: Score) -> Callable[[int], bool]:
        """Return whether more pairs of a leg are wanted, given the pairs played so far."""
        return lambda leg: True

    def play(self, store: Store, playing: Running | None) -> Found:
        """See `Run`. Every pair counts from its record in the store, those of earlier runs
        alike."""
        assert playing is not None, "its games are work"
        points, test = self.game.points, self.test
        score = Score([Tally(None if leg else test, points) for leg in range(len(self.legs))])
        journal = self._journal(store)
        reported: set[tuple[str, str]] = set()
        try:
            self._take_up(store, journal, score)
            pace = Pace(None)
            pace.begin_at(len(score.done))
            with interrupts() as interrupted:
                played = self._played(playing, score, interrupted)
                for pair in played:
                    journal.append(pair.line, pair.texts)
                    score.add(pair.line)
                    self._note_forfeits(pair.line, reported)
                    done = len(score.done)
                    self.display.playing(self.progress(score, pace.rate(done)), done)
                    if score.decided():
                        break
                playing.end()
            if self.output is not None:
                journal.write_games(score.counted(), self.output)
        finally:
            journal.close()
        return self._result(score, store.folder, interrupted.is_set())

    @property
    def _pairs(self) -> int | None:
        """The number of pairs of each leg; None without a limit."""
        return None if self.settings.games is None else self.settings.games // 2

    def _journal(self, store: Store) -> Journal:
        """Return the journal of pairs, and of the files of their games."""
        game = self.game
        own = [store.folder / f"games{game.files.suffixes[0]}"] if self.kept else []
        outputs = [*own, *([self.output] if self.output else [])]
        return Journal(
            store,
            outputs if game.files.game_text is not None else (),
            len(self.legs),
            self._pairs,
            game.points,
            game.files.session,
        )

    def _take_up(self, store: Store, journal: Journal, score: Score) -> None:
        """Count the pairs of earlier runs, and say where this one begins."""
        if self.more:
            change_settings(store, self.settings)
        if self.output is not None:
            store.put(OUTPUT, os.fsencode(os.path.abspath(self.output)))
        for line in journal.lines:
            score.add(line)
        self.openings.known(
            {line.pair: line.opening for line in journal.lines if line.opening is not None}
        )
        self.note_games(len(score.done), "pairs")
        pairs = self._pairs
        total = None if pairs is None or self.test else pairs * len(self.legs)
        self.display.begin("playing", total)

    def _played(
        self, playing: Running, score: Score, interrupted: threading.Event
    ) -> Iterator[Pair]:
        """Play the pairs that are left, and yield those that are not known."""
        if score.decided():
            return
        known, size = frozenset(score.done), BLOCK if self.settings.restart else 1
        left = blocks_left(
            len(self.legs), self._pairs, known, score.decided, size, self.wanted(score)
        )
        tasks = (
            [PairTask(leg, number, self.openings.opening(number)) for leg, number in block]
            for block in left
        )
        for block in run(playing, tasks, interrupted):
            for pair in block:
                if (pair.line.leg, pair.line.pair) not in known:
                    yield pair

    def _note_forfeits(self, line: PairLine, reported: set[tuple[str, str]]) -> None:
        """Say of a player's fault when it is the first of its kind; add it to those reported."""
        players = self.legs[line.leg]
        for forfeit in filter(None, line.forfeits):
            fault = (players["ab".index(forfeit[0])].name, forfeit[2:])
            if fault not in reported:
                reported.add(fault)
                self.display.note(first_forfeit_text(forfeit, players))

    def _result(self, score: Score, folder: Path, interrupted: bool) -> Found:
        kept = folder if self.kept else None
        return self.result(
            score,
            interrupted=interrupted,
            run=str(kept) if kept else None,
            pgn=str(self.output) if self.output else None,
            advice=self.advice(kept),
        )


class MatchRun(PairsRun[MatchResult]):
    """A match between two players, and the baselines of its ladder."""

    command = section = SECTION
    kind, what = MatchSettings, "match"
    settings: MatchSettings

    def make_players(self, folder: Path | None) -> str | None:
        """See `PlayersRun`."""
        self.contestants = self.made_of_two(self.settings, folder)
        return self.contestants.program

    @property
    def test(self) -> Sprt | None:
        """See `PairsRun`."""
        return test_of(self.settings, self.game)

    def progress(self, score: Score, rate: float | None) -> str:
        """See `PairsRun`."""
        games = self.settings.games
        most = None if games is None else games // 2
        return progress_text(score.tallies[0], self.test, self.game, rate, most)

    def result(self, score: Score, **about: Any) -> MatchResult:
        """See `PairsRun`."""
        tally = score.tallies[0]
        return result_of(
            self.settings,
            self.game,
            tally,
            self.test,
            ladder=ladder_of(self.settings, self.contestants, score.tallies),
            hints=fault_hints(tally.faults, self.legs[0]),
            **about,
        )
