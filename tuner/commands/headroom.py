"""Measure what is left to gain for an evaluation: by better weights of its terms, and by functions
of the same counts that are not linear.

All are compared by their cross-entropy on held-out positions, whose values are searches, recorded
scores or results. Boosted trees measure functions that are not linear; they need scikit-learn: pip
install 'evaltune[headroom]'."""

from __future__ import annotations

from pathlib import Path

from games.streams import InputError
from tuner.options.option import Arguments, Option, Table, Title, options_in
from tuner.options.shared import READING, TERMS
from tuner.options.tune import HeadroomOptions, ValueOptions

USAGE = "PARAMS GAMES [GAMES ...] [options]"
EXAMPLE = """examples:
  tuner headroom classic games.pgn.zst
  tuner headroom learned.yaml games.pgn.zst --add-to run
  tuner headroom classic games.pgn.zst --teacher uci:stockfish --nodes 1000 \\
    -o page.html
"""
VALUES: Table = (
    Title("values of positions"),
    *options_in(ValueOptions, "targets depth lambda_ teacher nodes"),
    *READING,
    Title("machine"),
    *options_in(ValueOptions, "workers"),
)
TABLE: Table = (
    Option(("params",), "parameter file, or a bundled one: classic, zero, ...", metavar="PARAMS"),
    Option(
        ("games",),
        "files of games or labelled positions, folders of them, datasets, rows, or - for standard"
        " input",
        metavar="GAMES",
        nargs="+",
    ),
    Option(("-o", "--output"), "write a page of the result", metavar="FILE.html"),
    Option(
        ("--add-to",), "folder of a `tune` run, whose report will show the result", metavar="RUN"
    ),
    *options_in(HeadroomOptions, "sample held_out"),
    TERMS,
    *VALUES,
)


def run(arguments: Arguments) -> dict:
    import tempfile
    from dataclasses import replace

    from tuner.commands.display import TerminalDisplay, show_result
    from tuner.evaluation.loading import sources_for
    from tuner.headroom.measure import lines_of, measure_sample
    from tuner.headroom.sample import read_sample
    from tuner.io.files import PAGE, replace_file, require_other, require_writable
    from tuner.io.records import to_json
    from tuner.report.headroom import add_headroom, require_tuned
    from tuner.report.page import headroom_page

    options = HeadroomOptions(**arguments.given_for(HeadroomOptions))
    games = sources_for(arguments.params, arguments.games)
    output, run = (
        arguments.output and Path(arguments.output),
        arguments.add_to and Path(arguments.add_to),
    )
    if options.held_out == 0:
        raise InputError(
            "--held-out 0: nothing would be left to measure on; expected a share such as 0.2"
        )
    if output:
        reads = (
            arguments.params,
            *arguments.games,
            *arguments.terms,
            arguments.teacher,
            arguments.quiescence,
        )
        require_other(output, reads)
        if output.suffix.lower() not in (".html", ".htm"):
            raise InputError(f"{output}: expected the name of an HTML page, such as headroom.html")
        require_writable(output, PAGE, reads)
    if run:
        require_tuned(run)
    with tempfile.TemporaryDirectory(prefix="evaltune-") as folder, TerminalDisplay() as display:
        sample = read_sample(
            arguments.params,
            games,
            options.tuning(arguments.terms),
            options.sample,
            Path(folder),
            display,
        )
        found = replace(
            measure_sample(sample, arguments.params, options.held_out, display),
            command=arguments.text,
        )
        game = sample.begun.game
    if run:
        add_headroom(run, found)
    if output:
        replace_file(output, headroom_page(found, game))
    if not arguments.json:
        show_result(
            [
                *lines_of(found),
                *([f"wrote {output}"] if output else []),
                *([f"see it in the report: tuner report {run}"] if run else []),
            ]
        )
    return to_json(found)
