"""Build datasets of rows, for `tuner dataset`: of files, or by an engine that prints them."""

from __future__ import annotations

import contextlib
from dataclasses import asdict
from pathlib import Path

from games.record import SearchLimits
from games.streams import InputError
from tuner.commands.display import TerminalDisplay
from tuner.datasets.dataset import Dataset
from tuner.datasets.files import is_dataset
from tuner.datasets.rows.build import (
    Totals,
    build_rows,
    built_lines,
    named,
    read_rows,
)
from tuner.datasets.rows.check import RowCheck
from tuner.datasets.rows.formats import scan
from tuner.evaluation.evaluation import WeightsEvaluation
from tuner.evaluation.loading import load_engine, load_parameters, parameter_path
from tuner.learn.build import recorded_scores
from tuner.learn.engine_rows import build_engine_rows, game_for
from tuner.learn.methods import TEACHER_NODES
from tuner.learn.reading import report_line
from tuner.learn.teacher import Teacher
from tuner.options.option import Arguments, options_in, refuse
from tuner.options.shared import Reading
from tuner.parameters.parameters import DEFAULT_GAME


def rows_of_files(sources: list[str], target: Path, arguments: Arguments) -> dict:
    """Build a dataset from rows that another program counted."""
    reading = {each.name for each in options_in(Reading)}
    refuse(
        (
            each.names[0],
            each.name in reading,
            "has no use for rows, which hold the positions that were chosen",
        )
        for each in arguments.typed()
    )
    if arguments.params is None:
        if arguments.not_linear is not None:
            raise InputError(
                f"--not-linear {arguments.not_linear}: without weights it is not known what the"
                " rows lack; add --params FILE"
            )
        refuse(
            (f"--terms {path}", True, "another program counts the terms of rows")
            for path in arguments.terms
        )
        parameters = scan(sources[0]).parameters(DEFAULT_GAME)
    else:
        parameters = load_parameters(arguments.params, arguments.terms)
    with TerminalDisplay() as display:
        display.begin("reading")
        data, check, totals = build_rows(
            read_rows(sources, parameters, display.note),
            target,
            parameters,
            named(sources),
            arguments.not_linear,
        )
        for line in built_lines(check, totals, arguments.not_linear):
            display.note(line)
    if not arguments.json:
        print(written_line(data))
        if arguments.params is None:
            print(
                "next: `tuner params --from-rows` writes a parameter file for these rows; with the"
                " numbers of your engine in it, --params checks the rows"
            )
    return plain_rows(target, data, check, totals)


def rows_of_engine(sources: list[str], target: Path, arguments: Arguments) -> dict:
    """Build a dataset of rows that an engine prints for the positions of games."""
    if arguments.params is None:
        raise InputError(
            f"--engine {arguments.engine}: without --params it is not known what its rows count;"
            " add --params FILE, the parameter file that was given to `tuner trace`"
        )
    if not_games := next(
        (source for source in sources if source != "-" and is_dataset(source)), None
    ):
        raise InputError(
            f"{not_games}: a dataset, which has no positions to send to an engine; name the games"
        )
    parameters = load_parameters(arguments.params, arguments.terms)
    game = game_for(parameters)
    reading = Reading(**arguments.given_for(Reading))
    quiescence = WeightsEvaluation(*load_engine(parameter_path(reading.judge, game.name)))
    with TerminalDisplay() as display, contextlib.ExitStack() as stack:
        teacher, scores = None, recorded_scores
        if arguments.teacher is not None:
            limits = SearchLimits(arguments.depth, arguments.nodes)
            if limits == SearchLimits():
                limits = SearchLimits(nodes=TEACHER_NODES)
            teacher = stack.enter_context(Teacher(game, arguments.teacher, limits))
            scores = teacher.scores
        display.begin("rows of the engine")
        data, check, totals, report = build_engine_rows(
            arguments.engine,
            sources,
            target,
            parameters,
            reading.reading,
            quiescence,
            arguments.not_linear,
            display.note,
            display.counting,
            scores,
        )
        if teacher is not None:
            display.note(teacher.text)
        display.note(report_line(report))
        for line in built_lines(check, totals, arguments.not_linear):
            display.note(line)
    if not arguments.json:
        print(written_line(data))
    return {**plain_rows(target, data, check, totals), "read": asdict(report)}


def plain_rows(target: Path, data: Dataset, check: RowCheck | None, totals: Totals) -> dict:
    """Return what --json prints of a dataset of rows."""
    return {
        "dataset": str(target),
        "games": data.games,
        "positions": data.positions,
        "rows": totals.rows,
        "without_result": totals.without_result,
        "row_check": check.as_dict() if check else None,
    }


def written_line(data: Dataset) -> str:
    size = sum(file.stat().st_size for file in data.path.iterdir())
    return (
        f"wrote {data.path}: {data.games:,} games, {data.positions:,} positions,"
        f" {size / 1e6:.1f} MB"
    )
