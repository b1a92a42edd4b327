"""Measurements of speed: medians of CPU time, with a reference measured in the same run.

A measurement is a function of a `Workload` that returns rows.

What depends on the game is in the module of its name here:

    LIGHT REFERENCE TARGETS            a light parameter file, another program, targets by name
    reading(games) counting()          speed of reading files, and of move generation
    SEARCHED engines_nodes()           positions that are searched, and the speed of other engines
                                       on them

and, where the game differs from what most measurements do:

    searching(searcher, depth) DEPTHS SEARCH_UNIT    the speed of a search that has no other limit,
                                                     instead of its nodes a second
    COUNTING                           what `counting` counts: what it is called and its unit
                                       (default: perft, nodes)
    POSITIONS                          the positions that datasets are made of (default: quiet)
    GAMES LEARNING_GAMES               games of self-play without learning and with it
    WHOLE_GAMES HIDDEN                 calls of compiled loops over whole games; hidden units of the
                                       network that is measured
    PUBLISHED                          published numbers of other programs, by the name of the
                                       measurement
"""

import importlib
import importlib.util
import os
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from games.streams import InputError
from tuner.evaluation.loading import bundled_games, load_parameters


class NothingToMeasure(InputError):
    """A measurement that has no meaning for a game."""


@dataclass(frozen=True)
class Workload:
    """The input of a measurement: a bundled parameter file, a file of games, and a temporary
    folder."""

    params: str
    games: Path
    folder: Path

    @property
    def of_game(self) -> ModuleType:
        """The module of the game that measures it."""
        return bench_of(load_parameters(self.params).game)


def bench_of(game: str) -> ModuleType:
    """Return the module of a game that measures it: its positions, samples, reference and targets;
    InputError if it has none."""
    name = f"{__name__}.{game}"
    if importlib.util.find_spec(name) is None:
        raise InputError(f"{game}: has no measurements of its own; choose --params of another game")
    return importlib.import_module(name)


def target_of(rows: ModuleType, name: str) -> float | None:
    """Return the target that a game names for a measurement, None if it names none."""
    return rows.TARGETS.get(name)


def published(rows: ModuleType, name: str) -> tuple[str, float | None]:
    """Return the program and its number that a game names for a measurement; no number if it names
    none."""
    return getattr(rows, "PUBLISHED", {}).get(name, ("", None))


def samples_of(params: str) -> Path:
    """Return the bundled games of the game of a parameter file; InputError if there are none."""
    game = load_parameters(params).game
    samples = bundled_games(game)
    if samples is None:
        raise InputError(f"{game}: has no bundled games; name some with --games")
    return samples


def seconds_of_process(number: int) -> float | None:
    """Return the CPU seconds that another process has used, None where the system does not tell."""
    try:
        with open(f"/proc/{number}/stat", "rb") as stream:
            fields = stream.read().rpartition(b")")[2].split()
    except OSError:
        return None
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def cpu_seconds(work: Callable[[], object], repeats: int = 5) -> float:
    """Return the median CPU time of a call."""
    times = []
    for _ in range(repeats):
        started = time.process_time()
        work()
        times.append(time.process_time() - started)
    return statistics.median(times)


class Row(NamedTuple):
    """One line of the result: what was measured, in which unit, the target (with `at_most` if less
    is better), and a reference with its value, None if it has none."""

    what: str
    value: float
    unit: str
    target: float | None = None
    at_most: bool = False
    reference: tuple[str, float | None] = ("", None)

    @property
    def met(self) -> bool | None:
        """Whether the target was reached; None without a target."""
        if self.target is None:
            return None
        return self.value <= self.target if self.at_most else self.value >= self.target

    def to_json(self) -> dict:
        """Return the row as plain data; `ratio` is how many times better it is than the reference,
        if that has a value."""
        name, other = self.reference
        ratio = (
            None if other is None else other / self.value if self.at_most else self.value / other
        )
        return {
            **self._asdict(),
            "reference": None if other is None else name,
            "reference_value": other,
            "ratio": ratio,
            "met": self.met,
        }
