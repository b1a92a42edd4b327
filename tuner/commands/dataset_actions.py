"""The actions of `tuner dataset`, of counts that are measured, too."""

import contextlib
import math
import os
import shlex
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path

from rich.console import Console

from games.record import Control, Game, find, wording_of
from games.streams import InputError
from games.system import available_cpus
from tuner.commands.display import TerminalDisplay, executor_of, show_note
from tuner.core.text import plural
from tuner.datasets.dataset import Dataset
from tuner.datasets.reader import open_dataset
from tuner.datasets.rows.build import (
    Totals,
    build_rows,
    built_lines,
    read_rows,
)
from tuner.datasets.rows.check import RowCheck
from tuner.datasets.rows.formats import batches_of, is_rows, require_written, scan, write_jsonl
from tuner.datasets.rows.values import ExpectedRows
from tuner.datasets.summary import stage_of, summarise, summary_lines
from tuner.datasets.writing import merge as merge_datasets
from tuner.datasets.writing import part, require_replaceable, split_games
from tuner.evaluation.evaluation import WeightsEvaluation, quiescence_of
from tuner.evaluation.loading import load_engine, load_parameters, parameter_path
from tuner.io.files import EXPORT, file_entry, require_writable
from tuner.io.terminal import show_table
from tuner.learn.build import Scores, recorded_scores
from tuner.learn.build import build as build_dataset
from tuner.learn.engine_rows import build_engine_rows, game_for
from tuner.learn.methods import TEACHER_NODES
from tuner.learn.reading import report_line
from tuner.learn.sources import games_named
from tuner.learn.teacher import Teacher
from tuner.measured.copies import MEASURED
from tuner.measured.measure import measurement_in
from tuner.measured.plan import read_evals_plan
from tuner.measured.rows import (
    NAMES,
    PER_GAME,
    START,
    compare_rows,
    measure_known,
    measure_rows,
    read_positions,
)
from tuner.options.option import Arguments, Reading, options_in, refuse
from tuner.parameters.parameters import DEFAULT_GAME, Parameters, Place
from tuner.parameters.writer import write_parameters
from tuner.results.result import CommandResult


def rows_of_files(sources: list[str], target: Path, arguments: Arguments) -> CommandResult:
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
            list(map(file_entry, sources)),
            arguments.not_linear,
        )
        for line in built_lines(check, totals, arguments.not_linear):
            display.note(line)
    advice = (
        "next: `tuner params --from-rows` writes a parameter file for these rows; with the numbers"
        " of your engine in it, --params checks the rows"
    )
    lines = [written_line(data)] + [advice] * (arguments.params is None)
    return CommandResult(plain_rows(target, data, check, totals), lines)


def rows_of_engine(sources: list[str], target: Path, arguments: Arguments) -> CommandResult:
    """Build a dataset of rows that an engine prints for the positions of games."""
    if arguments.params is None:
        raise InputError(
            f"--engine {arguments.engine}: without --params it is not known what its rows count;"
            " add --params FILE, the parameter file that was given to `tuner trace`"
        )
    parameters = load_parameters(arguments.params, arguments.terms)
    game = game_for(parameters)
    games = games_named(sources, game, f"--engine {arguments.engine}")
    reading = Reading(**arguments.given_for(Reading))
    quiescence = WeightsEvaluation(*load_engine(parameter_path(reading.judge, game.name)))
    with TerminalDisplay() as display, teaching(arguments, game) as (teacher, scores):
        display.begin("rows of the engine")
        data, check, totals, report = build_engine_rows(
            arguments.engine,
            games,
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
        compared: list[str] = []
        if arguments.source is not None:
            display.begin("measuring")
            compared = compared_lines(data, parameters, target, arguments, display.note)
    plain = {**plain_rows(target, data, check, totals), "read": asdict(report)}
    plain |= {"compared": compared} if compared else {}
    return CommandResult(plain, (written_line(data), *compared))


def plain_rows(target: Path, data: Dataset, check: RowCheck | None, totals: Totals) -> dict:
    """Return a dataset of rows as data for --json."""
    return {
        "dataset": str(target),
        "games": data.games,
        "positions": data.positions,
        "rows": totals.rows,
        "without_result": totals.without_result,
        "row_check": check.as_dict() if check else None,
        "remainder": totals.remainder,
    }


DEFAULT = "classic"  # whose terms are counted in games


def build(sources: list[str], arguments: Arguments) -> CommandResult:
    """Build a dataset from games, or from rows."""
    target = Path(arguments.output[0])
    require_replaceable(
        target, (*sources, arguments.params or "", arguments.quiescence, *arguments.terms)
    )
    rows = [source for source in sources if is_rows(source)]
    if rows and arguments.cluster is not None:
        raise InputError(
            f"--cluster {arguments.cluster}: has no use for {rows[0]}, which holds rows; it is for"
            " reading files of games"
        )
    if rows and len(rows) < len(sources):
        other = next(source for source in sources if source not in rows)
        raise InputError(f"{rows[0]}: rows, beside {other}, which is not; name one kind only")
    if arguments.source is not None and arguments.engine is None:
        refuse(
            (f"--source {arguments.source}", True, f"has no use for {path}, which are rows")
            for path in rows
        )
        return rows_of_sources(sources, target, arguments)
    if arguments.engine is not None:
        refuse(
            (f"--engine {arguments.engine}", True, f"has no use for {path}, which are rows already")
            for path in rows
        )
        return rows_of_engine(sources, target, arguments)
    if rows:
        return rows_of_files(sources, target, arguments)
    if arguments.not_linear is not None:
        raise InputError(
            f"--not-linear {arguments.not_linear}: {sources[0]} is not a file of rows; leave it"
            " out, or add --engine COMMAND"
        )
    engine, _ = load_engine(arguments.params or DEFAULT, arguments.terms, add_missing=True)
    reading = Reading(**arguments.given_for(Reading))
    games = games_named(sources, engine.game, "dataset")
    with TerminalDisplay() as display, executor_of(arguments.cluster, 1, display) as executor:
        display.begin("reading")
        data, report = build_dataset(
            engine,
            games,
            target,
            reading.reading,
            quiescence_of(engine.game, reading.judge),
            display.note,
            display.reading,
            executor=executor if arguments.cluster is not None else None,
        )
        display.note(report_line(report.total))
    result = {**plain_games(data), "read": asdict(report.total)}
    return CommandResult(result, (written_line(data),))


def export(sources: list[str], arguments: Arguments) -> CommandResult:
    """Write a dataset as rows."""
    target = Path(arguments.output[0])
    require_written(target)
    if os.path.lexists(target):  # rows do not say who wrote them
        raise InputError(f"{target}: exists; no file of rows is overwritten; choose another name")
    require_writable(target, EXPORT, sources)
    data = open_dataset(sources[0])
    expected = ExpectedRows(data.layout, len(data.manifest["stages"]))
    number = write_jsonl(target, batches_of(data), expected)
    if not len(data.text):
        show_note(
            f"{sources[0]}: holds counts, but not the positions that were counted: the rows have no"
            " `fen`"
        )
    wrote = (
        f"wrote {target}: {plural(number, 'row')} of {plural(data.columns, 'column')},"
        f" {target.stat().st_size / 1e6:.1f} MB"
    )
    result = {"rows": str(target), "positions": number, "columns": data.columns}
    return CommandResult(result, (wrote,))


def inspect(sources: list[str], arguments: Arguments) -> CommandResult:
    """Summarize a dataset."""
    data = open_dataset(sources[0])
    layout = data.layout
    summary = {
        "dataset": sources[0],
        "sources": data.manifest["sources"],
        "options": data.manifest["options"],
        **summarise(data, layout),
    }

    def show(console: Console) -> None:
        print(
            f"{sources[0]}: {data.manifest['game']}, from"
            f" {', '.join(s['file'] for s in data.manifest['sources'])}"
        )
        print("\n".join("  " + line for line in summary_lines(summary)) + "\n")
        _show_results(console, data.manifest["game"], summary)
        show_table(
            console,
            "how often parameters apply",
            ["parameter", "numbers", "positions", "rarest number", "never"],
            [_use_row(place, summary["use"]) for place in layout.places],
        )

    return CommandResult(summary, show=show)


def _show_results(console: Console, game: str, summary: dict) -> None:
    """Show the results of positions by phase or stage; nothing for labels, or with one stage."""
    if (
        len(summary["stages"]) == 1
        or 2 * sum(sum(part["results"]) * part["positions"] for part in summary["results_by_phase"])
        < summary["positions"]
    ):
        return
    what = "phase" if summary["phases"] > 1 else "stage"
    heads, chosen = ["win %", "draw %", "loss %"], [0, 1, 2]
    if "points" in summary:  # there are no draws
        heads, chosen = [f"{side} wins %" for side in wording_of(game).sides], [0, 2]
    show_table(
        console,
        f"results by {what}",
        [what, "positions", *heads],
        [
            [
                stage_of(summary, part["phase"]),
                f"{part['positions']:,}",
                *(f"{100 * part['results'][i]:.1f}" for i in chosen),
            ]
            for part in summary["results_by_phase"]
        ],
    )


def _use_row(place: Place, use: dict[str, int]) -> list[str]:
    numbers = [use[label] for label in place.labels()]
    applied = [n for n in numbers if n]
    return [
        place.path,
        str(place.size),
        f"{max(numbers):,}",
        f"{min(applied):,}" if applied else "-",
        str(numbers.count(0) or ""),
    ]


def merge(sources: list[str], arguments: Arguments) -> CommandResult:
    """Merge datasets into one."""
    require_replaceable(Path(arguments.output[0]), sources)
    data = merge_datasets([open_dataset(source) for source in sources], Path(arguments.output[0]))
    return CommandResult(plain_games(data), (games_line(data),))


def split(sources: list[str], arguments: Arguments) -> CommandResult:
    """Split a dataset into two without a common opening."""
    if os.path.realpath(arguments.output[0]) == os.path.realpath(arguments.output[1]):
        raise InputError(f"{arguments.output[0]}: named twice, expected two datasets to write")
    for target in arguments.output:
        require_replaceable(Path(target), sources)
    data = open_dataset(sources[0])
    kept, held = split_games(data, arguments.held_out, arguments.seed)
    for games, target in zip((kept, held), arguments.output, strict=True):
        if len(games) == 0:
            raise InputError(f"{target}: would hold no game; choose another share or seed")
    what = f"split by opening, held out {arguments.held_out:g}, seed {arguments.seed}"
    written = [
        part(data, games, Path(target), what)
        for games, target in zip((kept, held), arguments.output, strict=True)
    ]
    return CommandResult(
        {"datasets": [plain_games(data) for data in written]},
        [games_line(data) for data in written],
    )


@contextlib.contextmanager
def teaching(arguments: Arguments, game: Game) -> Iterator[tuple[Teacher | None, Scores]]:
    """Yield the teacher of rows, if there is one, and the scores of positions."""
    if arguments.teacher is None:
        yield None, recorded_scores
        return
    limits = Control(arguments.depth, arguments.nodes)
    if limits == Control():
        limits = Control(nodes=TEACHER_NODES)
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
