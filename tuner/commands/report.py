"""Write one self-contained HTML page about a run of `tune --run`, `selfplay` or `match --run`.

The page shows what was learned, how certain it is, and how to repeat it. It needs no network. Matches played with the learned
weights are added with --match.
"""

from __future__ import annotations

import argparse
from pathlib import Path

USAGE = "RUN [-o FILE.html] [--match DIR]"
EXAMPLE = """examples:
  tuner report run
  tuner report run --match match -o learned.html
  tuner report selfplay-1 --match match-1000 --match match-4000
                                              Elo by games learned from
"""
PAGE = "report.html"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", metavar="RUN", help="folder of a run")
    parser.add_argument("-o", "--output", metavar="FILE.html", help=f"page to write (default: {PAGE} in the folder)")
    parser.add_argument("--match", metavar="DIR", action="append", default=[],
                        help="folder of a match played with the learned weights; may be repeated")


def run(arguments: argparse.Namespace) -> dict:
    from games.streams import InputError
    from tuner.io.files import PAGE as KIND
    from tuner.io.files import replace_file, require_writable
    from tuner.report.page import render
    from tuner.report.run import read_run

    folder = Path(arguments.run)
    found = read_run(folder, [Path(match) for match in arguments.match])
    output = Path(arguments.output) if arguments.output else folder / PAGE
    if output.suffix.lower() not in (".html", ".htm"):
        raise InputError(f"{output}: expected the name of an HTML page, such as {PAGE}")
    require_writable(output, KIND, (str(folder), *arguments.match))
    page, sections = render(found)
    replace_file(output, page)
    size = output.stat().st_size
    result = {"run": str(folder), "kind": found.kind, "output": str(output), "bytes": size,
              "sections": [section.name for section in sections], "matches": [str(match.folder) for match in found.matches]}
    if not arguments.json:
        print(f"wrote {output}: {len(sections)} sections, {size / 1000:,.0f} kB")
    return result
