"""Rank parameter files by how closely their evaluations agree with values of positions: a yardstick without matches.

The values are searches of an external engine, or recorded scores; for backgammon they are the labels of positions. Each file
gets one slope; its excess is the cross-entropy of the values above their own entropy. Take games that no file was learned from.
Useful to choose among many files, not instead of a match.
"""

from __future__ import annotations

import argparse

from tuner.commands.headroom import add_value_options, add_workers, value_options
from tuner.commands.options import add_read_options, add_term_options, count

USAGE = "PARAMS [PARAMS ...] --on GAMES [options]"
EXAMPLE = """examples:
  tuner rank *.yaml classic --teacher uci:stockfish --nodes 1000 --on games.pgn
  tuner rank a.yaml b.yaml --on commented.pgn
"""
SAMPLE = 50_000  # positions


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("params", metavar="PARAMS", nargs="+", help="parameter files, or bundled ones")
    parser.add_argument("--on", metavar="GAMES", action="append", required=True,
                        help="files of games or labelled positions, or folders of them; may be repeated")
    parser.add_argument("--sample", type=lambda text: count(text, 100), default=SAMPLE, metavar="N",
                        help=f"take at most N positions, of games chosen at random (default: {SAMPLE:,})")
    add_value_options(parser, scores_alone=True)
    add_term_options(parser)
    add_read_options(parser)
    add_workers(parser)


def run(arguments: argparse.Namespace) -> dict:
    import tempfile
    from dataclasses import replace
    from pathlib import Path

    from tuner.commands.display import TerminalDisplay, show_result
    from tuner.engine.loading import sources_for
    from tuner.headroom.rank import lines_of, ranked, require_comparable, require_positions, sample_to_rank, targets_for

    games = sources_for(arguments.params[0], arguments.on)
    require_comparable(arguments.params)
    require_positions(games)
    # positions are evaluated, not counted: terms need not be linear
    targets = targets_for(arguments.params, games)
    options = replace(value_options(arguments), targets=targets, gradient="central-difference")
    with tempfile.TemporaryDirectory(prefix="evaltune-") as folder, TerminalDisplay() as display:
        sample = sample_to_rank(arguments.params, games, options, arguments.sample, Path(folder), display)
        found = ranked(arguments.params, sample, arguments.terms, display)
    if not arguments.json:
        show_result(lines_of(found))
    return found
