"""A teacher: scores of positions by an external engine, several processes side by side, each
position searched once and kept on disk."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

import numpy as np

from games.compile.cache import cache_home
from games.process import split_command
from games.record import (
    Asked,
    Control,
    EngineFault,
    Evaluator,
    Game,
    PositionBatch,
    Searched,
    find,
)
from tuner.cluster.worker import program
from tuner.core.records import InputError
from tuner.core.store import open_database, using
from tuner.core.text import plural
from tuner.io.files import sha256_of, unwritable
from tuner.parallel import Executor, Job, JobState, OnThreads, Running, run

BOOK = "OwnBook"  # moves of a book have no scores
# of the tables of an engine whose searches are short: clearing larger ones takes longer than
# searching
MEGABYTES = 4


TABLES = "Hash", "USI_Hash"  # options that set their size


def command_of(text: str, expected: str = "uci") -> str:
    """Return the command of `PROTOCOL:COMMAND`; InputError for unknown texts and protocols."""
    protocol, separator, command = text.partition(":")
    if protocol != expected or not separator or not command.strip():
        raise InputError(
            f'{text}: not an engine that evaluates positions, expected "{expected}:COMMAND"'
        )
    return command


def evaluator_of(game: Game, text: str, values: Mapping[str, object]) -> Evaluator:
    """Start the engine `uci:COMMAND`, or an engine of the game's protocol, with options; InputError
    if that fails.

    Unless given, its tables are small and `OwnBook` false, if the engine has these options.
    """
    make = game.contest.evaluator
    if make is None:
        raise InputError(f"{text}: {game.name} has no engines that evaluate positions")
    engine = make(command_of(text, game.contest.evaluating), values)
    given = {name.lower() for name in values}
    if BOOK in engine.options and BOOK.lower() not in given:
        engine.set({BOOK: "false"})
    for name in TABLES:
        table = engine.options.get(name)
        if (
            table is not None
            and table.low is not None
            and table.high is not None
            and name.lower() not in given
        ):
            engine.set({name: min(max(MEGABYTES, table.low), table.high)})
    return engine


def program_files(text: str, values: Mapping[str, object], engine: Evaluator) -> dict[str, str]:
    """Return the sha256 of the program of `PROTOCOL:COMMAND` and of the files that its arguments
    and options name, by their names: a program that was built again is another one. Of our own
    program the sources count, too."""
    words = split_command(text.partition(":")[2])
    path = Path(os.path.realpath(shutil.which(words[0]) or words[0]))
    given = [str(value) for value in values.values()]
    defaults = [option.default for option in engine.options.values() if option.default]
    named = [
        str(path),
        *words[1:],
        *(word.partition("=")[2] for word in words[1:]),
        *given,
        *defaults,
        *(str(path.parent / name) for name in (*given, *defaults)),
    ]
    weights = [str(Path(name).with_suffix(".npz")) for name in named if name.endswith(".yaml")]
    hashes = {name: sha256_of(name) for name in (*named, *weights) if name and os.path.isfile(name)}
    ours = path.stem == "tuner" or "tuner" in words
    return hashes | ({"sources": program()["sources"]} if ours else {})


VERSION = 1  # of its tables
SCHEMA = """CREATE TABLE about (json TEXT);
CREATE TABLE scores (key INTEGER PRIMARY KEY, score REAL NOT NULL)"""
ADVICE = "remove it, or choose another folder for the scores"


def keys_of(positions: np.ndarray) -> list[int]:
    """Return hashes of positions (n, words), 64 bits."""
    return [
        int.from_bytes(
            hashlib.blake2b(words.tobytes(), digest_size=8).digest(), "little", signed=True
        )
        for words in positions.astype("<u8")
    ]


def cache_path(about: Mapping[str, object], folder: Path | None = None) -> Path:
    """Return the file for the scores of this engine: its name, options and limits; by default in
    the user's cache."""
    name = re.sub(r"[^a-z0-9]+", "-", str(about.get("engine", "")).lower()).strip("-")[:40]
    digest = hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()[:12]
    return (cache_home() / "scores" if folder is None else folder) / f"{name}-{digest}.db"


class ScoreCache:
    """The scores of an engine in a database, which processes share. InputError if it is damaged,
    is of another engine, or cannot be written."""

    def __init__(self, path: Path, about: Mapping[str, object]) -> None:
        self.path, text = path, json.dumps(about, sort_keys=True)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as problem:
            raise unwritable(path, problem, "choose another folder for the scores") from None
        self._database = open_database(path, SCHEMA, VERSION, ADVICE)
        with using(path, ADVICE):
            self._database.execute(
                "INSERT INTO about SELECT ? WHERE NOT EXISTS (SELECT * FROM about)", (text,)
            )
            if self._database.execute("SELECT json FROM about").fetchone() != (text,):
                self.close()
                raise InputError(f"{path}: not scores of this engine with these options; {ADVICE}")

    def get(self, key: int) -> float | None:
        """Return the score of a position, None if it is not known."""
        with using(self.path, ADVICE):
            cursor = self._database.execute("SELECT score FROM scores WHERE key = ?", (key,))
            score: tuple[float] | None = cursor.fetchone()
        return score[0] if score else None

    def add(self, key: int, score: float) -> None:
        """Keep the score of a position."""
        with using(self.path, ADVICE):
            self._database.execute("INSERT OR IGNORE INTO scores VALUES (?, ?)", (key, score))

    def close(self) -> None:
        """Close the database."""
        self._database.close()


AT_ONCE = 16  # positions of a task
OnSearched = Callable[[], None]  # called for each position that was searched, or found in the cache


@dataclass(frozen=True)
class TeacherSpec:
    """An engine `uci:COMMAND` of a game, its options, the limits of its searches, and the name that
    it must have."""

    game: str
    engine: str
    options: tuple[tuple[str, object], ...]
    limits: Control
    name: str


class Questions(NamedTuple):
    """A task: positions, and the place of the first of them among those that are searched."""

    place: int
    asked: Asked


class TeacherAnswers(NamedTuple):
    """The results of the first positions of a task, all of them unless there is a fault."""

    place: int
    found: list[Searched]
    fault: str | None = None


class TeacherProcess(JobState):
    """One thread's engine, started when it is first needed."""

    def __init__(self, spec: TeacherSpec, stopped: Callable[[], bool]) -> None:
        self.spec, self.busy = spec, False
        self._engine: Evaluator | None = None

    @property
    def engine(self) -> Evaluator:
        """The engine. InputError if it does not start, or differs from the one on the machine that
        asks."""
        if self._engine is None:
            spec = self.spec
            self._engine = evaluator_of(find(spec.game), spec.engine, dict(spec.options))
            if (self._engine.name or spec.engine) != spec.name:
                raise InputError(
                    f"{spec.engine}: is {self._engine.name!r} here and {spec.name!r} there; install"
                    " the same engine on every machine"
                )
        return self._engine

    def ready(self) -> None:
        """Start the engine."""
        assert self.engine is not None

    def abort(self) -> None:
        if self.busy and self._engine is not None:  # in the middle of a search
            self._engine.abort()

    def close(self) -> None:
        if self._engine is not None:
            self._engine.close()


def answer(process: TeacherProcess, task: Questions) -> TeacherAnswers:
    """Search the positions of a task."""
    searched: list[Searched] = []
    process.busy = True
    try:
        for result in process.engine.searches(task.asked, process.spec.limits):
            searched.append(result)
    except EngineFault as problem:
        return TeacherAnswers(task.place, searched, problem.what)
    finally:
        process.busy = False
    return TeacherAnswers(task.place, searched)


def questions_text(task: Questions) -> str:
    """Name the positions of a task."""
    return (
        f"the teacher's searches of {plural(len(task.asked), 'position')} from"
        f" {task.asked.texts[0].decode()!r} on"
    )


class Teacher:
    """An external engine whose searches score positions; a context manager.

    `engine` is `uci:COMMAND`, `options` are set in it. Scores are kept in a file in `folder`, by
    default in the user's cache, separately for each engine (its command, the program and the files
    that it names, see `program_files`), its options and limits: a repeated or continued run
    searches only what is new. The processes of the executor share the positions, which does not
    change the scores: every search begins with empty tables."""

    def __init__(
        self,
        game: Game,
        engine: str,
        limits: Control,
        executor: Executor | None = None,
        options: Mapping[str, object] | None = None,
        folder: Path | None = None,
        searched: OnSearched = lambda: None,
    ) -> None:
        self._executor, self._searched = executor or OnThreads(), searched
        self._running: Running | None = None
        given = dict(options or {})
        self._first = evaluator_of(game, engine, given)  # says its name, and prepares positions
        self._first.close()
        self.name = self._first.name or engine
        self._spec = TeacherSpec(game.name, engine, tuple(given.items()), limits, self.name)
        about = {
            "engine": self.name,
            "command": engine,
            "files": program_files(engine, given, self._first),
            "limits": limits.search,
            "game": game.name,
            "options": {name: str(value) for name, value in sorted(given.items())},
        }
        self.cache = ScoreCache(cache_path(about, folder), about)
        self.new = self.old = 0  # positions searched, and those whose scores were in the cache

    def __enter__(self) -> Teacher:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
        self.cache.close()

    def close(self) -> None:
        """End the engines."""
        if self._running is not None:
            self._running.end()
            self._running = None

    def scores(self, batch: PositionBatch) -> np.ndarray:
        """Return the scores (n,) of the positions of a batch in centipawns, first player's view,
        infinite for forced mates.

        EngineFault, one line, if an engine dies, stalls or answers nonsense; what it answered
        before is in the cache."""
        keys = keys_of(batch.positions)
        wanted: dict[int, int] = {}
        for i, key in enumerate(keys):
            if self.cache.get(key) is None:
                wanted.setdefault(key, i)
            else:
                self.old += 1
                self._searched()
        places = np.fromiter(wanted.values(), np.int64, len(wanted))
        self._search(batch.positions[places], [keys[i] for i in places.tolist()])
        return np.array(
            [found for key in keys if (found := self.cache.get(key)) is not None], float
        )

    @property
    def text(self) -> str:
        """How many scores were searched, and where all of them are, in words."""
        return (
            f"scores of the teacher: {self.new:,} searched, {self.old:,} found in"
            f" {self.cache.path}, which keeps them for later runs"
        )

    def _search(self, positions: np.ndarray, keys: list[int]) -> None:
        if not keys:
            return
        if self._running is None:
            job = Job(TeacherProcess, answer, self._spec, questions_text)
            self._running = self._executor.start(job).__enter__()
        asked, before = self._first.asked(positions), self.new
        tasks = (
            Questions(begin, asked[begin : begin + AT_ONCE])
            for begin in range(0, len(keys), AT_ONCE)
        )
        fault: str | None = None
        try:
            for found in run(self._running, tasks):
                for key, result in zip(keys[found.place :], found.found, strict=False):
                    self.cache.add(key, result.score)
                    self.new += 1
                    self._searched()
                if found.fault is not None:
                    fault = found.fault
                    break
        finally:
            if fault is not None:
                self.close()
        if fault is not None:
            raise EngineFault(fault, self.new - before, len(keys))
