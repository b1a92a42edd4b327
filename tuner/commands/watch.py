"""Serve a live page for a run: the report so far, current progress and the games being played.

The address is printed; only this machine can open it. Pages are rendered on request, at most 2 % of
a CPU. Ctrl-C ends the server, not the run."""

from pathlib import Path

from tuner.core.records import whole
from tuner.options.option import Arguments, Option, Table

USAGE = "RUN [--port N]"
EXAMPLE = """examples:
  tuner watch run
  tuner watch selfplay-1 --port 8001
"""
TABLE: Table = (
    Option(("run",), "folder of a run", metavar="RUN"),
    Option(
        ("--port",),
        "port (default: 8000); 0: any free port",
        whole(0, 65535),
        8000,
        metavar="N",
    ),
)


def run(arguments: Arguments) -> None:
    from tuner.report.live import LivePage
    from tuner.report.server import serve

    def show_address(where: str) -> None:
        print(f"{arguments.run}: {where} (Ctrl-C ends it)", flush=True)

    serve(LivePage(Path(arguments.run)), arguments.port, show_address)
