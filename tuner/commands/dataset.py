"""Turn games into a dataset once, to tune from it many times; or inspect, merge and split datasets.

  tuner dataset GAMES... -o DIR           build a dataset
  tuner dataset GAMES... --engine COMMAND --params FILE -o DIR
                                          build one of rows that your engine prints
  tuner dataset ROWS... -o DIR            build one of files of rows (docs/rows.md)
  tuner dataset export DIR -o ROWS        write a dataset as rows
  tuner dataset inspect DIR               its games, results, phases and parameters
  tuner dataset merge DIR DIR... -o DIR   all games of several datasets, each once
  tuner dataset split DIR -o DIR HELD     two datasets without a common opening
"""

from __future__ import annotations

import argparse

from tuner.commands.options import add_cluster_option, add_read_options, add_term_options, share

USAGE = "[inspect|merge|split|export] GAMES [GAMES ...] -o DIR [options]"
EXAMPLE = """examples:
  tuner dataset games/*.pgn.zst -o games.ds
  tuner dataset inspect games.ds
  tuner dataset games.pgn --engine "./myengine trace" --params my.yaml \\
    -o rows.ds
  tuner dataset rows.jsonl --params my.yaml -o rows.ds
  tuner dataset split games.ds -o train.ds test.ds --held-out 0.2
"""
ACTIONS = ("inspect", "merge", "split", "export")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("sources", metavar="GAMES", nargs="+",
                        help="files of games or of rows; or `inspect`, `merge`, `split` or `export`, and datasets (./merge for a "
                             "file of that name)")
    parser.add_argument("-o", "--output", metavar="DIR", nargs="+", default=[], help="dataset to write; split: two of them")
    parser.add_argument("--params", metavar="PARAMS",
                        help="parameter file whose terms are counted (default: classic; for rows the parameters that occur in "
                             "them)")
    parser.add_argument("--engine", metavar="COMMAND",
                        help="a program of your own that counts the terms: it reads positions from standard input, one a line, "
                             "and prints a row for each")
    parser.add_argument("--not-linear", metavar="PART",
                        help="rows: a part of the evaluation that no counts express, such as 'king safety': what the rows lack "
                             "is kept as it is, and not tuned")
    parser.add_argument("--held-out", type=share, default=0.1, metavar="SHARE",
                        help="split: share of the games in the second dataset (default: 0.1)")
    add_cluster_option(parser, "read files of games")
    add_term_options(parser)
    add_read_options(parser)


def run(arguments: argparse.Namespace) -> dict:
    from games.streams import InputError
    from tuner.commands import dataset_actions
    from tuner.engine.loading import sources_for

    action, sources = "build", arguments.sources
    if sources[0] in ACTIONS:
        action, *sources = sources
    outputs = {"build": 1, "inspect": 0, "merge": 1, "split": 2, "export": 1}[action]
    if len(arguments.output) != outputs:
        raise InputError(f"dataset{'' if action == 'build' else ' ' + action}: -o names {len(arguments.output)} datasets to "
                         f"write, expected {outputs}; see tuner dataset --help")
    if arguments.engine is not None and action != "build":
        raise InputError(f"dataset {action}: --engine has no use here; leave it out")
    if arguments.cluster is not None and (action != "build" or arguments.engine is not None):
        what = "--engine" if arguments.engine is not None else action
        raise InputError(f"dataset: --cluster {arguments.cluster} has no use with {what}; it is for reading files of games")
    if not sources:
        raise InputError(f"dataset {action}: no dataset named; see tuner dataset --help")
    if action in ("inspect", "split", "export") and len(sources) != 1:
        raise InputError(f"dataset {action}: {len(sources)} datasets named, expected one")
    if action == "build":
        sources = sources_for(arguments.params or dataset_actions.DEFAULT, sources)
    return getattr(dataset_actions, action)(sources, arguments)
