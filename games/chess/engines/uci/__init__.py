"""UCI, the protocol of chess programs: a server whose first answer needs no library."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from games.protocol import server
from games.protocol.server import Dialect, Options, Watcher, lines_of, shown

if TYPE_CHECKING:
    from games.protocol.thinking import EngineEvaluation, Line, Task

START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
COMMANDS = {
    "uci": server.INTRODUCE,
    "debug": server.IGNORED,
    "isready": server.READY,
    "setoption": server.SET_OPTION,
    "ucinewgame": server.NEW_GAME,
    "position": server.POSITION,
    "go": server.GO,
    "eval": server.EVALUATE,
    "stop": server.STOP,
    "ponderhit": server.PONDERHIT,
    "quit": server.QUIT,
}
OPTIONS = {
    "Hash": server.HASH,
    "Clear Hash": server.CLEAR_HASH,
    "Ponder": server.PONDER,
    "MultiPV": server.LINES,
    "Move Overhead": server.OVERHEAD,
    "UCI_Chess960": server.VARIANT,
}


def serve(
    evaluation: EngineEvaluation,
    lines: Iterable[str],
    write: Callable[[str], None],
    name: str,
    default: str,
    watcher: Watcher | None = None,
) -> int:
    """Speak UCI until `quit` or the end of the lines, see `games.protocol.server.serve`."""
    return server.serve(UCI, evaluation, lines, write, name, default, watcher)


def _new_line() -> Line:
    from games.chess.engines.uci.thinking import new_line

    return new_line()


def _place(words: Sequence[str]) -> tuple[str, list[str]]:
    """Return start (FEN) and moves of the arguments of `position`."""
    end = words.index("moves") if "moves" in words else len(words)
    start, moves = list(words[:end]), list(words[end + 1 :])
    if start == ["startpos"]:
        return START, moves
    if (
        start[:1] == ["fen"]
        and 5 <= len(start) <= 7
        and all(field.isdecimal() for field in start[5:])
    ):
        return " ".join(start[1:]), moves
    raise ValueError(
        f"position {shown(' '.join(start))}; expected startpos or fen and four to six fields, then"
        " moves"
    )


def _warm_up(line: Line) -> Task:
    from games.chess.engines.uci.thinking import warm_up

    return warm_up(line)


def _task(words: Sequence[str] | None, line: Line, options: Options) -> tuple[Task, list[str]]:
    from games.chess.engines.uci.thinking import UciGo, parse_go, sensible, task_of

    go, faults = (UciGo(), [server.TOO_LONG]) if words is None else parse_go(words)
    go, faults = sensible(go, faults, line.positions[-1])
    return task_of(line.positions, go, options), faults


UCI = Dialect(
    "uci",
    COMMANDS,
    OPTIONS,
    "white",
    _new_line,
    _place,
    _warm_up,
    _task,
    "(none)",
    opponent="UCI_Opponent",
)


__all__ = ["lines_of", "serve"]
