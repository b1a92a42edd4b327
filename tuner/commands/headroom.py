"""Measure what is left to gain for an evaluation: by better weights of its terms, and by functions of the same counts that are
not linear.

All are compared by their cross-entropy on held-out positions, whose values are searches, recorded scores or results. Boosted
trees measure functions that are not linear; they need scikit-learn: pip install 'evaltune[headroom]'.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from tuner.commands.options import (
    Names,
    add_read_options,
    add_term_options,
    at_least_one,
    command_text,
    count,
    read_options,
    share,
    unit,
)
from tuner.parallel import available_cpus

USAGE = "PARAMS GAMES [GAMES ...] [options]"
EXAMPLE = """examples:
  tuner headroom classic games.pgn.zst
  tuner headroom learned.yaml games.pgn.zst --add-to run
  tuner headroom classic games.pgn.zst --teacher uci:stockfish --nodes 1000 \\
    -o page.html
"""
SAMPLE = 100_000  # positions
HELD_OUT = 0.2


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("params", metavar="PARAMS", help="parameter file, or a bundled one: classic, zero, ...")
    parser.add_argument("games", metavar="GAMES", nargs="+",
                        help="files of games or labelled positions, folders of them, datasets, rows, or - for standard input")
    parser.add_argument("-o", "--output", metavar="FILE.html", help="write a page of the result")
    parser.add_argument("--add-to", metavar="RUN", help="folder of a `tune` run, whose report will show the result")
    parser.add_argument("--sample", type=lambda text: count(text, 1000), default=SAMPLE, metavar="N",
                        help=f"measure on at most N positions, of games chosen at random (default: {SAMPLE:,}); each takes up "
                             "to 6 kB of memory")
    parser.add_argument("--held-out", type=share, default=HELD_OUT, metavar="SHARE",
                        help=f"share of the games that is held out, by whole openings, to measure on (default: {HELD_OUT:g})")
    add_value_options(parser)
    add_term_options(parser)
    add_read_options(parser)
    add_workers(parser)


def add_value_options(parser: argparse.ArgumentParser, scores_alone: bool = False) -> None:
    """Add the options that choose the values of positions, as for `tuner tune`; with `scores_alone` those of other programs."""
    group = parser.add_argument_group("values of positions")
    if not scores_alone:
        group.add_argument("--targets", choices=Names("tuner.tuning.methods", "TARGETS"),
                           help="results of games, scores that the files record, or our own search; default: scores with "
                                "--teacher, else search if there are games and an evaluation to search with, else results")
        group.add_argument("--depth", type=at_least_one, metavar="N", help="depth of our own searches in plies (default: 4)")
        group.add_argument("--lambda", dest="lambda_", type=unit, metavar="L",
                           help="from 0 to 1: weight of the result beside the search or score (default: 0)")
    group.add_argument("--teacher", metavar="ENGINE",
                       help="take scores from searches of this engine, such as uci:stockfish; they are kept for later runs")
    group.add_argument("--nodes", type=at_least_one, metavar="N", help="nodes per search of the teacher (default: 5000)")


def add_workers(parser: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    """Add --workers; return its group."""
    group = parser.add_argument_group("machine")
    group.add_argument("--workers", type=at_least_one, default=available_cpus(), metavar="N",
                       help="threads (default: one per CPU)")
    return group


def run(arguments: argparse.Namespace) -> dict:
    import tempfile

    from games.streams import InputError
    from tuner.commands.display import TerminalDisplay, show_result
    from tuner.engine.loading import sources_for
    from tuner.headroom.measure import measured
    from tuner.headroom.sample import sampled
    from tuner.headroom.tables import lines_of
    from tuner.io.files import PAGE, replace_file, require_other, require_writable
    from tuner.report.headroom import add_headroom, headroom_page, require_tuned

    games = sources_for(arguments.params, arguments.games)
    output, run = arguments.output and Path(arguments.output), arguments.add_to and Path(arguments.add_to)
    if arguments.held_out == 0:
        raise InputError("--held-out 0: nothing would be left to measure on; expected a share such as 0.2")
    if output:
        reads = (arguments.params, *arguments.games, *arguments.terms, arguments.teacher, arguments.quiescence)
        require_other(output, reads)
        if output.suffix.lower() not in (".html", ".htm"):
            raise InputError(f"{output}: expected the name of an HTML page, such as headroom.html")
        require_writable(output, PAGE, reads)
    if run:
        require_tuned(run)
    with tempfile.TemporaryDirectory(prefix="evaltune-") as folder, TerminalDisplay() as display:
        sample = sampled(arguments.params, games, value_options(arguments), arguments.sample, Path(folder), display)
        found = {"command": command_text(arguments), **measured(sample, arguments.params, arguments.held_out, display)}
        game = sample.begun.game
    if run:
        add_headroom(run, found)
    if output:
        replace_file(output, headroom_page(found, game))
    if not arguments.json:
        show_result([*lines_of(found), *([f"wrote {output}"] if output else []),
                     *([f"see it in the report: tuner report {run}"] if run else [])])
    return found


def value_options(arguments: argparse.Namespace):
    """Return the TuneOptions for the arguments of `add_value_options` and `add_read_options`."""
    from tuner.tuning.options import TuneOptions

    return TuneOptions(reading=read_options(arguments), quiescence=arguments.quiescence, terms=tuple(arguments.terms),
                       targets=getattr(arguments, "targets", None), teacher=arguments.teacher, nodes=arguments.nodes,
                       depth=getattr(arguments, "depth", None), lambda_=getattr(arguments, "lambda_", None),
                       per_game=arguments.per_game, seed=arguments.seed, workers=min(arguments.workers, 512))
