"""Rank parameter files by how closely their evaluations agree with values of positions: a yardstick
without matches.

The values are searches of an external engine, or recorded scores; for backgammon they are the
labels of positions. Each file gets one slope; its excess is the cross-entropy of the values above
their own entropy. Take games that no file was learned from. Useful to choose among many files, not
instead of a match."""

from __future__ import annotations

from tuner.options.option import Arguments, Option, Table, Title, options_in
from tuner.options.shared import READING
from tuner.options.tune import RankOptions

USAGE = "PARAMS [PARAMS ...] --on GAMES [options]"
EXAMPLE = """examples:
  tuner rank *.yaml classic --teacher uci:stockfish --nodes 1000 --on games.pgn
  tuner rank a.yaml b.yaml --on commented.pgn
"""
TABLE: Table = (
    Option(("params",), "parameter files, or bundled ones", metavar="PARAMS", nargs="+"),
    Option(
        ("--on",),
        "files of games or labelled positions, or folders of them; may be repeated",
        metavar="GAMES",
        action="append",
        required=True,
    ),
    *options_in(RankOptions, "sample terms"),
    Title("values of positions"),
    *options_in(RankOptions, "teacher nodes"),
    *READING,
    Title("machine"),
    *options_in(RankOptions, "workers"),
)


def run(arguments: Arguments) -> dict:
    import tempfile
    from pathlib import Path

    from tuner.commands.display import TerminalDisplay, show_result
    from tuner.headroom.rank import lines_of, ranking
    from tuner.io.records import to_json

    options = RankOptions(**arguments.given_for(RankOptions))
    with tempfile.TemporaryDirectory(prefix="evaltune-") as folder, TerminalDisplay() as display:
        result = ranking(arguments.params, arguments.on, options, Path(folder), display)
    if not arguments.json:
        show_result(lines_of(result))
    return to_json(result)
