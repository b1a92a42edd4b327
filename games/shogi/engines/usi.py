"""USI, the protocol of shogi programs: a server whose first answer needs no library."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from games.protocol import server
from games.protocol.server import Dialect, Options, Watcher, lines_of

if TYPE_CHECKING:
    from games.protocol.thinking import EngineEvaluation, Line, Task

COMMANDS = {
    "usi": server.INTRODUCE,
    "isready": server.READY,
    "setoption": server.SET_OPTION,
    "usinewgame": server.NEW_GAME,
    "position": server.POSITION,
    "go": server.GO,
    "eval": server.EVALUATE,
    "stop": server.STOP,
    "ponderhit": server.PONDERHIT,
    "gameover": server.GAME_OVER,
    "quit": server.QUIT,
}
NETWORK_DELAY = 120  # milliseconds, as in YaneuraOu; shogi clocks forfeit late moves
OPTIONS = {
    "USI_Hash": server.HASH,
    "USI_Ponder": server.PONDER,
    "MultiPV": server.LINES,
    "NetworkDelay": server.overhead(NETWORK_DELAY),
}


def serve(
    evaluation: EngineEvaluation,
    lines: Iterable[str],
    write: Callable[[str], None],
    name: str,
    default: str,
    watcher: Watcher | None = None,
) -> int:
    """Speak USI until `quit` or the end of the lines, see `games.protocol.server.serve`."""
    return server.serve(USI, evaluation, lines, write, name, default, watcher)


def _new_line() -> Line:
    from games.shogi.engines.usi_go import new_line

    return new_line()


def _place(words: Sequence[str]) -> tuple[str, list[str]]:
    """Return start (SFEN) and moves of the arguments of `position`."""
    end = words.index("moves") if "moves" in words else len(words)
    return " ".join(words[:end]), list(words[end + 1 :])


def _warm_up(line: Line) -> Task:
    from games.shogi.engines.usi_go import Go, task_of

    return task_of(line.positions, Go(depth=2), Options(overhead=0))


def _task(words: Sequence[str] | None, line: Line, options: Options) -> tuple[Task, list[str]]:
    from games.shogi.engines.usi_go import Go, parse_go, sensible, task_of

    go, faults = (Go(), [server.TOO_LONG]) if words is None else parse_go(words)
    go, faults = sensible(go, faults, line.positions[-1])
    return task_of(line.positions, go, options), faults


USI = Dialect(
    "usi", COMMANDS, OPTIONS, "black", _new_line, _place, _warm_up, _task, "resign", NETWORK_DELAY
)

__all__ = ["lines_of", "serve"]
