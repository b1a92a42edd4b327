"""The loop of `tuner improve`: rounds of own games, learning and matches, which make an engine
stronger.

Every step is a command of its own, shown and kept with its result in the history of the run. A run
that goes on takes the results of the steps that were done, and begins with the one that was not."""

from __future__ import annotations

import shlex
import shutil
import time
from collections.abc import Callable, Sequence
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
    same_sources,
)
from tuner.io.files import CONFIG, HISTORY, replace_file
from tuner.io.records import record
from tuner.io.terminal import Display, duration
from tuner.options.option import OtherCommands
from tuner.parallel import Job, Running
from tuner.parameters.writer import write_parameters
from tuner.play.journal import GrowingFiles, json_line, json_object
from tuner.play.run import Run, RunResult
from tuner.statistics.ratings import RatedMatch, Ratings, joint_ratings, measured_elo
from tuner.version import __version__

Perform = Callable[[Sequence[str]], dict]  # performs a command of tuner, returns its result
SURE = 0.95  # likelihood of superiority from which a version is kept
CHECKED = 1  # positions of each game whose rows are checked after a build
FIRST, PATCH, LEARNED, SOURCE = "first", "improve.patch", "learned.yaml", "source"
WHOLE, HALF = "whole", "half"
LEARN = {"targets": "scores", "blend": "later"}  # by matches, see docs/improve.md


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
                step = LoopStep(**json_object(raw))
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
            found = do()
            step = LoopStep(number, name, round(time.monotonic() - begun, 1), command, found)
            self._files.append(json_line(step._asdict()))
            self._files.sync()
            self.done[number, name] = step
        return self.done[number, name].found

    def command(self, number: int, name: str, words: Sequence[str], keep: Sequence[str]) -> dict:
        """Perform a command of tuner as a step, and keep some of its result."""

        def do() -> dict:
            found = self.perform(words)
            return {key: found[key] for key in keep if key in found}

        shown = "tuner " + shlex.join(words)  # paths as the user named the folder
        shown = shown.replace(str(self.folder.absolute()), str(self.folder))
        return self.once(number, name, shown, do)

    def _place(self, number: int) -> str:
        return f"round {number} of {self.rounds}" if number else "before the rounds"

    def _left(self, number: int) -> str:
        """How long the run took so far, and what is left if this and all later rounds take as long
        as the first one did."""
        spent = sum(step.seconds for step in self.done.values())
        if number < 2:
            return f" ({duration(spent)} so far)" if spent >= 1 else ""
        first = {step.step: step.seconds for step in self.done.values() if step.round == 1}
        now = {step.step for step in self.done.values() if step.round == number}
        left = sum(seconds for name, seconds in first.items() if name not in now)
        left += (self.rounds - number) * sum(first.values())
        return f" ({duration(spent)} so far, at most about {duration(left)} left)"


class Judgement(NamedTuple):
    """Whether a version is kept: by how much it is rated above the one before, with its standard
    error, and the likelihood that it is the better one."""

    difference: float
    error: float
    los: float

    @property
    def kept(self) -> bool:
        return self.los >= SURE

    def __str__(self) -> str:
        return (
            f"rated {self.difference:+.0f} +/- {1.96 * self.error:.0f} Elo above the version before"
            f" by all matches, better with {100 * self.los:.1f} %"
        )


def judged(matches: Sequence[RatedMatch], version: str, before: str) -> tuple[Judgement, Ratings]:
    """Judge a version by all matches so far."""
    ratings = joint_ratings(matches)
    difference, error = ratings.difference(version, before)
    return Judgement(difference, error, NormalDist().cdf(difference / error)), ratings


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
            self._games(1, version, Path("games")),
            self._rows(version, Path("games"), Path("rows")),
            self._learn(version, Path("rows"), Path("learn")),
            self._against(1, version, version.player, True, ["--games", "2"]),
        )
        for each in words:
            self._commands.require(each)
        return __version__

    def job(self) -> Job | None:
        return None

    def place(self, folder: Path) -> None:
        """The first step copies what the run begins with."""

    def play(self, folder: Path, playing: Running | None) -> RunResult:
        with Steps(folder, self.plan.rounds, self.display, self._commands.perform) as steps:
            self.steps, self.root = steps, folder.absolute()
            self.matches: list[RatedMatch] = []
            first = self._first()
            kept, lines = first, []
            for number in range(1, self.plan.rounds + 1):
                after, line = self._round(number, kept, first)
                self.display.note(line)
                lines.append(line)
                if after is None:
                    break
                kept = after
            return RunResult(*self._end(first, kept, lines), False)

    def _first(self) -> Version:
        """Copy, build and check the engine as it is."""
        plan, source = self.plan, self.root / SOURCE
        place = Path(plan.source.folder)

        def copy() -> dict:
            copy_folder(place, source, self.root)
            return {}

        self.steps.once(0, "copy", f"{place} to {source}", copy)
        first = Version("the first version", self.root / FIRST, plan)
        self._built(0, "", first, None, None)
        return first

    def _round(self, number: int, before: Version, first: Version) -> tuple[Version | None, str]:
        """Play, learn, build and judge; return the version that is kept, None if none wins, and
        what happened in words."""
        place = self.root / f"round-{number}"
        place.mkdir(exist_ok=True)
        games, rows, learned = place / "games", place / "rows.ds", place / LEARNED
        words = self._games(number, before, games)
        keep = ("games", "repeated", "unfinished", "outcomes")
        self._resumable(number, "games", games, words, keep)
        words = self._rows(before, games, rows)
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
            if verdict.kept:
                return version, f"{version.name} is kept: {verdict}"
            self.display.note(f"{version.name} is not kept: {verdict}")
        return None, f"round {number} changes nothing: neither its numbers nor half of the way win"

    def _games(self, number: int, before: Version, games: Path) -> list[str]:
        """The command that plays the games of a round."""
        plan = self.plan
        return [
            *("games", before.player, "-o", str(games), "--games", str(plan.games)),
            *words_of({"seed": plan.seed + number - 1, **plan.limit, **plan.play}),
            *self._options("--option"),
        ]

    def _rows(self, before: Version, games: Path, rows: Path) -> list[str]:
        """The command that counts their rows."""
        return [
            *("dataset", str(games), "--engine", before.rows, "--params", str(before.params)),
            *("-o", str(rows), *words_of(self.plan.read)),
        ]

    def _learn(self, before: Version, rows: Path, run: Path) -> list[str]:
        """The command that learns from them."""
        return [
            *("tune", str(before.params), str(rows), "-o", str(run.with_name(LEARNED))),
            *("--run", str(run), *words_of({**LEARN, **self.plan.learn})),
        ]

    def _against(
        self, number: int, version: Version, player: str, ours: bool, length: list[str]
    ) -> list[str]:
        """The command of a match against another player, a version of `ours` or not."""
        plan = self.plan
        return [
            *("match", version.player, player, *length),
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
            copy_folder(self.root / SOURCE, version.tree, self.root)
            changed = None
            if numbers is not None:
                into = [word for path in version.sources for word in ("--into", str(path))]
                self._commands.perform(["export", str(numbers), *into, *version.numbers])
                assert before is not None
                changed = not same_sources(version, before)
            if changed is not False:
                build(version)
                if before is not None:
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
        row_check = self.steps.command(
            number,
            f"{prefix}check",
            ["dataset", str(games or "samples"), "--per-game", str(CHECKED), "--engine"]
            + [version.rows, "--params", str(version.params), "-o", str(check)]
            + words_of({"not_linear": plan.read.get("not_linear")}),
            ("row_check",),
        )["row_check"]
        if not (row_check and row_check["fits"]) and "not_linear" not in plan.read:
            raise InputError(
                f"the rows of {version.name} are not its evaluation: {version.rows} prints rows of"
                " which tuner dataset says above what differs; mend the marks, or name under `read:"
                " {not_linear: ...}` what no counts express"
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
        verdict, ratings = judged(self.matches, version.name, before.name)
        self.steps.once(
            number,
            f"{share} verdict",
            "ratings by all matches",
            lambda: {
                **verdict._asdict(),
                "kept": verdict.kept,
                "ratings": {name: ratings.difference(name, first.name) for name in ratings.players},
            },
        )
        return verdict

    def _match(
        self, number: int, name: str, version: Version, other: str, player: str, length: list[str]
    ) -> None:
        """Play a match, and count its result."""
        place = version.folder / f"match-{name.partition(' match ')[2]}"
        ours = other not in self.plan.against
        words = self._against(number, version, player, ours, length)
        found = self._resumable(
            number,
            name,
            place,
            [*words, "--run", str(place)],
            ("games", "pentanomial", "score", "elo", "los", "sprt", "forfeits"),
        )
        self.matches.append(measured_elo(version.name, other, found["pentanomial"]))

    def _resumable(
        self, number: int, name: str, folder: Path, words: list[str], keep: Sequence[str]
    ) -> dict:
        """Perform a command whose run can go on in its folder."""
        if (number, name) not in self.steps.done:
            if (folder / CONFIG).exists():
                words = [words[0], "--resume", str(folder)]
            else:
                shutil.rmtree(folder, ignore_errors=True)
        return self.steps.command(number, name, [*words, *self._cluster], keep)

    def _end(self, first: Version, kept: Version, lines: list[str]) -> tuple[list[str], dict]:
        """Write the patch and the numbers of the version that is kept; return the result."""
        plan, steps = self.plan, self.steps.done.values()
        seconds = sum(step.seconds for step in steps)
        plain = {
            "run": str(self.root),
            "rounds": max(step.round for step in steps),
            "kept": kept.name,
            "seconds": round(seconds, 1),
            "steps": [step._asdict() for step in steps],
        }
        if kept == first:
            lines += [f"nothing won: the numbers of {plan.source.folder} stay as they are"]
            return lines, plain
        root = next(
            (
                place
                for place in (Path(plan.source.folder), *Path(plan.source.folder).parents)
                if (place / ".git").exists()
            ),
            Path(plan.source.folder),
        )
        inside = Path(plan.source.folder).relative_to(root)
        patch = self.root / PATCH
        replace_file(patch, patch_between(first, kept, inside))
        replace_file(self.root / LEARNED, kept.params.read_bytes())
        ratings = judged(self.matches, kept.name, first.name)[0]
        lines += [
            f"{kept.name} is rated {ratings.difference:+.0f} +/- {1.96 * ratings.error:.0f} Elo"
            f" above {first.name}, by all matches",
            f"wrote {shlex.quote(str(patch))} and {LEARNED} beside it; nothing in"
            f" {plan.source.folder} was touched",
            f"next: tuner report {shlex.quote(str(self.root))}",
            f"next: git -C {shlex.quote(str(root))} apply {shlex.quote(str(patch))}",
        ]
        return lines, plain | {"patch": str(patch), "rating": ratings._asdict()}
