"""The loop of `tuner improve`: rounds of own games, or results of others, learning and matches,
which make an engine stronger.

Every step is a command of its own, shown and kept with its result in the history of the run. A
resumed run takes the results of the steps that were done and starts with the next one."""

import contextlib
import functools
import io
import itertools
import math
import re
import shlex
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import yaml

from games.system import available_cpus
from tuner.core.records import Amount, InputError, convert
from tuner.core.store import Store, lock, naming, read_records, remove_store
from tuner.core.text import duration, plural
from tuner.datasets.reader import open_dataset
from tuner.evaluation.loading import load_parameters
from tuner.improve.budget import LOOKS, PACE, Budget, Length
from tuner.improve.judging import GAIN, RESULTS_GAIN, final_judgement, is_settled, judged
from tuner.improve.plan import MORE_NODES, ImproveSettings, LoopPlan, words_of
from tuner.improve.proof import bundled_texts, compare_evaluations, require_weights
from tuner.improve.versions import (
    EVALS,
    PARAMS,
    TREE,
    Version,
    build,
    patch_of,
    require_new_program,
    require_own,
    require_players,
)
from tuner.io.files import CONFIG, replace_file
from tuner.io.run_folder import change_settings, kind_of, read_told
from tuner.io.terminal import Display
from tuner.measured.copies import MEASURED, copy_folder, state_of, touch_sources, untouched
from tuner.measured.measure import measurement_in
from tuner.measured.plan import read_evals_plan
from tuner.measured.rows import MOST_POSITIONS, NAMES, START
from tuner.options.option import OtherCommands
from tuner.parallel import Job, Running
from tuner.parameters.writer import write_parameters
from tuner.play.match.tally import require_few_faults
from tuner.play.run import Run
from tuner.results.improved import FINAL_MATCH, TAKEN, Improved, Judgement, LoopStep
from tuner.statistics.ratings import CountedMatch, joint_ratings
from tuner.version import __version__

Perform = Callable[..., dict]  # performs a command of tuner, returns its result
CHECKED_EVALS = 500  # positions that are evaluated before the first round
CHECKED = 1  # positions of each game whose rows are checked after a build
FIRST, PATCH, LEARNED, SOURCE = "first", "improve.patch", "learned.yaml", "source"
ROWS, CHECK, FINAL, PROOF = "rows.ds", "check.ds", "final", "player"
RESULT = ("games", "wins", "losses", "draws", "pentanomial")
PATIENCE = 2  # rounds with the games of one version, none of which wins, after which a loop ends
PACE_GAMES = 8  # of own games and of a match
POOL_SHARE = 0.33  # of the time of a version's matches: those with the pool
# what commands advise in their own words
BETTER_LIMIT = re.compile(r"--(depth|nodes) (\d+)( or --movetime 1)?")
MOST_GROWN = 1.5  # times what rows lacked before, that they may lack of a version
WHOLE, HALF, QUARTER = "whole", "half", "quarter"
MEASURE_SHARE = 0.3  # of the minutes: what the first measurement may take at most
REAL = 0.5  # share of the predicted fall of the loss that evaluations have to show
# see docs/measurements.md
LEARN = {"method": "scores", "blend": "later", "lambda": 0.9, "prior": 20}
FROM_RESULTS = {"method": "logistic", "prior": "play"}


def _limit_text(limit: dict[str, float]) -> str:
    """Return a limit in words."""
    return ", ".join(f"{name} {value:,g}" for name, value in limit.items())


def _has_decided(found: dict, most: float) -> bool:
    """Return whether the sequential test of a match has decided."""
    return (found.get("sprt") or {}).get("decision") is not None


def _require_remainder(after: float, before: float) -> None:
    """InputError if the part of evaluations that rows do not have grew with the numbers."""
    if after > MOST_GROWN * before + 1:
        raise InputError(
            f"what the rows lack (`not_linear`) grew from {before:.1f} to {after:.1f} centipawns"
            " with the learned numbers, so the engine does not evaluate as was learned; fix the"
            " macros of the numbers that changed"
        )


class Part(NamedTuple):
    """A step of a round: how its version is called after the round, and which part of the way to
    the learned weights it goes, with results to those that predict them best; 0: as learned."""

    name: str
    way: float


STEPS_OF_GAMES = {WHOLE: Part("", 0.0), HALF: Part(" by half", 0.5)}
STEPS_OF_GAMES[QUARTER] = Part(" by a quarter", 0.25)  # where a half does not act as predicted
# beside the step of `--prior play`
STEPS_OF_RESULTS = {
    WHOLE: Part("", 0.0),
    "way-25": Part(", 25 % of the way", 0.25),
    "way-50": Part(", 50 % of the way", 0.5),
    "way-100": Part(", all of the way", 1.0),
}


def _step_of(plain: dict) -> LoopStep:
    """Read a line; ValueError for a step without the results that the loop uses."""
    step: LoopStep = convert(plain, LoopStep, "the step")
    found, kind = step.found, step.kind
    numbers: list[Any] = [found.get(name) for name in ("games", "match")] if kind == PACE else []
    if kind == "match":
        pairs = found.get("pentanomial")
        numbers = [found.get("games"), *(pairs if isinstance(pairs, list) else [None])]
    if kind == "build" and not isinstance(found.get("changed"), bool):
        raise ValueError("a build that does not say whether it changed")
    convert(numbers, list[Amount], step.step, "numbers")
    return step


class Steps:
    """The steps of a run so far, in its store."""

    def __init__(self, store: Store, display: Display, perform: Perform) -> None:
        self.display, self.perform = display, perform
        self.folder, self._store = store.folder, store
        self.done: dict[tuple[int, str], LoopStep] = {}
        self.left: Callable[[int], float | None] = lambda number: None  # seconds, from a round on
        self.source = ""  # the state of the sources that steps are done with, once it is known
        for number, plain in enumerate(read_records(self.folder)):
            with naming(self.folder, number):
                step = _step_of(plain)
            self.done[step.round, step.step] = step

    def once(self, number: int, name: str, command: str, do: Callable[[], dict]) -> dict:
        """Do a step of a round unless it was done; return what it found."""
        if (number, name) not in self.done:
            self.display.note(f"{self._place(number)}, {name}{self._left(number)}: {command}")
            self.display.begin(f"{self._place(number)}, {name}")
            begun = time.monotonic()
            try:
                found = do()
            except InputError as problem:
                place, again = f"{self._place(number)}, {name}", self._again(number)
                said = BETTER_LIMIT.sub(r"`limit: {\1: \2}` in the plan", str(problem))
                raise InputError(f"{place}: {said}; {again}") from None
            found |= {"source": self.source} if self.source else {}
            step = LoopStep(number, name, round(time.monotonic() - begun, 1), command, found)
            self._store.append(asdict(step))
            self.done[number, name] = step
        return self.done[number, name].found

    def is_stale(self, number: int, name: str) -> bool:
        """Return whether a step was done with sources that were changed since."""
        step = self.done.get((number, name))
        return step is not None and step.found.get("source", self.source) != self.source

    def command(
        self,
        number: int,
        name: str,
        words: Sequence[str],
        keep: Sequence[str],
        require: Callable[[dict], None] = lambda found: None,
    ) -> dict:
        """Perform a command of tuner as a step, and keep some of its result; `require` raises
        InputError for one with which the step is not done."""

        def do() -> dict:
            result = self.perform(words)
            require(result)
            return {key: result[key] for key in keep if key in result}

        shown = "tuner " + shlex.join(words)  # paths as the user named the folder
        shown = shown.replace(str(self.folder.absolute()), str(self.folder))
        return self.once(number, name, shown, do)

    def _again(self, number: int) -> str:
        """How to continue once the cause of an error is fixed."""
        folder = shlex.quote(str(self.folder))
        if not number:
            return f"fix the cause, and start again with tuner improve PLAN --run {folder}"
        return (
            f"tuner improve --resume {folder} does this step again; tuner improve PLAN --resume"
            f" {folder} by a plan that was corrected"
        )

    def _place(self, number: int) -> str:
        return f"round {number}" if number else "before the rounds"

    @property
    def spent(self) -> float:
        """The seconds that the steps took."""
        return sum(step.seconds for step in self.done.values())

    def _left(self, number: int) -> str:
        """How long the run took so far, and how long it takes at most."""
        left = self.left(number)
        said = f", at most about {duration(left)} left" if left and left > 0 else ""
        return f" ({duration(self.spent)} so far{said})" if self.spent >= 1 else ""


def _numbers_to_learn(version: Version) -> int:
    """Return how many numbers of a version are free, and occur in the rows of its check."""
    if not version.params.exists():  # what its numbers are is measured in these games
        return 0
    p, rows = load_parameters(version.params), version.folder / CHECK
    free = ~p.mask(p.fixed)
    free[1:] &= ~p.mask(p.tied)[1:]
    if rows.exists():
        free &= np.isin(np.arange(p.layout.size), open_dataset(rows, check=False).index)
    return int(free.sum())


def begin_again(folder: Path) -> None:
    """Remove what a loop left in a folder if it had not begun its first round: it can be given the
    same folder again. InputError if it still runs."""
    if kind_of(folder) == ImproveRun.section and not (folder / "round-1").exists():
        with lock(folder):
            for name in (FIRST, SOURCE, PACE):
                shutil.rmtree(folder / name, ignore_errors=True)
            (folder / CONFIG).unlink(missing_ok=True)
            remove_store(folder)


class ImproveRun(Run[Improved]):
    """Rounds that make an engine stronger, by commands of `tuner`."""

    command, section, kind = "improve", "improve", ImproveSettings
    program, what = "program", "loop"

    def __init__(
        self,
        settings: ImproveSettings,
        output: Path | None,
        display: Display,
        commands: OtherCommands,
        cluster: str | None = None,
        write: bool = False,
    ) -> None:
        super().__init__(settings, output, display)
        self._write_anyway = write
        self.plan = convert(settings.plan, LoopPlan, "plan")
        self._commands = commands
        self._cluster = ["--cluster", cluster] if cluster else []

    def require_output(self, folder: Path | None) -> None:
        """There is no output outside the folder."""

    def load(self, folder: Path | None) -> str | None:
        """Check the options of all steps before the first of them
        takes its time."""
        version = Version("", folder or Path(), self.plan)
        words = {
            "play or limit": self._games(1, version, Path("games")),
            "read": self._rows(version, Path("games"), Path("rows")),
            "learn": self._learn(version, [Path("rows")], Path("learn")),
            "match": self._against(1, version, version.player, True, self.plan.match_limit),
        }
        require_players(version)
        for keys, each in words.items():
            try:
                self._commands.require(each)
            except InputError as problem:
                raise InputError(f"the plan, {keys}: {problem}") from None
        return __version__

    def job(self) -> Job | None:
        return None

    def place(self, folder: Path) -> None:
        """The first step copies what the run begins with."""

    def play(self, store: Store, playing: Running | None) -> Improved:
        change_settings(store, self.settings)
        self.steps = Steps(store, self.display, self._commands.perform)
        seconds = math.inf if self.plan.minutes is None else 60 * self.plan.minutes
        self.budget = Budget(seconds, self.plan.planned_rounds, self.steps.done)
        self.root = store.folder.absolute()
        self.matches: list[CountedMatch] = []
        first = self._first()
        self._measure_pace(first)
        versions, lines = [first], list[str]()
        try:
            self._rounds(versions, lines)
            verdict = None if versions[-1] == first else self._final(versions[-1], first)
            return self._end(first, versions[-1], verdict, lines)
        except KeyboardInterrupt:
            improved = self._end(first, versions[-1], None, lines)
            return replace(improved, interrupted=True, advice=self.advice(store.folder))
        except (FileNotFoundError, NotADirectoryError, PermissionError) as problem:
            raise InputError(
                f"{problem.filename}: {problem.strerror}; an earlier step left it there:"
                " restore it, or begin another run"
            ) from None

    def _rounds(self, versions: list[Version], lines: list[str]) -> None:
        """Play rounds; add the versions that are kept, and a line on each round."""
        rows: list[Path] = []  # of the games of the last version
        for number in range(1, self.plan.rounds + 1):
            if not self.budget.has_round(number) and (number, "games") not in self.steps.done:
                break
            rows.append(self.root / f"round-{number}" / ROWS)
            after, line = self._round(number, versions[-1], versions[0], rows)
            lines.append(line)
            if after is not None:
                versions.append(after)
                rows = []
            self.display.note(line)
            if len(rows) == PATIENCE or self.plan.results and after is None:
                break

    def _first(self) -> Version:
        """Copy, build and check the engine as it is."""
        plan, source = self.plan, self.root / SOURCE
        place = Path(plan.source.folder)

        def copy() -> dict:
            copy_folder(place, source)
            return {}

        self.steps.once(0, "copy", f"{place} to {source}", copy)
        self.steps.source = state_of(source)
        first = Version("the first version", self.root / FIRST, plan)
        self._built(0, "", first, None, None)
        return first

    def _measure_pace(self, first: Version) -> None:
        """Play a few games and a short match, which shows what an engine cannot do, and how long
        games take."""
        place = self.root / PACE

        def measure() -> dict:
            shutil.rmtree(place, ignore_errors=True)
            length = ["--games", str(PACE_GAMES)]
            took = dict.fromkeys(("games", "match"), 0.0)
            place.mkdir()
            match = self._against(0, first, first.player, True, self.plan.limit)
            commands = {
                "games": [*self._games(0, first, place / "games"), *length],
                "match": [*match, "--run", str(place / "match"), *length],
            }
            for kind, words in commands.items():
                if kind == "games" and self.plan.results:
                    continue
                begun = time.monotonic()
                with contextlib.redirect_stderr(io.StringIO()):  # a rating of a few games
                    measured = self._commands.perform(words)
                require_few_faults(
                    measured.get("forfeits", {}), measured["games"], "ab", place / kind
                )
                took[kind] = (time.monotonic() - begun) / PACE_GAMES
            return took

        own = "" if self.plan.results else "games and "
        self.steps.once(0, PACE, f"{own}a match of {PACE_GAMES}, to estimate run time", measure)
        self.steps.left = self._seconds_left

    def _seconds_left(self, number: int) -> float | None:
        """How long the run takes at most from a round on, without half steps."""
        plan = self.plan
        if plan.minutes is not None:
            return 60 * plan.minutes - self.steps.spent
        pool = len(plan.against) + (number > 1)
        matches = plan.match.games + plan.match.pool_games * pool
        own = 0 if plan.results else plan.games
        a_round = own * self.budget.pace("games") + matches * self.budget.pace("match")
        rounds = max(a_round - self.budget.spent(number, number), 0.0)
        rounds += (plan.rounds - number) * a_round
        return rounds + MORE_NODES * plan.match.verdict_games * self.budget.pace("match")

    def _round(
        self, number: int, before: Version, first: Version, rows: Sequence[Path]
    ) -> tuple[Version | None, str]:
        """Play, learn from all rows of the previous version, the last of which are those of this
        round, build and judge; return the version that the loop continues with, None if none wins,
        and a line on the round."""
        place = self.root / f"round-{number}"
        place.mkdir(exist_ok=True)
        games = (
            Path(self.plan.results) if self.plan.results else self._own_games(number, before, place)
        )
        self._learned_of(number, before, games, rows)
        tried = list(self._tried(number, before, first, games, rows))
        if not tried:
            return None, f"round {number}: no weight changed, so no match was played"
        judged = [each for each in tried if each is not None]
        if not judged or (best := max(judged, key=lambda each: each[0]))[0] <= 0:
            return None, f"round {number}: no step is expected to gain"
        gain, line, version = best
        seconds = self.budget.spent(number, number)
        taken = {"version": version.name, "elo_a_minute": 60 * gain / max(seconds, 1.0)}
        self.steps.once(number, TAKEN, "the version with the highest expected gain", taken.copy)
        return version, f"{line}, so it is kept; the round took {duration(seconds)}"

    def _learned_of(self, number: int, before: Version, games: Path, rows: Sequence[Path]) -> None:
        """Count the rows of games, unless that was done, and learn from all of the rows."""
        run = self.root / f"round-{number}" / "learn"
        played = any(each == number and " match " in step for each, step in self.steps.done)
        if self.steps.is_stale(number, "rows") and not played:
            for name in ("rows", "learn"):
                self.steps.done.pop((number, name), None)
            shutil.rmtree(run, ignore_errors=True)
        words = self._rows(before, games, rows[-1])
        keep = ("games", "positions", "row_check", "remainder", "weights", "left_out", "together")
        self.steps.command(number, "rows", words, keep)
        self._take_weights(before, rows[-1])
        words = self._resumed(number, "learn", run, self._learn(before, rows, run))
        names = ("positions", "loss_before", "loss_after", "held_out", "noise")
        self.steps.command(number, "learn", words, names)

    def _tried(
        self, number: int, before: Version, first: Version, games: Path, rows: Sequence[Path]
    ) -> Iterator[tuple[float, str, Version] | None]:
        """Build and judge what was learned, by steps; yield for each that changes a weight its
        expected gain, a line on it and its version, or None if it does not act as predicted."""
        place, judged = self.root / f"round-{number}", False
        steps = STEPS_OF_RESULTS if self.plan.results else STEPS_OF_GAMES
        for i, (share, part) in enumerate(steps.items()):
            version = Version(f"round {number}{part.name}", place / share, self.plan)
            numbers = self._part(before, place / LEARNED, share, part)
            if share == QUARTER and judged:
                break
            if not self._built(number, share, version, numbers, before, games, rows):
                continue
            if not self._acts_as_predicted(number, share, version):
                yield None
                continue
            time_share = 1 / (len(steps) - i) if self.plan.results else 1.0
            seconds = self.budget.matches(number, time_share)
            verdict = self._judge(number, share, version, before, first, seconds)
            line = (
                f"{version.name}: {verdict} against the previous version by all matches,"
                f" {verdict.expected:+.0f} expected"
            )
            judged = True
            yield verdict.expected, line, version
            if not self.plan.results and verdict.expected >= GAIN.mean / 2:
                break  # of less, half of the step is expected to gain more
            self.display.note(line)

    def _own_games(self, number: int, before: Version, place: Path) -> Path:
        """Play games of a version; return their folder."""
        games = place / "games"
        played = self._play(
            number,
            "games",
            games,
            self._games(number, before, games),
            ("games", "repeated", "unfinished", "outcomes"),
            Length(self.plan.games, self.budget.own_games(number)),
        )
        if 2 * played["games"] < (free := _numbers_to_learn(before)):
            text = f"{played['games']:,} games for {free:,} numbers: expect noise"
            self.steps.once(number, "remark", f"{text}; a game for every two is better", dict)
        return games

    def _games(self, number: int, before: Version, games: Path) -> list[str]:
        """The command that plays the games of a round."""
        plan = self.plan
        options = {**plan.limit, "workers": plan.workers, **plan.play}
        return [
            *("games", before.player, "--run", str(games)),
            *words_of({"seed": plan.seed + number - 1, **options}),
            *self._options("--option"),
        ]

    def _rows(self, before: Version, games: Path, rows: Path) -> list[str]:
        """The command that counts their rows."""
        if self.plan.measured is not None:
            known = before.params.exists()
            total = self.plan.minutes
            minutes = None if known or total is None else round(MEASURE_SHARE * total, 3)
            params = before.params if known else None
            source = {"source": before.folder / EVALS, "params": params, "minutes": minutes}
            options = words_of({**source, **self.plan.read})
            return ["dataset", str(games), "-o", str(rows), *options]
        return [
            *("dataset", str(games), "--engine", before.rows, "--params", str(before.params)),
            *("-o", str(rows), *words_of(self.plan.read)),
        ]

    def _take_weights(self, before: Version, rows: Path) -> None:
        """Take the numbers that were found to be weights, and the map of their places, for all
        rounds."""
        if self.plan.measured is None:
            return
        measured, names = rows.with_name(f"{rows.name}{MEASURED}"), self.root / NAMES
        if not names.exists():
            replace_file(names, (measured / NAMES).read_bytes())
        if not before.params.exists():
            replace_file(before.params, (measured / START).read_bytes())
        self._name_weights(before)

    def _name_weights(self, version: Version) -> None:
        """Name in the plan what the numbers are, once that was measured, and write what is measured
        of a version."""
        plan, names = self.plan, self.root / NAMES
        measured = plan.measured
        if measured is None:
            return
        source = replace(plan.source, folder=TREE)
        if names.exists():
            source = replace(source, map=str(names), only=[])
            self.plan = replace(
                plan,
                params=str(self.root / FIRST / PARAMS),
                source=replace(plan.source, map=str(names)),
            )
        told = asdict(replace(measured, source=source))
        told["source"] = {key: value for key, value in told["source"].items() if value}
        told = {key: value for key, value in told.items() if value}
        text = yaml.safe_dump(told, sort_keys=False)
        replace_file(version.folder / EVALS, text.encode())

    def _acts_as_predicted(self, number: int, share: str, version: Version) -> bool:
        """Return whether a version evaluates as its numbers predict: where the loss falls by less
        than half of what was predicted, a smaller step is tried."""
        real = self.steps.done[number, f"{share} check"].found.get("real", 1.0)
        if real < REAL:
            self.display.note(
                f"{version.name}: the loss falls by {real:.0%} of what was predicted, so a smaller"
                " step is tried"
            )
        return bool(real >= REAL)

    def _learn(self, before: Version, rows: Sequence[Path], run: Path) -> list[str]:
        """The command that learns from them."""
        usual = FROM_RESULTS if self.plan.results else LEARN
        if {"method", "blend"} & set(self.plan.learn):  # whose `lambda` means something else
            usual = {key: value for key, value in usual.items() if key != "lambda"}
        options = {**usual, "workers": self.plan.workers, **self.plan.learn}
        return [
            *("tune", str(before.params), *map(str, rows), "-o", str(run.with_name(LEARNED))),
            *("--run", str(run), *words_of(options)),
        ]

    def _against(
        self, number: int, version: Version, player: str, ours: bool, limit: dict[str, float]
    ) -> list[str]:
        """The command of a match against another player, a version of `ours` or not."""
        plan = self.plan
        return [
            *("match", version.player, player, "--restart"),
            *words_of({"seed": plan.seed + 1000 * number, **limit}),
            *words_of({"openings": plan.match.openings, "workers": plan.workers}),
            *self._options("--option-a"),
            *(self._options("--option-b") if ours else []),
        ]

    def _options(self, name: str) -> list[str]:
        return [
            word for key, value in self.plan.options.items() for word in (name, f"{key}={value}")
        ]

    def _part(self, before: Version, learned: Path, share: str, part: Part) -> Path:
        """Write the weights a part of the way between a version and the learned ones, and return
        their file: that of the learned ones for all of it."""
        if not part.way:
            return learned
        path = learned.with_name(f"{share}.yaml")
        start, end = load_parameters(before.params), load_parameters(learned)
        end_weights = end.estimate if self.plan.results else end.weights
        way = end_weights - start.weights
        write_parameters(path, start.with_weights(start.weights + part.way * way))
        return path

    def _built(
        self,
        number: int,
        share: str,
        version: Version,
        numbers: Path | None,
        before: Version | None,
        games: Path | None = None,
        rows: Sequence[Path] = (),
    ) -> bool:
        """Copy the sources, write numbers into them, build, and check the rows. Return whether a
        number changed."""
        plan, prefix = self.plan, f"{share} " if share else ""
        last = "check" if before is None else PROOF
        is_stale = self.steps.is_stale(number, f"{prefix}build")  # corrected sources, since then
        if is_stale or (number, f"{prefix}{last}") not in self.steps.done:
            for step in ("build", "numbers", "check", PROOF):
                self.steps.done.pop((number, f"{prefix}{step}"), None)
        make = functools.partial(self._make, version, numbers, before)
        built = self.steps.once(number, f"{prefix}build", f"`{plan.build}`", make)
        if not built["changed"]:
            return False
        self._name_weights(version)
        if before is None and plan.measured is not None:
            measure = functools.partial(self._estimate, version)
            self.steps.once(number, "check", f"evaluations of {version.rows}", measure)
        else:
            self._check_built(number, prefix, version, before, games, rows)
        return True

    def _make(self, version: Version, numbers: Path | None, before: Version | None) -> dict:
        """Copy the sources, write numbers into them, and build if they differ from before."""
        shutil.rmtree(version.folder, ignore_errors=True)
        version.folder.mkdir()
        copy_folder(self.root / SOURCE, version.tree)
        require_own(version)
        if numbers is not None:
            into = [word for path in version.sources for word in ("--into", str(path))]
            decimals = words_of({"decimals": self.plan.source.decimals or None})
            self._commands.perform(["export", str(numbers), *into, *version.numbers, *decimals])
            touch_sources(version.tree)
        source = Path(self.plan.source.folder)
        inside = source.relative_to(self._repository())
        patch = patch_of(version, self.root / SOURCE, inside)  # of numbers alone, before builds
        replace_file(version.folder / PATCH, patch)
        changed = before is None or patch != (before.folder / PATCH).read_bytes()
        if changed:
            with untouched(source):
                build(version)
            if before is not None:
                require_new_program(version, before)
        return {"changed": changed}

    def _check_built(
        self,
        number: int,
        prefix: str,
        version: Version,
        before: Version | None,
        games: Path | None,
        rows: Sequence[Path],
    ) -> None:
        """Read the numbers of a version out of its sources; check that what it counts, evaluates
        and searches follows from them."""
        plan = self.plan
        sources = [word for path in version.sources for word in ("--from", str(path))]
        self.steps.command(
            number,
            f"{prefix}numbers",
            ["export", str(plan.params), *sources, "-o", str(version.params), *version.numbers],
            ("numbers",),
        )
        if before is not None and plan.measured is not None:
            lambda_ = None if plan.results else float(plan.learn.get("lambda", LEARN["lambda"]))
            compared = functools.partial(compare_evaluations, version, before, rows[-1], lambda_)
            self.steps.once(number, f"{prefix}check", f"evaluations of {version.rows}", compared)
        else:
            self._check_rows(number, prefix, version, before, games)
        if before is not None:
            proof = self.steps.once(
                number,
                f"{prefix}{PROOF}",
                "scores of the player's searches compared with evaluations",
                functools.partial(require_weights, version, before),
            )
            if "remark" in proof:
                self.steps.display.note(f"{version.name}: {proof['remark']}")

    def _estimate(self, first: Version) -> dict:
        """Check the program that evaluates, and estimate how long it takes to measure all numbers.
        InputError if that is more than the plan has minutes for."""
        plan, place = read_evals_plan(first.folder / EVALS), self.root / PACE
        texts = bundled_texts(plan.game, CHECKED_EVALS)
        workers = plan.workers or available_cpus()
        measurement = measurement_in(place, plan, texts, workers, self.display.note)
        sample = measurement.sample(texts)
        numbers = len(measurement.numbers.sites)
        more = (MOST_POSITIONS - len(texts)) * measurement.base.pace * numbers / workers
        seconds, most = measurement.seconds(sample) + more, MEASURE_SHARE * self.budget.seconds
        shutil.rmtree(place)
        shown = f"{plural(numbers, 'number')}: about {duration(seconds)} to measure what they count"
        self.display.note(f"{shown}, on {plural(workers, 'core')}")
        if seconds > most:
            raise InputError(
                f"{shown}, more than {MEASURE_SHARE:.0%} of the minutes; name fewer numbers (`only`"
                " in `source`), fewer positions of each game (`read: {per_game: 4}`), or give more"
                " minutes"
            )
        return {"numbers": numbers, "seconds": round(seconds, 1)}

    def _check_rows(
        self,
        number: int,
        prefix: str,
        version: Version,
        before: Version | None,
        games: Path | None,
    ) -> None:
        """Check the rows that a version prints."""
        plan, check = self.plan, version.folder / CHECK

        def require_rows(found: dict) -> None:
            if "not_linear" in plan.read:
                if before is not None:
                    known = self.steps.done[number, "rows"].found["remainder"]
                    _require_remainder(found["remainder"]["rms"], known["rms"])
            elif not (found["row_check"] and found["row_check"]["fits"]):
                raise InputError(
                    f"the rows of {version.name} are not its evaluation: {version.rows} prints rows"
                    " with the faults listed above; fix the macros, or name under"
                    " `read: {not_linear: ...}` the part that the counts do not cover"
                )

        self.steps.command(
            number,
            f"{prefix}check",
            ["dataset", str(games or "samples"), "--per-game", str(CHECKED), "--engine"]
            + [version.rows, "--params", str(version.params), "-o", str(check)]
            + words_of({"not_linear": plan.read.get("not_linear")}),
            ("row_check", "remainder"),
            require_rows,
        )

    def _judge(
        self,
        number: int,
        share: str,
        version: Version,
        before: Version,
        first: Version,
        seconds: float,
    ) -> Judgement:
        """Play against the previous version and the pool, for some seconds unless the plan names
        numbers of games, and judge by all matches so far."""
        match, pool = self.plan.match, [(first.name, first.player)] if before != first else []
        against, limit = self.plan.against, self.plan.limit
        rivals = bool(match.pool_games) * (len(pool) + len(against) * (2 if before == first else 1))
        own = Length(match.games, seconds * (1 - POOL_SHARE * bool(rivals)), decided=_has_decided)
        test = ["--sprt", *(f"{bound:g}" for bound in match.sprt)]
        name = f"{share} match before"
        self._match(number, name, version, before.name, before.player, limit, own, test)
        length = Length(match.pool_games, POOL_SHARE * seconds / max(rivals, 1))
        if pool and rivals:
            self._match(number, f"{share} match first", version, *pool[0], limit, length)
        for i, other in enumerate(against if rivals else (), 1):
            # the previous version has played them, unless it is the first one
            if before == first:
                self._match(1, f"first match {i}", first, other, other, limit, length)
            self._match(number, f"{share} match {i}", version, other, other, limit, length)
        ratings = joint_ratings(self.matches)
        gain = RESULTS_GAIN if self.plan.results else GAIN
        verdict = judged(ratings, version.name, before.name, gain)
        self.steps.once(
            number,
            f"{share} verdict",
            "ratings by all matches",
            lambda: {
                **verdict.plain,
                "version": version.name,
                "ratings": {
                    name: ratings.difference(name, first.name).plain for name in ratings.players
                },
            },
        )
        return verdict

    def _final(self, best: Version, first: Version) -> Judgement:
        """Play the match that decides whether the last version is better than the first one. It
        counts alone: that version was kept because it did well in the earlier ones."""
        number, plan = max(round for round, _ in self.steps.done), self.plan
        length = Length(plan.match.verdict_games, self.budget.final, LOOKS, is_settled)
        match = self._match(
            number, FINAL_MATCH, best, first.name, first.player, plan.match_limit, length
        )
        verdict = final_judgement(match)
        self.steps.once(
            number,
            FINAL,
            "the last match alone",
            lambda: {
                **verdict.plain,
                "version": best.name,
                "kept": verdict.rating.low > 0,
                "text": self._final_text(best, first),
            },
        )
        return verdict

    def _final_text(self, best: Version, first: Version) -> str:
        """Return the result of the final match, its limits and its openings, and that of the
        matches that chose the version."""
        final = [step.found for name, step in self.steps.done.items() if name[1] == FINAL_MATCH][-1]
        games, won, lost, drawn, pairs = (final.get(key, "?") for key in RESULT)
        openings = self.plan.match.openings or "random openings"
        rating = joint_ratings(self.matches).difference(best.name, first.name)
        return (
            f"final match: {plural(games, 'game')}, {won} won, {lost} lost, {drawn} drawn; Ptnml"
            f" {pairs}; {_limit_text(self.plan.match_limit)}; {openings}; the interval holds at any"
            f" time. The matches that chose it, {_limit_text(self.plan.limit)}:"
            f" {rating.text(0, '+')} Elo"
        )

    def _match(
        self,
        number: int,
        name: str,
        version: Version,
        other: str,
        player: str,
        limit: dict[str, float],
        length: Length,
        test: Sequence[str] = (),
    ) -> CountedMatch:
        """Play a match, and count its result."""
        final = name.startswith(FINAL)  # from different openings
        place = self.root / FINAL if final else version.folder / f"match-{name.split(' match ')[1]}"
        ours = other not in self.plan.against
        openings = self.plan.rounds + 1 if final else number
        words = [*self._against(openings, version, player, ours, limit), *test]

        def require(found: dict) -> None:
            sides = "ab" if ours else "a"
            try:
                require_few_faults(found.get("forfeits", {}), found["games"], sides, place)
            except InputError as problem:
                aside = place.with_name(f"{place.name}-faults")
                shutil.rmtree(aside, ignore_errors=True)
                place.rename(aside)  # it is played again
                raise InputError(str(problem).replace(str(place), str(aside))) from None

        keep = (*RESULT, "score", "elo", "los", "sprt", "forfeits")
        words = [*words, "--run", str(place)]
        played = self._play(number, name, place, words, keep, length, require)
        match = CountedMatch(version.name, other, played["pentanomial"])
        if not final:
            self.matches.append(match)
        return match

    def _play(
        self,
        number: int,
        name: str,
        folder: Path,
        words: list[str],
        keep: Sequence[str],
        length: Length,
        require: Callable[[dict], None] = lambda found: None,
    ) -> dict:
        """Perform a command that plays games, and whose run can be resumed in its folder, as a
        step."""
        words = self._resumed(number, name, folder, words)
        resume = [words[0], "--resume", str(folder)]
        told = read_told(folder) if words == resume else None
        before = told.settings["games"] if told else 0
        parts = itertools.chain([words], itertools.repeat(resume))

        def perform(count: int, left: float) -> dict:
            whole = [*next(parts), "--games", str(count), *self._cluster]
            found: dict = self._commands.perform(whole, left)
            require(found)
            return found

        def do() -> dict:
            pace = self.budget.pace("games" if name == "games" else "match")
            found = length.play(perform, pace, before)
            return {key: found[key] for key in keep if key in found}

        shown = f"tuner {shlex.join(words)}{length}"
        shown = shown.replace(str(self.root), str(self.steps.folder))
        return self.steps.once(number, name, shown, do)

    def _resumed(self, number: int, name: str, folder: Path, words: list[str]) -> list[str]:
        """Return the command that goes on with a run in its folder; the given one if there is none,
        or if it was begun with other options, which a plan that was corrected has. The number of
        games is no such option: it follows from the time."""
        if (number, name) in self.steps.done:
            return words
        begun = folder.with_name(f"{folder.name}.command")
        options = [w for k, w in enumerate(words) if "--games" not in (w, words[k - 1])]
        text = shlex.join(options)
        if kind_of(folder) and (not begun.exists() or begun.read_text() == text):
            return [words[0], "--resume", str(folder)]
        shutil.rmtree(folder, ignore_errors=True)
        begun.write_text(text)
        return words

    def _write(self, best: Version) -> None:
        """Write the patch to a version, and its numbers with the standard errors of what was
        learned."""
        replace_file(self.root / PATCH, (best.folder / PATCH).read_bytes())
        numbers, learned = (
            load_parameters(path) for path in (best.params, best.folder.parent / LEARNED)
        )
        games = {key: learned.learned[key] for key in ("games",) if key in learned.learned}
        kept = replace(
            numbers,
            standard_errors=learned.standard_errors,
            optimum=learned.optimum,
            learned=games,
        )
        write_parameters(self.root / LEARNED, kept)

    def _repository(self) -> Path:
        """The folder in which the patch is applied: the repository of the sources, if any."""
        source = Path(self.plan.source.folder)
        places = (place for place in (source, *source.parents) if (place / ".git").exists())
        return next(places, source)

    def _end(
        self, first: Version, best: Version, verdict: Judgement | None, lines: list[str]
    ) -> Improved:
        """Write the patch and the numbers if the verdict or the user says so; return the result."""
        better = verdict is not None and verdict.rating.low > 0
        written = best != first and (self._write_anyway or better)
        if written:
            self._write(best)
        return Improved(
            settings=self.settings,
            first=first.name,
            best=best.name,
            judged=bool(self.matches),
            rounds=tuple(lines),
            seconds=round(self.steps.spent, 1),
            steps=tuple(self.steps.done.values()),
            source=self.plan.source.folder,
            repository=str(self._repository()),
            verdict=verdict,
            final="" if verdict is None else self._final_text(best, first),
            patch=self.root / PATCH if written else None,
            learned=LEARNED,
            run=str(self.root),
        )
