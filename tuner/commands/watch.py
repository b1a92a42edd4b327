"""Serve a page about a run under way: its report so far, what it does now, and the games that it
plays, which change as the run goes on.

The page is that of `tuner report`. It is served to browsers of this machine alone, at the address
that is printed. Nothing is computed while no page is open, and at most about two percent of a CPU
while one is, so that curves of long runs move less often. Ctrl-C ends it; the run goes on."""

from __future__ import annotations

from pathlib import Path

from tuner.options.kinds import whole
from tuner.options.option import Arguments, Option, Table

USAGE = "RUN [--port N]"
EXAMPLE = """examples:
  tuner watch run
  tuner watch selfplay-1 --port 8001
"""
TABLE: Table = (
    Option(("run",), "folder of a run, which may be under way", metavar="RUN"),
    Option(
        ("--port",),
        "port of the address (default: 8000); 0: any that is free",
        whole(0, 65535),
        8000,
        metavar="N",
    ),
)


def run(arguments: Arguments) -> dict:
    from tuner.report.live import LivePage
    from tuner.report.server import serve

    def show_address(where: str) -> None:
        print(f"{arguments.run}: {where} (Ctrl-C ends it)", flush=True)

    serve(LivePage(Path(arguments.run)), arguments.port, show_address)
    return {}
