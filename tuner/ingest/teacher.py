"""Scores of positions by any UCI engine: several processes in parallel, each position searched once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

import numpy as np

from games.evaluators import Asked, EngineFault, Evaluator, SearchLimits
from games.evaluators import Searched as SearchResult
from games.record import Game, PositionBatch, find
from games.streams import InputError
from tuner.ingest.external import evaluator_of, program_files
from tuner.ingest.score_cache import ScoreCache, cache_path, keys_of
from tuner.parallel import Executor, Job, OnThreads, Running, run

AT_ONCE = 16  # positions of a task
Searched = Callable[[], None]  # called for each position that was searched, or found in the cache


@dataclass(frozen=True)
class TeacherSpec:
    """An engine `uci:COMMAND` of a game, its options, the limits of its searches, and the name that it must have."""

    game: str
    engine: str
    options: tuple[tuple[str, object], ...]
    limits: SearchLimits
    name: str


class Questions(NamedTuple):
    """A task: positions, and the place of the first of them among those that are searched."""

    place: int
    asked: Asked


class Answers(NamedTuple):
    """The results of the first positions of a task, all of them unless there is a fault."""

    place: int
    found: list[SearchResult]
    fault: str | None = None


class TeacherProcess:
    """One thread's engine, started when it is first needed."""

    def __init__(self, spec: TeacherSpec, stopped: Callable[[], bool]) -> None:
        self.spec, self.busy = spec, False
        self._engine: Evaluator | None = None

    @property
    def engine(self) -> Evaluator:
        """The engine. InputError if it does not start, or is another one than on the machine that asks."""
        if self._engine is None:
            spec = self.spec
            self._engine = evaluator_of(find(spec.game), spec.engine, dict(spec.options))
            if self._engine.name != spec.name:
                raise InputError(f"{spec.engine}: is {self._engine.name!r} here and {spec.name!r} there; install the same engine "
                                 "on every machine")
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


def answer(process: TeacherProcess, task: Questions) -> Answers:
    """Search the positions of a task."""
    found: list[SearchResult] = []
    process.busy = True
    try:
        for result in process.engine.searches(task.asked, process.spec.limits):
            found.append(result)
    except EngineFault as problem:
        return Answers(task.place, found, problem.what)
    finally:
        process.busy = False
    return Answers(task.place, found)


def questions_text(task: Questions) -> str:
    """Name the positions of a task."""
    return f"the teacher's searches of {len(task.asked)} positions from {task.asked.texts[0].decode()!r} on"


class Teacher:
    """An external engine whose searches score positions; a context manager.

    `engine` is `uci:COMMAND`, `options` are set in it. Scores are kept in a file in `folder`, by default in the user's cache,
    separately for each engine (its command, the program and the files that it names, see `program_files`), its options and
    limits: a repeated or continued run searches only what is new. The processes of the executor share the positions, which
    does not change the scores: every search begins with empty tables.
    """

    def __init__(self, game: Game, engine: str, limits: SearchLimits, executor: Executor | None = None,
                 options: Mapping[str, object] | None = None, folder: Path | None = None,
                 searched: Searched = lambda: None) -> None:
        self._executor, self._searched = executor or OnThreads(), searched
        self._running: Running | None = None
        given = dict(options or {})
        self._first = evaluator_of(game, engine, given)  # says its name, and prepares positions
        self._first.close()
        self.name = self._first.name
        self._spec = TeacherSpec(game.name, engine, tuple(given.items()), limits, self.name)
        about = {"engine": self.name, "command": engine,
                 "files": program_files(engine, given, self._first), "limits": limits.text, "game": game.name,
                 "options": {name: str(value) for name, value in sorted(given.items())}}
        self.cache = ScoreCache(cache_path(about, folder), about)
        self.new = self.old = 0  # positions searched, and those whose scores were in the cache

    def __enter__(self) -> Teacher:
        return self

    def __exit__(self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None) -> None:
        self.close()
        self.cache.close()

    def close(self) -> None:
        """End the engines."""
        if self._running is not None:
            self._running.end()
            self._running = None

    def scores(self, batch: PositionBatch) -> np.ndarray:
        """Return the scores (n,) of the positions of a batch in centipawns, first player's view, infinite for forced mates.

        EngineFault, one line, if an engine dies, stalls or answers nonsense; what it answered before is in the cache.
        """
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
        return np.array([found[0] for key in keys if (found := self.cache.get(key)) is not None], float)

    @property
    def text(self) -> str:
        """How many scores were searched, and where all of them are, in words."""
        return (f"scores of the teacher: {self.new:,} searched, {self.old:,} found in {self.cache.path}, "
                "which keeps them for later runs")

    def _search(self, positions: np.ndarray, keys: list[int]) -> None:
        if not keys:
            return
        if self._running is None:
            job = Job(TeacherProcess, answer, self._spec, questions_text)
            self._running = self._executor.start(job).__enter__()
        asked, before = self._first.asked(positions), self.new
        tasks = (Questions(begin, asked[begin:begin + AT_ONCE]) for begin in range(0, len(keys), AT_ONCE))
        fault: str | None = None
        try:
            for found in run(self._running, tasks):
                for key, result in zip(keys[found.place:], found.found, strict=False):
                    self.cache.add(key, result)
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
