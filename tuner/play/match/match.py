"""`tuner match` from players to a result: pairs of games as work for any process."""

from __future__ import annotations

import contextlib
import itertools
import tempfile
import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple, TypeVar

from games.record import FAULTS, Dice, Game, PlayedGame, Player, find
from games.streams import InputError
from tuner.evaluation.networks.files import weights_path
from tuner.io.files import GAMES, replace_file, require_writable
from tuner.io.interrupt import interrupts
from tuner.options.match import SECTION, MatchSettings
from tuner.parallel import Job, Running, run
from tuner.play.adjudication import Adjudication, adjudication_of
from tuner.play.game import Course, Luck, Rolling, Stopped, by_length, by_rules, play_out
from tuner.play.match.journal import Journal, PairLine
from tuner.play.match.results import Tally, first_forfeit_text, progress_text, result_texts
from tuner.play.match.setup import (
    COPIES,
    LUCK_COPY,
    changed_files,
    contestants_of,
    openings_of,
    test_of,
)
from tuner.play.openings import Opening
from tuner.play.players import (
    NETWORK,
    PARAMETERS,
    PlayerSpec,
    make_player,
    searcher_of,
    understood,
)
from tuner.play.run import Run, RunResult

Item = TypeVar("Item")
LUCK_DIGITS = 9  # after the point


@dataclass(frozen=True)
class MatchSpec:
    """All that the games of a match depend on apart from their openings. `legs` are the pairings;
    `text`: keep the games as text, with this `date`."""

    game: str
    plies: int  # after which games are drawn; 0: never
    adjudication: Adjudication
    legs: tuple[tuple[PlayerSpec, PlayerSpec], ...]
    seed: int
    text: bool
    date: str
    luck: PlayerSpec | None = None  # measures the luck of games with dice
    restart: bool = False  # engines, before each pair


class PairTask(NamedTuple):
    """A pair of games to play: the leg, the number of the pair, and its opening."""

    leg: int
    number: int
    opening: Opening


def luck_by(game: Game, judge: PlayerSpec) -> Luck:
    """Return the measure by the evaluation of a player that searches. InputError if the search of
    the game has no values of rolls."""
    searcher = searcher_of(judge, False, 1)
    if not isinstance(searcher, Rolling):
        raise InputError(f"{game.name} has no search over dice to measure luck with")
    return Luck(game, searcher)


class MatchPlayers:
    """One thread's players, made when they are first needed, and its measure of luck."""

    def __init__(self, spec: MatchSpec, stopped: Callable[[], bool]) -> None:
        self.spec, self.game, self.stopped = spec, find(spec.game), stopped
        self.luck = luck_by(self.game, spec.luck) if spec.luck else None
        self._players: dict[tuple[int, int], Player] = {}

    def player(self, leg: int, side: int) -> Player:
        """Return a player of a leg."""
        key = (leg, side)
        if key not in self._players:
            self._players[key] = make_player(self.spec.legs[leg][side], self.game)
        return self._players[key]

    def ready(self) -> None:
        """Start both players; InputError for one that does not start."""
        for side in (0, 1):
            self.player(0, side)

    def abort(self) -> None:
        for player in list(self._players.values()):
            player.abort()

    def close(self) -> None:
        for player in self._players.values():
            player.close()


def pair_text(task: PairTask) -> str:
    """Name a pair as the numbers of its games, as they are in a file of games."""
    return f"pair {task.number + 1} (rounds {task.number + 1}.1 and {task.number + 1}.2)"


class Pair(NamedTuple):
    """Two games from one opening with colours swapped: their line of the journal, and their texts,
    if kept."""

    line: PairLine
    texts: list[str]


def play_pair(state: MatchPlayers, task: PairTask) -> Pair | None:
    """Play a pair of games; None if the match was stopped."""
    if state.spec.restart:
        state.close()  # the next game starts them
    try:
        first, second = (play_game(state, task, turn) for turn in (0, 1))
    except Stopped:
        return None

    def both(of: Callable[[PlayedGame], Item]) -> tuple[Item, Item]:
        return of(first), of(second)

    game, opening = state.game, task.opening
    line = PairLine(
        task.leg,
        task.number,
        both(lambda played: _points_of_a(game, played)),
        both(lambda played: len(played.moves)),
        both(lambda played: played.end),
        both(lambda played: reason_of(game, played)),
        both(_forfeit_of),
        both(_luck_of_a) if state.luck else None,
        opening.place,
    )
    text = game.files.game_text if state.spec.text else None
    return Pair(line, list(map(text, (first, second))) if text else [])


def play_game(state: MatchPlayers, task: PairTask, turn: int) -> PlayedGame:
    """Play a game of a pair, in which player a is the first player (turn 0) or the second. Raises
    Stopped."""
    spec, order = state.spec, (turn, 1 - turn)
    named = [spec.legs[task.leg][side] for side in order]
    controls = [player.control for player in named]
    # both games have the same dice: each side has in one what the other has in the other
    course = Course(
        state.game,
        task.opening,
        Dice(spec.seed, task.number),
        state.luck.begun() if state.luck else None,
    )
    ending = play_out(
        course,
        [state.player(task.leg, side) for side in order],
        (by_rules, spec.adjudication.judge, by_length(spec.plies)),
        state.stopped,
        [f"{spec.seed}/{task.number}/{turn}/{side}" for side in (0, 1)],
        controls,
    )
    texts = list(dict.fromkeys(control.text for control in controls))
    return replace(
        course.played(ending),
        players=(named[0].name, named[1].name),
        named_first=turn,
        round=f"{task.number + 1}.{turn + 1}",
        date=spec.date,
        control=" : ".join(texts),
        luck=state.luck.total if state.luck else None,
    )


def _points_of_a(game: Game, played: PlayedGame) -> int:
    assert played.outcome is not None, "every game of a match is finished"
    points = game.points_of(played.outcome)
    return -points if played.named_first else points


def _luck_of_a(played: PlayedGame) -> float:
    assert played.luck is not None, "measured in all games or none"
    return round(-played.luck if played.named_first else played.luck, LUCK_DIGITS)


def _forfeit_of(played: PlayedGame) -> str | None:
    """Return who lost a game by a fault, and which: "b crash"."""
    if played.end not in FAULTS or played.loser is None:
        return None
    return f"{'ab'[played.loser ^ played.named_first]} {played.end}"


def reason_of(game: Game, played: PlayedGame) -> str:
    """Why a game ended, in the game's own words if it has some."""
    if game.contest.reason:
        return game.contest.reason(played)
    if played.loser is None:
        return played.end
    return f"{('first', 'second')[played.loser]} player loses by {played.end}" + (
        f": {played.detail}" if played.detail else ""
    )


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


def pairs_left(
    legs: int, pairs: int | None, done: Collection[tuple[int, int]], stop: Callable[[], bool]
) -> Iterator[tuple[int, int]]:
    """What is left to play: (leg, pair number), the pairs of all legs side by side."""
    for pair in itertools.count() if pairs is None else range(pairs):
        for leg in range(legs):
            if stop():
                return
            if (leg, pair) not in done:
                yield leg, pair


class MatchRun(Run):
    """A match. Its output is a file of games; it may have no folder, and then it cannot be
    resumed."""

    command = section = SECTION
    kind, what = MatchSettings, "match"
    kept = False  # whether its folder is

    def require_output(self, folder: Path | None) -> None:
        """See `Run`."""
        settings, self.kept = self.settings, folder is not None
        if self.output is not None:
            require_writable(
                self.output,
                GAMES,
                (settings.a, settings.b, settings.openings, *settings.files),
                folder,
            )

    def load(self, folder: Path | None) -> str | None:
        """See `Run`."""
        if folder and (changed := changed_files(self.settings)):
            raise InputError(
                f"{changed[0]}: is not what it was when the match began; put it back, or start"
                " another match"
            )
        self.contestants = contestants_of(self.settings, folder)
        self.game = self.contestants.game
        if folder is None:
            self.settings = replace(
                self.settings, names=tuple(player.name for player in self.contestants.legs[0])
            )
        self.openings = openings_of(self.settings, self.contestants, self.display.note)
        if self.output is not None and self.game.files.game_text is None:
            raise InputError(f"{self.game.name} has no text of games to write")
        return self.contestants.terms

    def job(self) -> Job:
        """See `Run`."""
        settings, text = (
            self.settings,
            self.game.files.game_text is not None and (self.kept or self.output is not None),
        )
        return Job(
            MatchPlayers,
            play_pair,
            MatchSpec(
                self.game.name,
                settings.plies,
                adjudication_of(settings.resign, settings.draw),
                tuple(self.contestants.legs),
                settings.seed,
                text,
                time.strftime("%Y.%m.%d"),
                self.contestants.luck,
                bool(settings.restart),
            ),
            pair_text,
        )

    @contextlib.contextmanager
    def folder(self, folder: Path | None, command: str) -> Iterator[Path]:
        """See `Run`; a temporary folder if none is given."""
        self.openings.opening(0)  # an error in them is reported before any game
        if folder is not None:
            with super().folder(folder, command) as place:
                yield place
        else:
            with tempfile.TemporaryDirectory(prefix="evaltune-") as name:
                yield Path(name)

    def place(self, folder: Path) -> None:
        """Copy the files of the players, and of the evaluation that measures luck."""
        for text, copy in zip(
            (self.settings.a, self.settings.b, self.settings.luck),
            (*COPIES, LUCK_COPY),
            strict=True,
        ):
            named = understood(text) if text else None
            if named and named.kind in (PARAMETERS, NETWORK):
                replace_file(folder / copy, Path(named.what).read_bytes())
            if named and named.kind == NETWORK:
                replace_file(
                    weights_path(folder / copy), weights_path(Path(named.what)).read_bytes()
                )

    def play(self, folder: Path, playing: Running | None) -> RunResult:
        """See `Run`. Every pair counts from its line in the journal, those of earlier runs
        alike."""
        assert playing is not None, "its games are work"
        game, legs, test = self.game, self.contestants.legs, test_of(self.settings, self.game)
        pairs = None if self.settings.games is None else self.settings.games // 2
        journal = Journal(
            folder,
            f"games{game.files.suffixes[0]}",
            self.display.note,
            len(legs),
            pairs,
            game.points,
            game.files.session,
        )
        journal.follower = self.output
        score = Score([Tally(test if leg == 0 else None, game.points) for leg in range(len(legs))])
        reported: set[str] = set()
        try:
            for line in journal.lines:
                score.add(line)
            self.openings.known(
                {line.pair: line.opening for line in journal.lines if line.opening is not None}
            )
            self.note_games(len(score.done), "pairs")
            self.display.begin("playing", None if pairs is None else pairs * len(legs))
            with interrupts() as interrupted:
                left = pairs_left(len(legs), pairs, frozenset(score.done), score.decided)
                tasks = (
                    PairTask(leg, number, self.openings.opening(number)) for leg, number in left
                )
                for pair in () if score.decided() else run(playing, tasks, interrupted):
                    score.add(journal.append(pair.line, pair.texts))
                    for forfeit in filter(None, pair.line.forfeits):
                        if forfeit not in reported:
                            reported.add(forfeit)
                            self.display.note(first_forfeit_text(forfeit, legs[pair.line.leg]))
                    self.display.playing(
                        progress_text(score.tallies[0], test, game), len(score.done)
                    )
                    if score.decided():
                        break
                playing.end()
            journal.sync()
            if self.output is not None:
                journal.copy_games(score.counted(), self.output)
        finally:
            journal.close()
        return self._result(score.tallies, folder, interrupted.is_set())

    def _result(self, tallies: list[Tally], folder: Path, interrupted: bool) -> RunResult:
        kept = folder if self.kept else None
        about = {
            "interrupted": interrupted,
            "run": str(kept) if kept else None,
            "pgn": str(self.output) if self.output else None,
        }
        lines, plain = result_texts(
            self.settings, self.contestants, tallies, test_of(self.settings, self.game), about
        )
        return RunResult(
            [*lines, *([self.advice(kept)] if interrupted else [])], plain, interrupted
        )
