"""The protocol of xboard for programs that play chess: a server whose first answer needs no
library."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from games.protocol.server import Watcher, lines_of

if TYPE_CHECKING:
    from games.protocol.thinking import EngineEvaluation

__all__ = ["lines_of", "serve"]


def serve(
    evaluation: EngineEvaluation,
    lines: Iterable[str],
    write: Callable[[str], None],
    name: str,
    default: str,
    watcher: Watcher | None = None,
) -> int:
    """Speak the protocol until `quit` or the end of the lines; returns the number of searches.

    xboard waits two seconds for the first feature, then as long as it takes."""
    server = None
    for line in lines:
        if server is None:
            if line.split()[:1] == ["xboard"]:
                continue
            if line.split()[:1] == ["protover"]:
                write("feature done=0")
            from games.chess.engines.xboard_engine import XboardServer

            server = XboardServer(evaluation, write, name, watcher)
        if not server.obey(line):
            break
    if server is None:
        return 0
    server.end()
    return server.searches
