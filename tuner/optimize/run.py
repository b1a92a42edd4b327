"""`tuner optimize`: pairs of games with the same opening or dice, in which both sides play with
different values of the numbers; a method learns from them."""

import contextlib
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np
from msgspec import Meta

from games.record import Settable
from tuner.core import records
from tuner.core.records import InputError, convert, to_json
from tuner.core.store import ESTIMATE, Store, naming, read_records
from tuner.core.text import listed
from tuner.io.interrupt import interrupts
from tuner.io.run_folder import change_settings
from tuner.io.terminal import Display
from tuner.optimize.best import (
    describe_estimate,
    progress_text,
    unit_of,
    write_best,
)
from tuner.optimize.local import Local, Optimum
from tuner.optimize.numbers import NUMBERS, Number, read_numbers, rounded_apart
from tuner.options.match import OPTIMIZE_SECTION, OptimizeSettings
from tuner.parallel import Job, Running, run
from tuner.play.match.journal import PairLine
from tuner.play.match.match import PlayersRun
from tuner.play.match.pairs import MatchPlayers, MatchSpec, PairTask, play_pair
from tuner.play.match.tally import first_forfeit_text, require_few_faults
from tuner.play.run import Run
from tuner.results.match import faults_by_side
from tuner.results.optimized import Optimized, TunedEstimate, estimate_lines


class TunedPair(NamedTuple):
    """A finished pair: the values of both sides, and its games as a line of a match. Where both
    sides play an opponent, `line` has the games of a against it, and `other` the games of b."""

    a: tuple[float, ...]
    b: tuple[float, ...]
    line: PairLine
    other: PairLine | None = None
    lost: tuple[str, ...] = ()  # texts of the games lost by a fault, which the journal lacks

    def score(self, points: int) -> float:
        """Return the score of a in a game that wins at most a number of points: the mean of both
        games from 0 to 1. Against an opponent it is 1/2 and what a scored more than b, which may be
        less than 0 or more than 1."""
        if self.other is None:
            return 0.5 + sum(self.line.outcomes) / (4 * points)
        return 0.5 + (sum(self.line.outcomes) - sum(self.other.outcomes)) / (4 * points)

    @property
    def games(self) -> int:
        """The number of games."""
        return 2 if self.other is None else 4

    def at_fault(self, forfeit: str) -> tuple[float, ...] | None:
        """Return the values with which a game was lost by a fault; None if an opponent lost it."""
        side, by_opponent = forfeit[0], self.other is not None and forfeit[0] == "b"
        if by_opponent:
            return None
        of_b = side == "b" or self.other is not None and forfeit not in self.line.forfeits
        return self.b if of_b else self.a

    @property
    def forfeits(self) -> list[str]:
        """Who lost a game by a fault, and which: "a crash". Where both sides play an opponent, it
        is b in all games."""
        ours = list(filter(None, self.line.forfeits))
        theirs = list(filter(None, self.other.forfeits)) if self.other else []
        return ours + theirs

    def to_json(self) -> dict:
        """Return it as plain data."""
        return {
            "pair": self.line.pair,
            "a": list(self.a),
            "b": list(self.b),
            "line": _short(self.line),
            **({} if self.other is None else {"other": _short(self.other)}),
        }


def _short(line: PairLine) -> dict:
    return replace(line, reasons=None).to_json()


def read_pairs(folder: Path, numbers: int, opponent: bool, points: int) -> list[TunedPair]:
    """Return the finished pairs of a run, in their order; InputError for a damaged one."""
    pairs: dict[int, TunedPair] = {}
    size = Meta(min_length=numbers, max_length=numbers, description=f"{numbers} numbers")
    for number, plain in enumerate(read_records(folder)):
        with naming(folder, number):
            a, b = (
                tuple(convert(plain.get(name), Annotated[list[records.Number], size], "", name))
                for name in "ab"
            )
            lines = [
                PairLine.from_json(plain[name], points)
                for name in ("line", "other")
                if isinstance(plain.get(name), dict)
            ]
            if len(lines) != 1 + opponent:
                raise ValueError("its games are missing, or those of another kind of run")
            if lines[0].pair in pairs:
                raise ValueError(f"pair {lines[0].pair} is there twice")
        pairs[lines[0].pair] = TunedPair(a, b, lines[0], lines[1] if opponent else None)
    return list(pairs.values())


FIRST_TABLE, TABLE_GROWTH = (
    250,
    1.3,
)  # pairs until a table is shown, and how many more until the next ones
FRESH = 1.05  # growth of the pairs after which what they say is estimated again
FIRST_ESTIMATE = 50  # pairs
FEWEST_WITH_FAULTS = 10  # pairs
MOST_VALUES = 12  # values of a side, in a line


class TunedTask(NamedTuple):
    """A pair of games to play, with the values of both sides as texts."""

    pair: PairTask
    a: tuple[float, ...]
    b: tuple[float, ...]


@dataclass(frozen=True, kw_only=True)
class TunedSpec:
    """All that games depend on apart from their values: the settings of a match, the numbers, and
    whether both sides play an opponent."""

    match: MatchSpec
    numbers: tuple[Number, ...]
    opponent: bool


class TunedPlayers(MatchPlayers):
    """One thread's players, whose numbers change from pair to pair."""

    def __init__(self, spec: TunedSpec, stopped: Callable[[], bool]) -> None:
        super().__init__(spec.match, stopped)
        self.numbers, self.opponent = spec.numbers, spec.opponent

    def set(self, side: int, values: tuple[float, ...]) -> None:
        """Let a player play with these values."""
        player = self.player(0, side)
        assert isinstance(player, Settable), "required of the numbers"
        player.set(
            {
                number.name: number.text(value)
                for number, value in zip(self.numbers, values, strict=True)
            }
        )


def play_tuned(state: TunedPlayers, task: TunedTask) -> TunedPair | None:
    """Play a pair of games; None if the run was stopped."""
    lines, lost = [], []
    if state.spec.rules.restart:
        state.close()  # the next game starts them
    for values in (task.a, task.b) if state.opponent else (task.a,):
        state.set(0, values)
        if not state.opponent:
            state.set(1, task.b)
        pair = play_pair(state, task.pair)
        if pair is None:
            return None
        lines.append(pair.line)
        lost += [text for text, fault in zip(pair.texts, pair.line.forfeits, strict=False) if fault]
    return TunedPair(task.a, task.b, lines[0], lines[1] if state.opponent else None, tuple(lost))


def tuned_text(task: TunedTask) -> str:
    """Name a pair of games."""
    return f"pair {task.pair.number + 1}"


class OptimizeRun(PlayersRun[Optimized]):
    """An optimization: a match of a player against itself with different numbers."""

    command = section = OPTIMIZE_SECTION
    kind, what = OptimizeSettings, "optimisation"
    settings: OptimizeSettings

    def __init__(
        self,
        settings: OptimizeSettings,
        output: Path | None,
        display: Display,
        numbers: Path | None = None,
    ) -> None:
        """`numbers` is the file of a new run."""
        super().__init__(settings, output, display)
        self._file = numbers

    def require_output(self, folder: Path | None) -> None:
        """There is no output outside the folder."""

    def load(self, folder: Path | None) -> str | None:
        """See `Run`."""
        file = folder / NUMBERS if folder else self._file
        assert file is not None, "given for a new run"
        self.numbers = read_numbers(file)
        return super().load(folder)

    def make_players(self, folder: Path | None) -> str | None:
        """See `PlayersRun`."""
        contestants = self.made_of_two(self.settings, folder)
        names = {number.name for number in self.numbers}
        if names - {constant.name for constant in self.game.contest.constants}:  # weights change
            a, b = self.legs[0]
            self.legs[0] = replace(a, lean=False), replace(b, lean=False)
        return contestants.program

    def set_games(self, games: int) -> None:
        """See `Run`. InputError for a number that cannot be shared by pairs."""
        if games % self.settings.each:
            raise InputError(
                f"--games {games}: expected a multiple of {self.settings.each}, because games are"
                " played in pairs against the opponent"
            )
        super().set_games(games)

    @contextlib.contextmanager
    def begin(self, folder: Path | None, command: str) -> Iterator[Store]:
        """See `Run`. An optimization always has a folder, in which it can be resumed."""
        self.openings.opening(0)  # an error in them is reported before any game
        with Run.begin(self, folder, command) as store:
            yield store

    def place(self, folder: Path) -> None:
        """See `Run`."""
        super().place(folder)
        assert self._file is not None, "given for a new run"
        shutil.copyfile(self._file, folder / NUMBERS)

    def job(self) -> Job:
        """See `Run`."""
        match = replace(super().job().spec, text=False)
        opponent = self.settings.opponent is not None
        spec = TunedSpec(match=match, numbers=self.numbers, opponent=opponent)
        return Job(TunedPlayers, play_tuned, spec, tuned_text)

    def play(self, store: Store, playing: Running | None) -> Optimized:
        """See `Run`. All that the method knows is in the pairs of the journal, in their order."""
        assert playing is not None, "its games are work"
        settings, game = self.settings, self.game
        assert settings.games is not None, "has a default"
        opponent = settings.opponent is not None
        pairs = settings.games // settings.each
        method = Local(self.numbers, settings.seed)
        so_far = SoFar(self, method, store)
        if self.more:
            change_settings(store, settings)
        known = read_pairs(store.folder, len(self.numbers), opponent, game.points)
        for pair in known:
            so_far.add(pair)
        self.openings.known(
            {pair.line.pair: pair.line.opening for pair in known if pair.line.opening is not None}
        )
        self.note_games(len(so_far.done), "pairs")
        self.display.begin("playing", pairs)
        with interrupts() as interrupted:
            for pair in run(playing, self._tasks(method, pairs, so_far.done), interrupted):
                store.append(pair.to_json())
                if pair.lost:
                    with open(so_far.faults, "a", encoding="utf-8") as stream:
                        stream.write("\n".join(pair.lost) + "\n")
                so_far.add(pair)
                so_far.show()
            playing.end()
        return so_far.result(store.folder, interrupted.is_set())

    def _tasks(self, method: Local, pairs: int, done: Mapping[int, object]) -> Iterator[TunedTask]:
        """Yield the pairs that are left, each proposed by what is known when its turn comes."""
        for number in range(pairs):
            if number not in done:
                a, b = method.proposal(number)
                draws = np.random.default_rng((self.settings.seed, number, 1))
                sides = rounded_apart(self.numbers, a, b, draws)
                yield TunedTask(PairTask(0, number, self.openings.opening(number)), *sides)


class SoFar:
    """What the pairs so far say."""

    def __init__(self, owner: OptimizeRun, method: Local, store: Store) -> None:
        self._run, self._method, self._store = owner, method, store
        self._numbers, self._unit = owner.numbers, unit_of(owner.game)
        self._digits = {number.name: number.digits for number in owner.numbers}
        self._found: Optimum | None = None
        self._estimated, self._next_table = 0, float(FIRST_TABLE)
        self._forfeits: Counter[str] = Counter()
        self.faults = store.folder / f"faults{owner.game.files.suffixes[0]}"  # games lost by them
        self.done: dict[int, TunedPair] = {}
        self._games = 0

    def add(self, pair: TunedPair) -> None:
        """Learn from a pair."""
        score = pair.score(self._run.game.points)
        self._method.add(pair.line.pair, np.array(pair.a), np.array(pair.b), score)
        self.done[pair.line.pair] = pair
        self._games += pair.games
        self._forfeits.update(pair.forfeits)

    def show(self) -> None:
        """Show the state in a line, and sometimes a table; report the first fault of each kind."""
        display, n = self._run.display, len(self.done)
        last = next(reversed(self.done.values()))
        for forfeit in last.forfeits:
            if self._forfeits[forfeit] == last.forfeits.count(forfeit):
                text = first_forfeit_text(forfeit, self._run.legs[0])
                text = text.replace("the match continues", "the run goes on")
                display.note(f"{text}{self._where(last, forfeit)}")
        if n >= FEWEST_WITH_FAULTS:
            sides = "a" if self._run.settings.opponent is not None else "ab"
            try:
                require_few_faults(faults_by_side(self._forfeits), self._games, sides)
            except InputError as problem:
                where = self._where(last, last.forfeits[0]) if last.forfeits else ""
                raise InputError(f"{problem}{where}; correct it, and begin another run") from None
        if n >= max(FIRST_ESTIMATE, FRESH * self._estimated):
            self._estimate()
        if n >= self._next_table:
            self._next_table = n * TABLE_GROWTH
            for text in self.lines():
                display.note(text)
        text = progress_text(
            self._numbers, self._method.best(), self._found, self._games, self._unit
        )
        display.playing(text, n)

    def _where(self, pair: TunedPair, forfeit: str) -> str:
        """Return with which values a game was lost by a fault, and where it is."""
        values = pair.at_fault(forfeit)
        if values is None:
            return ""
        texts = (
            f"{n.name} {n.text(value)}" for n, value in zip(self._numbers, values, strict=True)
        )
        return f"; with {listed(list(texts), MOST_VALUES)}; its games are in {self.faults}"

    def _estimate(self) -> Optimum:
        if self._found is None or self._estimated != len(self.done):
            self._found, self._estimated = self._method.estimate(), len(self.done)
        return self._found

    def _described(self, found: Optimum) -> TunedEstimate:
        games, unit, faults = self._games, self._unit, self._forfeits
        return describe_estimate(self._numbers, found, len(self.done), games, unit, faults)

    def lines(self) -> list[str]:
        """Return the present table, which is recorded, too."""
        described = self._described(self._estimate())
        self._store.append(to_json(described), kind=ESTIMATE)
        return estimate_lines(described, self._digits)

    def result(self, folder: Path, interrupted: bool) -> Optimized:
        """Return the result of a run, and write the best values."""
        advice = self._run.advice(folder)
        if not self.done:
            raise InputError(
                f"{folder}: no pair of games has ended; {advice if interrupted else ''}"
            )
        estimate = self._estimate()
        self.lines()
        best = {
            number.name: number.rounded(value)
            for number, value in zip(self._numbers, estimate.best, strict=True)
        }
        written = write_best(folder, self._numbers, best, self._run.game, self._run.settings.terms)
        return Optimized(
            settings=self._run.settings,
            estimate=self._described(estimate),
            best=best,
            digits=self._digits,
            files=tuple(map(str, written)),
            run=str(folder),
            interrupted=interrupted,
            advice=advice,
        )
