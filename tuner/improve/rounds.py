"""The loop of `tuner improve`: rounds of own games, learning and matches, which make an engine
stronger.

Every step is a command of its own, shown and kept with its result in the history of the run. A run
that goes on takes the results of the steps that were done, and begins with the one that was not."""

from __future__ import annotations

import shlex
import shutil
import time
import zlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import NormalDist
from typing import Any, NamedTuple

from games.streams import InputError
from tuner.evaluation.loading import load_parameters
from tuner.improve.plan import ImproveSettings, LoopPlan, words_of
from tuner.improve.versions import (
    Version,
    build,
    copy_folder,
    patch_between,
    require_new_program,
    require_no_faults,
    require_players,
    same_sources,
    untouched,
)
from tuner.io.files import CONFIG, HISTORY, replace_file
from tuner.io.records import record
from tuner.io.run_folder import kind_of, locked
from tuner.io.terminal import Display, duration
from tuner.options.option import OtherCommands
from tuner.parallel import Job, Running
from tuner.parameters.writer import write_parameters
from tuner.play.journal import GrowingFiles, json_line, json_object
from tuner.play.run import Run, RunResult
from tuner.statistics.ratings import CountedMatch, JointRatings, joint_ratings
from tuner.version import __version__

Perform = Callable[[Sequence[str]], dict]  # performs a command of tuner, returns its result
LIKELY = 0.75  # likelihood of superiority over the version before from which a loop goes on from it
SURE = 0.95  # likelihood of superiority over the first version from which a version is a result
CHECKED = 1  # positions of each game whose rows are checked after a build
FIRST, PATCH, LEARNED, SOURCE = "first", "improve.patch", "learned.yaml", "source"
PACE, ROWS = "pace", "rows.ds"
PATIENCE = 2  # rounds with the games of one version, none of which wins, after which a loop ends
PACE_GAMES = 40
PACE_SHARES = (
    0.5,
    0.25,
    0.1,
)  # of a round's time: own games, matches with the version before, pool
FEWEST = (100, 40, 20)  # games of each, however short the time
WHOLE, HALF, LAST = "whole", "half", "last"
LEARN = {"method": "scores", "blend": "later"}  # by matches, see docs/improve.md


class LoopStep(NamedTuple):
    """A step that was done: of a round, its name, how long it took, the command, and what was
    found."""

    round: int
    step: str
    seconds: float
    command: str
    found: dict[str, Any]


class Steps:
    """The steps of a run so far, in its history; a context manager."""

    def __init__(self, folder: Path, rounds: int, display: Display, perform: Perform) -> None:
        self.rounds, self.display, self.perform = rounds, display, perform
        self.folder = folder
        self._files = GrowingFiles(folder, (HISTORY,), "earlier steps are kept")
        self.done: dict[tuple[int, str], LoopStep] = {}
        self.expected: float | None = None  # seconds of the games of a round
        with self._files.opened():
            self._read(folder / HISTORY)

    def __enter__(self) -> Steps:
        return self

    def __exit__(self, *problem: object) -> None:
        self._files.close()

    def _read(self, path: Path) -> None:
        """Read the steps that were done, and cut off a line that a kill left unfinished."""
        content = path.read_bytes() if path.exists() else b""
        whole = content.rfind(b"\n") + 1
        for number, raw in enumerate(content[:whole].splitlines(), 1):
            try:
                plain = json_object(raw)
                if plain.pop("crc", None) != zlib.crc32(json_line(plain)):
                    raise ValueError("changed")
                step = LoopStep(**plain)
                self.done[step.round, step.step] = step
            except (ValueError, TypeError):
                raise InputError(
                    f"{path}:{number}: damaged, expected a step; restore the file, or start another"
                    " run"
                ) from None
        if whole < len(content):
            with open(path, "r+b") as stream:
                stream.truncate(whole)

    def once(self, number: int, name: str, command: str, do: Callable[[], dict]) -> dict:
        """Do a step of a round unless it was done; return what it found."""
        if (number, name) not in self.done:
            self.display.note(f"{self._place(number)}, {name}{self._left(number)}: {command}")
            begun = time.monotonic()
            try:
                found = do()
            except InputError as problem:
                place, again = f"{self._place(number)}, {name}", self._again(number)
                raise InputError(f"{place}: {problem}; {again}") from None
            step = LoopStep(number, name, round(time.monotonic() - begun, 1), command, found)
            line = json_line(step._asdict())
            self._files.append(json_line({**step._asdict(), "crc": zlib.crc32(line)}))
            self._files.sync()
            self.done[number, name] = step
        return self.done[number, name].found

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
            found = self.perform(words)
            require(found)
            return {key: found[key] for key in keep if key in found}

        shown = "tuner " + shlex.join(words)  # paths as the user named the folder
        shown = shown.replace(str(self.folder.absolute()), str(self.folder))
        return self.once(number, name, shown, do)

    def _again(self, number: int) -> str:
        """How a loop goes on when what stopped a step of a round is mended."""
        folder = shlex.quote(str(self.folder))
        if not number:
            return f"mend that, and begin again with tuner improve PLAN --run {folder}"
        return f"tuner improve --resume {folder} does this step again, by the plan in its {CONFIG}"

    def _place(self, number: int) -> str:
        return f"round {number} of {self.rounds}" if number else "before the rounds"

    def _left(self, number: int) -> str:
        """How long the run took so far, and how long the games that are left take at most."""
        spent = sum(step.seconds for step in self.done.values())
        if self.expected is None:
            return f" ({duration(spent)} so far)" if spent >= 1 else ""
        now = sum(step.seconds for step in self.done.values() if step.round == number)
        left = max(self.expected - now, 0.0) + (self.rounds - number) * self.expected
        return f" ({duration(spent)} so far, about {duration(left)} left if all rounds are played)"


class Judgement(NamedTuple):
    """By how much a version is rated above another one, with the standard error, and the likelihood
    that it is the better one."""

    difference: float
    error: float
    los: float

    def __str__(self) -> str:
        return f"{self.difference:+.0f} +/- {1.96 * self.error:.0f} Elo"


def judged(ratings: JointRatings, version: str, other: str) -> Judgement:
    """Judge a version by the ratings that all matches so far give."""
    difference, error = ratings.difference(version, other)
    return Judgement(difference, error, NormalDist().cdf(difference / error))


def best_of(ratings: JointRatings, versions: Sequence[Version], first: Version) -> Version:
    """Return the version that is rated highest of those that are surely better than the first one;
    the first one if none is."""
    better = [
        version
        for version in versions
        if version != first and judged(ratings, version.name, first.name).los >= SURE
    ]
    rated = [(judged(ratings, version.name, first.name).difference, version) for version in better]
    return max(rated, key=lambda pair: pair[0])[1] if rated else first


def begin_again(folder: Path) -> None:
    """Remove what a loop left in a folder if it had not begun its first round: it can be given the
    same folder again. InputError if it still runs."""
    if kind_of(folder) == ImproveRun.section and not (folder / "round-1").exists():
        with locked(folder):
            for name in (CONFIG, HISTORY):
                (folder / name).unlink(missing_ok=True)
            for name in (FIRST, SOURCE, PACE):
                shutil.rmtree(folder / name, ignore_errors=True)


class ImproveRun(Run):
    """Rounds that make an engine stronger, by the other commands."""

    command, section, kind = "improve", "improve", ImproveSettings
    program, what = "program", "loop"

    def __init__(
        self,
        settings: ImproveSettings,
        output: Path | None,
        display: Display,
        commands: OtherCommands,
        cluster: str | None = None,
    ) -> None:
        super().__init__(settings, output, display)
        self.plan = record(LoopPlan, settings.plan, "plan")
        self._commands = commands
        self._cluster = ["--cluster", cluster] if cluster else []

    def require_output(self, folder: Path | None) -> None:
        """There is no output beside the folder."""

    def load(self, folder: Path | None) -> str | None:
        """Check the options of all steps, which are those of the commands, before the first of them
        takes its time."""
        version = Version("", folder or Path(), self.plan)
        words = (
            self._games(1, version, Path("games"), self.plan.games),
            self._rows(version, Path("games"), Path("rows")),
            self._learn(version, [Path("rows")], Path("learn")),
            self._against(1, version, version.player, True, ["--games", "2"]),
        )
        require_players(version)
        for keys, each in zip(("play or limit", "read", "learn", "match"), words, strict=True):
            try:
                self._commands.require(each)
            except InputError as problem:
                raise InputError(f"the plan, {keys}: {problem}") from None
        return __version__

    def job(self) -> Job | None:
        return None

    def place(self, folder: Path) -> None:
        """The first step copies what the run begins with."""

    def play(self, folder: Path, playing: Running | None) -> RunResult:
        with Steps(folder, self.plan.rounds, self.display, self._commands.perform) as steps:
            self.steps, self.root = steps, folder.absolute()
            self.matches: list[CountedMatch] = []
            first = self._first()
            self._measure_pace(first)
            versions, lines = [first], list[str]()
            try:
                self._rounds(versions, lines)
                return RunResult(*self._end(first, self._best(versions), lines), False)
            except KeyboardInterrupt:
                lines, plain = self._end(first, self._best(versions), lines)
                return RunResult([*lines, self.advice(folder)], plain, True)
            except (FileNotFoundError, NotADirectoryError, PermissionError) as problem:
                raise InputError(
                    f"{problem.filename}: {problem.strerror}; an earlier step left it there:"
                    " restore it, or begin another run"
                ) from None

    def _rounds(self, versions: list[Version], lines: list[str]) -> None:
        """Play rounds; add the versions that they go on from, and what happened in words."""
        first = versions[0]
        rows: list[Path] = []  # of the games of the last version
        for number in range(1, self.plan.rounds + 1):
            rows.append(self.root / f"round-{number}" / ROWS)
            after, line = self._round(number, versions[-1], first, rows)
            lines.append(line)
            if after is not None:
                versions.append(after)
                rows = []
            best = self._best(versions)
            if best != first:
                line = f"{line}; {self._write(first, best)}"
            self.display.note(line)
            if len(rows) == PATIENCE:
                break
        if versions[-1] != self._best(versions) == first:
            self._once_more(number, versions[-1], first)

    def _best(self, versions: list[Version]) -> Version:
        if not self.matches:
            return versions[0]
        return best_of(joint_ratings(self.matches), versions, versions[0])

    def _first(self) -> Version:
        """Copy, build and check the engine as it is."""
        plan, source = self.plan, self.root / SOURCE
        place = Path(plan.source.folder)

        def copy() -> dict:
            copy_folder(place, source)
            return {}

        self.steps.once(0, "copy", f"{place} to {source}", copy)
        first = Version("the first version", self.root / FIRST, plan)
        self._built(0, "", first, None, None)
        return first

    def _measure_pace(self, first: Version) -> None:
        """Play a few games and a short match, which says how long rounds take; set the numbers of
        games if the plan says for how long to play."""
        place = self.root / PACE
        few = ["--games", str(PACE_GAMES)]
        both = (
            self._games(0, first, place, PACE_GAMES),
            self._against(0, first, first.player, True, few),
        )

        def measure() -> dict:
            shutil.rmtree(place, ignore_errors=True)
            times = [time.monotonic()]
            for words in both:
                require_no_faults(self._commands.perform(words), both=True)
                times.append(time.monotonic())
            return {
                "games": (times[1] - times[0]) / PACE_GAMES,
                "match": (times[2] - times[1]) / PACE_GAMES,
            }

        shown = f"{PACE_GAMES} games and a match of {PACE_GAMES} games, to see how long they take"
        pace = self.steps.once(0, PACE, shown, measure)
        seconds = (pace["games"], pace["match"], pace["match"])
        if self.plan.minutes is not None:
            a_round = 60 * self.plan.minutes / self.plan.rounds
            games, match, pool = (
                max(fewest, 2 * round(share * a_round / each / 2))
                for share, each, fewest in zip(PACE_SHARES, seconds, FEWEST, strict=True)
            )
            self.plan = replace(
                self.plan, games=games, match=replace(self.plan.match, games=match, pool_games=pool)
            )
        plan = self.plan
        numbers = (plan.games, plan.match.games, plan.match.pool_games)
        self.steps.expected = sum(
            each * number for each, number in zip(seconds, numbers, strict=True)
        )
        self.display.note(
            f"a round of {plan.games:,} games and matches of at most {plan.match.games:,} and"
            f" {plan.match.pool_games:,} games takes about {duration(self.steps.expected)}, and as"
            " long as the matches more if half of the way is tried"
        )

    def _round(
        self, number: int, before: Version, first: Version, rows: Sequence[Path]
    ) -> tuple[Version | None, str]:
        """Play, learn from all rows of the version before, the last of which are those of this
        round, build and judge; return the version that the loop goes on from, None if none wins,
        and what happened in words."""
        place = self.root / f"round-{number}"
        place.mkdir(exist_ok=True)
        games, learned = place / "games", place / LEARNED
        words = self._games(number, before, games, self.plan.games)
        keep = ("games", "repeated", "unfinished", "outcomes")
        self._resumable(number, "games", games, words, keep)
        words = self._rows(before, games, rows[-1])
        self.steps.command(number, "rows", words, ("games", "positions", "row_check"))
        run = place / "learn"
        if (number, "learn") not in self.steps.done:
            shutil.rmtree(run, ignore_errors=True)
        self.steps.command(
            number,
            "learn",
            self._learn(before, rows, run),
            ("positions", "loss_before", "loss_after", "held_out", "noise"),
        )
        for share in (WHOLE, HALF):
            numbers = learned if share == WHOLE else self._half(number, before, learned)
            version = Version(
                f"round {number}" + " by half" * (share == HALF), place / share, self.plan
            )
            if not self._built(number, share, version, numbers, before, games):
                return None, f"round {number}: no number changes, so there is nothing to play for"
            verdict = self._judge(number, share, version, before, first)
            said = f"{version.name}: {verdict} against the version before by all matches"
            if verdict.los >= LIKELY:
                return version, f"{said}, so it is likely better"
            self.display.note(f"{said}, so it is left")
        return None, f"round {number}: neither its numbers nor half of the way win"

    def _games(self, number: int, before: Version, games: Path, count: int) -> list[str]:
        """The command that plays the games of a round."""
        plan = self.plan
        return [
            *("games", before.player, "--run", str(games), "--games", str(count)),
            *words_of({"seed": plan.seed + number - 1, **plan.limit, **plan.play}),
            *self._options("--option"),
        ]

    def _rows(self, before: Version, games: Path, rows: Path) -> list[str]:
        """The command that counts their rows."""
        return [
            *("dataset", str(games), "--engine", before.rows, "--params", str(before.params)),
            *("-o", str(rows), *words_of(self.plan.read)),
        ]

    def _learn(self, before: Version, rows: Sequence[Path], run: Path) -> list[str]:
        """The command that learns from them."""
        return [
            *("tune", str(before.params), *map(str, rows), "-o", str(run.with_name(LEARNED))),
            *("--run", str(run), *words_of({**LEARN, **self.plan.learn})),
        ]

    def _against(
        self, number: int, version: Version, player: str, ours: bool, length: list[str]
    ) -> list[str]:
        """The command of a match against another player, a version of `ours` or not."""
        plan = self.plan
        return [
            *("match", version.player, player, "--restart", *length),
            *words_of({"seed": plan.seed + 1000 * number, **plan.match_limit}),
            *words_of({"openings": plan.match.openings}),
            *self._options("--option-a"),
            *(self._options("--option-b") if ours else []),
        ]

    def _options(self, name: str) -> list[str]:
        return [
            word for key, value in self.plan.options.items() for word in (name, f"{key}={value}")
        ]

    def _half(self, number: int, before: Version, learned: Path) -> Path:
        """Write the numbers half of the way from a version to what was learned."""
        path = learned.with_name("half.yaml")
        start, end = load_parameters(before.params), load_parameters(learned)
        write_parameters(path, start.with_weights((start.weights + end.weights) / 2))
        return path

    def _built(
        self,
        number: int,
        share: str,
        version: Version,
        numbers: Path | None,
        before: Version | None,
        games: Path | None = None,
    ) -> bool:
        """Copy the sources, write numbers into them, build, and check the rows. Return whether a
        number changed."""
        plan, prefix = self.plan, f"{share} " if share else ""

        def make() -> dict:
            shutil.rmtree(version.folder, ignore_errors=True)
            version.folder.mkdir()
            copy_folder(self.root / SOURCE, version.tree)
            changed = None
            if numbers is not None:
                into = [word for path in version.sources for word in ("--into", str(path))]
                self._commands.perform(["export", str(numbers), *into, *version.numbers])
                assert before is not None
                changed = not same_sources(version, before)
            if before is None:
                with untouched(Path(plan.source.folder)):
                    build(version)
            elif changed:
                build(version)
                require_new_program(version, before)
            return {"changed": changed}

        found = self.steps.once(number, f"{prefix}build", f"`{plan.build}`", make)
        if found["changed"] is False:
            return False
        sources = [word for path in version.sources for word in ("--from", str(path))]
        self.steps.command(
            number,
            f"{prefix}numbers",
            ["export", plan.params, *sources, "-o", str(version.params), *version.numbers],
            ("numbers",),
        )
        check = version.folder / "check.ds"

        def require_rows(found: dict) -> None:
            if not (found["row_check"] and found["row_check"]["fits"]):
                raise InputError(
                    f"the rows of {version.name} are not its evaluation: {version.rows} prints rows"
                    " of which tuner dataset says above what differs; mend the marks, or name under"
                    " `read: {not_linear: ...}` what no counts express"
                )

        self.steps.command(
            number,
            f"{prefix}check",
            ["dataset", str(games or "samples"), "--per-game", str(CHECKED), "--engine"]
            + [version.rows, "--params", str(version.params), "-o", str(check)]
            + words_of({"not_linear": plan.read.get("not_linear")}),
            ("row_check",),
            require_rows if "not_linear" not in plan.read else lambda found: None,
        )
        return True

    def _judge(
        self, number: int, share: str, version: Version, before: Version, first: Version
    ) -> Judgement:
        """Play against the pool and judge by all matches so far."""
        match = self.plan.match
        test = ["--sprt", *(f"{bound:g}" for bound in match.sprt), "--games", str(match.games)]
        self._match(number, f"{share} match before", version, before.name, before.player, test)
        fixed = ["--games", str(match.pool_games)]
        if before != first and match.pool_games:
            self._match(number, f"{share} match first", version, first.name, first.player, fixed)
        for i, other in enumerate(self.plan.against, 1):
            # the version before has played them, unless it is the first one
            if before == first:
                self._match(1, f"first match {i}", first, other, other, fixed)
            self._match(number, f"{share} match {i}", version, other, other, fixed)
        return self._verdict(number, share, version, before, first)

    def _once_more(self, number: int, version: Version, first: Version) -> None:
        """Play the first version again, since the matches so far do not show whether a version that
        won is better than it."""
        test = ["--games", str(self.plan.match.games)]
        self._match(number, f"{LAST} match first", version, first.name, first.player, test)
        self._verdict(number, LAST, version, first, first)

    def _verdict(
        self, number: int, share: str, version: Version, before: Version, first: Version
    ) -> Judgement:
        """Judge a version by all matches so far, as a step."""
        ratings = joint_ratings(self.matches)
        verdict = judged(ratings, version.name, before.name)
        self.steps.once(
            number,
            f"{share} verdict",
            "ratings by all matches",
            lambda: {
                **verdict._asdict(),
                "version": version.name,
                "kept": verdict.los >= (SURE if share == LAST else LIKELY),
                "ratings": {name: ratings.difference(name, first.name) for name in ratings.players},
            },
        )
        return verdict

    def _match(
        self, number: int, name: str, version: Version, other: str, player: str, length: list[str]
    ) -> None:
        """Play a match, and count its result."""
        again = name.startswith(LAST)  # from other openings
        place = version.folder / (
            "match-last" if again else f"match-{name.partition(' match ')[2]}"
        )
        ours = other not in self.plan.against
        openings = number + self.plan.rounds if again else number
        words = self._against(openings, version, player, ours, length)

        def require(found: dict) -> None:
            try:
                require_no_faults(found, both=ours)
            except InputError:
                aside = place.with_name(f"{place.name}-faults")
                shutil.rmtree(aside, ignore_errors=True)
                place.rename(aside)  # it is played again
                raise

        found = self._resumable(
            number,
            name,
            place,
            [*words, "--run", str(place)],
            ("games", "pentanomial", "score", "elo", "los", "sprt", "forfeits"),
            require,
        )
        self.matches.append(CountedMatch(version.name, other, found["pentanomial"]))

    def _resumable(
        self,
        number: int,
        name: str,
        folder: Path,
        words: list[str],
        keep: Sequence[str],
        require: Callable[[dict], None] = lambda found: None,
    ) -> dict:
        """Perform a command whose run can go on in its folder."""
        if (number, name) not in self.steps.done:
            if (folder / CONFIG).exists():
                words = [words[0], "--resume", str(folder)]
            else:
                shutil.rmtree(folder, ignore_errors=True)
        return self.steps.command(number, name, [*words, *self._cluster], keep, require)

    def _write(self, first: Version, best: Version) -> str:
        """Write the patch to a version and its numbers; return by how much it is better."""
        source = Path(self.plan.source.folder)
        patch = patch_between(first, best, source.relative_to(self._repository()))
        replace_file(self.root / PATCH, patch)
        replace_file(self.root / LEARNED, best.params.read_bytes())
        verdict = judged(joint_ratings(self.matches), best.name, first.name)
        return f"{best.name} is rated {verdict} above {first.name} by all matches"

    def _repository(self) -> Path:
        """The folder in which the patch is applied: that of the history of the sources, if any."""
        source = Path(self.plan.source.folder)
        places = (place for place in (source, *source.parents) if (place / ".git").exists())
        return next(places, source)

    def _end(self, first: Version, best: Version, lines: list[str]) -> tuple[list[str], dict]:
        """Write the patch and the numbers of the best version; return the result."""
        plan, steps = self.plan, self.steps.done.values()
        plain = {
            "run": str(self.root),
            "rounds": max(step.round for step in steps),
            "kept": best.name,
            "seconds": round(sum(step.seconds for step in steps), 1),
            "steps": [step._asdict() for step in steps],
        }
        if best == first:
            lines += [
                f"no version is better than the first one with {100 * SURE:.0f} % likelihood: the"
                f" numbers of {plan.source.folder} stay as they are"
            ]
            return lines, plain
        lines.append(self._write(first, best))
        patch, root = shlex.quote(str(self.root / PATCH)), shlex.quote(str(self._repository()))
        lines += [
            f"wrote {patch} and {LEARNED} beside it; nothing in {plan.source.folder} was touched",
            f"next: tuner report {shlex.quote(str(self.root))}",
            f"next: git -C {root} apply {patch}",
        ]
        verdict = judged(joint_ratings(self.matches), best.name, first.name)
        return lines, plain | {"patch": str(self.root / PATCH), "rating": verdict._asdict()}
