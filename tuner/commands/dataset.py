"""Cache the feature counts of games so that repeated fits are fast; or inspect, merge, split and
export datasets.

tuner dataset GAMES... -o DIR           build a dataset
tuner dataset GAMES... --engine COMMAND --params FILE -o DIR
                                        build one of rows that your engine prints
tuner dataset GAMES... --source PLAN -o DIR
                                        build one of what your numbers count
tuner dataset ROWS... -o DIR            build one of files of rows (docs/files.md)
tuner dataset export DIR -o ROWS        write a dataset as rows
tuner dataset inspect DIR               its games, results, phases and parameters
tuner dataset merge DIR DIR... -o DIR   all games of several datasets, each once
tuner dataset split DIR -o DIR HELD     two datasets without a common opening
"""

from tuner.core.records import InputError, Positive, PositiveCount
from tuner.options.option import (
    READING,
    TERMS,
    Arguments,
    OneOf,
    Option,
    Table,
    cluster,
    held_out,
    refuse,
)
from tuner.options.tune import TEACHER_NODES
from tuner.results.result import CommandResult

USAGE = "[inspect|merge|split|export] GAMES [GAMES ...] -o DIR [options]"
EXAMPLE = """examples:
  tuner dataset games/*.pgn.zst -o games.ds
  tuner dataset inspect games.ds
  tuner dataset games.pgn --engine "./myengine-rows trace" --params my.yaml \\
    -o rows.ds
  tuner dataset rows.jsonl --params my.yaml -o rows.ds
  tuner dataset split games.ds -o train.ds test.ds --held-out 0.2
"""
ACTIONS = ("inspect", "merge", "split", "export")


TABLE: Table = (
    Option(
        ("sources",),
        "files of games or of rows; or `inspect`, `merge`, `split` or `export`, and datasets"
        " (./merge for a file of that name)",
        metavar="GAMES",
        nargs="+",
    ),
    Option(
        ("-o", "--output"),
        "dataset to write; split: two of them",
        default=(),
        metavar="DIR",
        nargs="+",
    ),
    Option(
        ("--params",),
        "parameter file whose terms are counted (default: classic; for rows the parameters that"
        " occur in them)",
        metavar="PARAMS",
    ),
    Option(
        ("--engine",),
        "command of your engine that reads one FEN per line and prints a row for each",
        metavar="COMMAND",
    ),
    Option(
        ("--source",),
        "plan with the sources of your evaluation (docs/your-own-engine.md): what their numbers"
        " count is measured, and those that are weights are written beside the dataset; with"
        " --params those of such a file are measured",
        metavar="PLAN",
    ),
    Option(
        ("--minutes",),
        "with --source: refuse to measure if it would take longer",
        kind=Positive,
        metavar="MINUTES",
    ),
    Option(
        ("--teacher",),
        "with --engine or --source: take the scores of rows from searches of this engine, such as"
        " uci:./myengine",
        metavar="ENGINE",
    ),
    OneOf(
        (
            Option(
                ("--nodes",),
                TEACHER_NODES,
                PositiveCount,
                metavar="N",
            ),
            Option(("--depth",), "its depth in plies", PositiveCount, metavar="N"),
        )
    ),
    Option(
        ("--not-linear",),
        "for rows: name a part of the evaluation that the counts do not cover, such as 'king"
        " safety'; it is kept unchanged",
        metavar="PART",
    ),
    held_out("split: share of the games in the second dataset", 0.1),
    cluster("read files of games"),
    TERMS,
    *READING,
)


def run(arguments: Arguments) -> CommandResult:
    from tuner.commands.dataset_actions import DEFAULT, build, export, inspect, merge, split
    from tuner.evaluation.loading import sources_for

    action, sources = "build", arguments.sources
    if sources[0] in ACTIONS:
        action, *sources = sources
    outputs = {"build": 1, "inspect": 0, "merge": 1, "split": 2, "export": 1}[action]
    if len(arguments.output) != outputs:
        raise InputError(
            f"dataset{'' if action == 'build' else ' ' + action}: -o names {len(arguments.output)}"
            f" datasets to write, expected {outputs}; see tuner dataset --help"
        )
    rows = next((name for name in ("engine", "source") if getattr(arguments, name)), None)
    refuse(
        (
            (f"dataset {action}: --{rows}", rows and action != "build", "has no use here"),
            (
                "--minutes",
                arguments.minutes
                and (not arguments.source or arguments.engine or arguments.params),
                "is of --source alone, where all numbers are measured",
            ),
            (
                f"--teacher {arguments.teacher}",
                arguments.teacher is not None and not (arguments.engine or arguments.source),
                "it scores the rows of --engine or --source; `tuner tune --teacher` has one for"
                " games",
            ),
            *(
                (
                    f"--{name} {arguments.given.get(name)}",
                    arguments.teacher is None and name in arguments.given,
                    "there is no --teacher to search",
                )
                for name in ("nodes", "depth")
            ),
        )
    )
    if arguments.cluster is not None and (action != "build" or rows):
        what = f"--{rows}" if rows else action
        raise InputError(
            f"dataset: --cluster {arguments.cluster} has no use with {what}; it is for reading"
            " files of games"
        )
    if not sources:
        raise InputError(f"dataset {action}: no dataset named; see tuner dataset --help")
    if action in ("inspect", "split", "export") and len(sources) != 1:
        raise InputError(f"dataset {action}: {len(sources)} datasets named, expected one")
    if action == "build":
        sources = sources_for(arguments.params or DEFAULT, sources)
    return {"build": build, "inspect": inspect, "merge": merge, "split": split, "export": export}[
        action
    ](sources, arguments)
