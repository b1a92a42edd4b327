"""Counts that are measured, in `tuner dataset`."""

from __future__ import annotations

import contextlib
import math
import os
import shlex
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path

from games.record import Game, SearchLimits, find
from games.system import available_cpus
from tuner.commands.display import TerminalDisplay
from tuner.core.text import plural
from tuner.datasets.dataset import Dataset
from tuner.evaluation.evaluation import WeightsEvaluation
from tuner.evaluation.loading import load_engine, load_parameters, parameter_path
from tuner.learn.build import Scores, recorded_scores
from tuner.learn.methods import TEACHER_NODES
from tuner.learn.reading import report_line
from tuner.learn.sources import games_named
from tuner.learn.teacher import Teacher
from tuner.measured.compare import compare_rows
from tuner.measured.copies import MEASURED
from tuner.measured.measure import measurement_in
from tuner.measured.plan import read_evals_plan
from tuner.measured.rows import (
    NAMES,
    PER_GAME,
    START,
    measure_known,
    measure_rows,
    read_positions,
)
from tuner.options.option import Arguments, Reading
from tuner.parameters.parameters import Parameters
from tuner.parameters.writer import write_parameters
from tuner.results.result import CommandResult


@contextlib.contextmanager
def teaching(arguments: Arguments, game: Game) -> Iterator[tuple[Teacher | None, Scores]]:
    """Yield the teacher of rows, if there is one, and the scores of positions."""
    if arguments.teacher is None:
        yield None, recorded_scores
        return
    limits = SearchLimits(arguments.depth, arguments.nodes)
    if limits == SearchLimits():
        limits = SearchLimits(nodes=TEACHER_NODES)
    with Teacher(game, arguments.teacher, limits) as teacher:
        yield teacher, teacher.scores


def rows_of_sources(sources: list[str], target: Path, arguments: Arguments) -> CommandResult:
    """Build a dataset of what the numbers of an evaluation's sources count."""
    plan = read_evals_plan(Path(arguments.source))
    game, folder = find(plan.game), target.with_name(f"{target.name}{MEASURED}")
    reading = Reading(**{"per_game": PER_GAME, **arguments.given_for(Reading)})
    quiescence = WeightsEvaluation(*load_engine(parameter_path(reading.judge, game.name)))
    games = games_named(sources, game, f"--source {arguments.source}")
    workers = plan.workers or available_cpus()
    with TerminalDisplay() as display, teaching(arguments, game) as (teacher, scores):
        display.begin("reading")
        positions = read_positions(game, games, reading.reading, quiescence, scores, display.note)
        if teacher is not None:
            display.note(teacher.text)
        display.note(report_line(positions.report))
        display.begin("building")
        measurement = measurement_in(folder, plan, positions.texts, workers, display.note)
        display.begin("measuring", len(measurement.numbers.sites))
        if arguments.params is not None:
            known = load_parameters(arguments.params)
            data = measure_known(measurement, positions, known, target, display.counting)
            plain = {**plain_games(data), "read": asdict(positions.report)}
            return CommandResult(plain, (written_line(data),))
        seconds = 60 * arguments.minutes if arguments.minutes else math.inf
        data, found = measure_rows(
            measurement, positions, target, seconds, display.note, display.counting
        )
        for line in found.lines:
            display.note(line)
    start, names = (shlex.quote(str(folder / name)) for name in (START, NAMES))
    write_parameters(folder / START, found.weights.parameters)
    files = (os.path.relpath(Path(plan.source.folder, name)) for name in plan.source.files)
    into = " ".join(f"--into {shlex.quote(name)}" for name in files)
    plain = {
        **plain_games(data),
        "params": str(folder / START),
        "map": str(folder / NAMES),
        "weights": found.number,
        "left_out": dict(found.reasons),
        "together": found.together,
        "read": asdict(positions.report),
    }
    lines = (
        written_line(data),
        f"wrote {start}, the weights, and {names}, their places and why others are none",
        f"next: `tuner tune {start} {shlex.quote(str(target))} -o learned.yaml`, and then"
        f" `tuner export learned.yaml {into} --map {names}`",
    )
    return CommandResult(plain, lines)


def compared_lines(
    data: Dataset,
    parameters: Parameters,
    target: Path,
    arguments: Arguments,
    note: Callable[[str], None],
) -> list[str]:
    """Compare the counts of rows with measured ones; return lines of text."""
    plan = read_evals_plan(Path(arguments.source))
    folder, workers = target.with_name(f"{target.name}{MEASURED}"), plan.workers or available_cpus()
    return compare_rows(data, parameters, plan, folder, workers, note)


def plain_games(data: Dataset) -> dict:
    """Return a dataset of games as data for --json."""
    return {"dataset": str(data.path), "games": data.games, "positions": data.positions}


def games_line(data: Dataset) -> str:
    """Return the games and positions of a dataset that was written, as a line of text."""
    return f"wrote {data.path}: {plural(data.games, 'game')}, {plural(data.positions, 'position')}"


def written_line(data: Dataset) -> str:
    """Return the same with the size of its files."""
    size = sum(file.stat().st_size for file in data.path.iterdir())
    return f"{games_line(data)}, {size / 1e6:.1f} MB"
