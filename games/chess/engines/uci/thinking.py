"""One `go` of UCI, and the game that `position` sets: from arguments to a task."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from games.chess.files.fen import START, position
from games.chess.game import after, in_check, moves_of, result
from games.chess.rules.movegen import move_name, move_named
from games.protocol.server import Options, arguments_of_go, legal_names_in
from games.protocol.thinking import Line, Task, legal_names, search_among
from games.search.searcher import Clock, Found, Limits, limits_of, limits_of_move

# with the smallest valid value; a clock that has run out is negative
NUMBERS = {
    "depth": 1,
    "nodes": 1,
    "mate": 1,
    "movetime": 0,
    "wtime": None,
    "btime": None,
    "winc": 0,
    "binc": 0,
    "movestogo": 0,
}
FLAGS = ("infinite", "ponder")
MOVES = "searchmoves"


@dataclass(frozen=True)
class UciGo:
    """The arguments of a `go`; times in milliseconds; None: not given."""

    depth: int | None = None
    nodes: int | None = None
    mate: int | None = None  # in moves
    movetime: int | None = None
    wtime: int | None = None
    btime: int | None = None
    winc: int = 0
    binc: int = 0
    movestogo: int | None = None
    infinite: bool = False
    ponder: bool = False
    searchmoves: tuple[str, ...] = ()

    def clock(self, white: bool) -> tuple[int | None, int]:
        """Return the time left to a side and its increment per move."""
        return (self.wtime, self.winc) if white else (self.btime, self.binc)

    def ends(self, white: bool) -> bool:
        """Whether any limit ends the search of this side without `stop`."""
        return any(
            limit is not None
            for limit in (self.depth, self.nodes, self.mate, self.movetime, self.clock(white)[0])
        )


def parse_go(words: Sequence[str]) -> tuple[UciGo, list[str]]:
    """Parse the words after `go`; returns the valid arguments and a message for each invalid
    one."""
    numbers, faults = arguments_of_go(words, NUMBERS, FLAGS, MOVES)
    return UciGo(**numbers), faults


def new_line() -> Line:
    """Return a game at its start."""
    return Line(START, position, move_named, after)


ONLY_MOVE_DEPTH = 6  # on the clock, with a single legal move: enough for a ponder move
MATE_MARGIN = 4  # extra plies for a pruning search to find a mate


def limits_of_go(go: UciGo, white: bool, overhead: float) -> Limits:
    """Return the limits of the search for a `go`; `overhead` in seconds."""
    remaining, increment = go.clock(white)
    limits = Limits()
    if go.infinite:
        pass
    elif go.movetime is not None:
        limits = limits_of_move(go.movetime / 1000, overhead)
    elif remaining is not None:
        limits = limits_of(
            Clock(remaining / 1000, increment / 1000, go.movestogo or None), overhead
        )
    depth = go.depth
    if go.mate is not None and not go.infinite and not replace(go, mate=None).ends(white):
        depth = 2 * go.mate - 1 + MATE_MARGIN  # the mate may not exist
    return replace(
        limits,
        depth=min(depth or limits.depth, limits.depth),
        nodes=min(go.nodes or limits.nodes, limits.nodes),
    )


def sensible(go: UciGo, faults: list[str], root: np.ndarray) -> tuple[UciGo, list[str]]:
    """Return the `go` to search, and its faults with those found in the position. A faulty `go` is
    still answered: its valid arguments apply, and without any limit left the search is one ply
    deep."""
    legal, illegal = legal_names_in(go.searchmoves, lambda name: move_named(root, name))
    faults = [*faults, *illegal]
    white = not int(root[8]) & 1
    clocks = go.clock(white)[0], go.clock(not white)[0]
    if clocks[0] is None and clocks[1] is not None and not go.ends(white):
        faults.append(f"{'wtime' if white else 'btime'} is missing, the clock of the side to move")
    if faults and not (go.infinite or go.ends(white)):
        go = replace(go, depth=1)
    return replace(go, searchmoves=legal), faults


def score_text(found: Found) -> str:
    """Return the score in UCI form: centipawns, or moves (not plies) to mate."""
    if found.win_in is None:
        return f"cp {round(found.value)}"
    return f"mate {(found.win_in + 1) // 2 if found.value > 0 else -((1 - found.win_in) // 2)}"


def warm_up(line: Line) -> Task:
    """Return a short search that calls all compiled functions."""
    line.set(START, ["e2e4"])
    in_check(line.positions[-1])
    return task_of(line.positions, UciGo(depth=2, searchmoves=("e7e5",)), Options(overhead=0))


def task_of(line: Sequence[np.ndarray], go: UciGo, options: Options) -> Task:
    """Return the task of a `go` that is the result of `sensible`; `line`: the positions of the
    game."""
    root = line[-1]
    moves = moves_of(root)
    chosen = list(dict.fromkeys(move_named(root, name) for name in go.searchmoves))
    limits = limits_of_go(go, not int(root[8]) & 1, options.overhead / 1000)
    if limits.soft_seconds is not None and len(chosen or moves) == 1:
        limits = replace(limits, depth=min(limits.depth, ONLY_MOVE_DEPTH))

    def name(words: np.ndarray, move: int) -> str:
        return move_name(words, move, options.variant)

    def enough(found: Found) -> bool:
        return go.mate is not None and found.win_in is not None and 0 < found.win_in < 2 * go.mate

    return Task(
        line=line,
        limits=limits,
        ponder=go.ponder,
        infinite=go.infinite,
        score=score_text,
        names=lambda pv: legal_names(root, pv, moves_of, name, after),
        first=name(root, (chosen or moves)[0]) if moves else "",
        answer=None if moves else "bestmove (none)",
        info=f"info depth 0 score {'mate' if in_check(root) else 'cp'} 0",
        enough=enough,
        search=search_among(
            chosen or (moves if options.lines > 1 else []), after, lambda line: result(line) == 0
        ),
        lines=options.lines,
    )
