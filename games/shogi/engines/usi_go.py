"""One `go` of USI, and the game that `position` sets: from arguments to a task."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from games.protocol.server import Options, arguments_of_go, legal_names_in
from games.protocol.thinking import Line, Task, legal_names, search_among
from games.search.searcher import Clock, Found, Limits, limits_of_move, limits_with_byoyomi
from games.shogi.files.sfen import move_name, move_named
from games.shogi.game import GAME
from games.shogi.rules.endings import declares, result
from games.shogi.rules.movegen import moves_of
from games.shogi.rules.position import STATE

# with the smallest valid value; a clock that has run out is negative
NUMBERS = {
    "depth": 1,
    "nodes": 1,
    "movetime": 0,
    "btime": None,
    "wtime": None,
    "byoyomi": 0,
    "binc": 0,
    "winc": 0,
}
FLAGS = ("infinite", "ponder")
MATE, MOVES = "mate", "searchmoves"


@dataclass(frozen=True)
class Go:
    """The arguments of a `go`; times in milliseconds; None: not given. `mate`: it asks for a mate
    by checks alone."""

    depth: int | None = None
    nodes: int | None = None
    movetime: int | None = None
    btime: int | None = None
    wtime: int | None = None
    byoyomi: int = 0  # for each move once the clock has run out
    binc: int = 0
    winc: int = 0
    infinite: bool = False
    ponder: bool = False
    mate: bool = False
    searchmoves: tuple[str, ...] = ()

    def ends(self, white: bool) -> bool:
        """Whether any limit ends the search of this side without `stop`."""
        clock = self.wtime if white else self.btime
        return (
            any(limit is not None for limit in (self.depth, self.nodes, self.movetime, clock))
            or self.byoyomi > 0
        )

    def limits(self, white: bool, overhead: float) -> Limits:
        """Return the limits of the search for one side; `overhead`: seconds lost between the clock
        and the search."""
        remaining, increment = (self.wtime, self.winc) if white else (self.btime, self.binc)
        limits = Limits()
        if self.infinite:
            pass
        elif self.movetime is not None:
            limits = limits_of_move(self.movetime / 1000, overhead)
        elif remaining is not None and (remaining > 0 or not self.byoyomi):
            clock = Clock(remaining / 1000, increment / 1000)
            limits = limits_with_byoyomi(clock, self.byoyomi / 1000, overhead)
        elif self.byoyomi:
            limits = limits_of_move(self.byoyomi / 1000, overhead)
        return Limits(
            depth=min(self.depth or limits.depth, limits.depth),
            nodes=min(self.nodes or limits.nodes, limits.nodes),
            seconds=limits.seconds,
            soft_seconds=limits.soft_seconds,
        )


def parse_go(words: Sequence[str]) -> tuple[Go, list[str]]:
    """Parse the words after `go`; returns the valid arguments and a message for each invalid
    one."""
    if MATE in words:
        return Go(mate=True), []
    numbers, faults = arguments_of_go(words, NUMBERS, FLAGS, MOVES)
    return Go(**numbers), faults


NO_MATES, RESIGN, WIN = "checkmate notimplemented", "bestmove resign", "bestmove win"


def sensible(go: Go, faults: Sequence[str], root: np.ndarray) -> tuple[Go, list[str]]:
    """Return the `go` to search, and its faults with those found in the position. A faulty one is
    still answered: its valid arguments apply, and without any limit left it is one ply deep."""
    legal, illegal = legal_names_in(go.searchmoves, lambda name: move_named(root, name))
    faults = [*faults, *illegal]
    if faults and not (go.infinite or go.ends(bool(int(root[STATE]) & 1))):
        go = replace(go, depth=1)
    return replace(go, searchmoves=legal), faults


def score_text(found: Found) -> str:
    """Return the score in USI form: centipawns, or plies to mate."""
    return f"cp {round(found.value)}" if found.win_in is None else f"mate {found.win_in}"


def task_of(line: Sequence[np.ndarray], go: Go, options: Options) -> Task:
    """Return the task of a `go`; `line`: the positions of the game."""
    root = line[-1]
    moves = moves_of(root)
    chosen = list(dict.fromkeys(move_named(root, name) for name in go.searchmoves))
    answer = NO_MATES if go.mate else RESIGN if not moves else WIN if declares(root) else None
    return Task(
        line=line,
        limits=go.limits(bool(int(root[STATE]) & 1), options.overhead / 1000),
        ponder=go.ponder,
        infinite=go.infinite,
        score=score_text,
        names=lambda pv: legal_names(root, pv, moves_of, move_name, GAME.play),
        first=move_name(root, (chosen or moves)[0]) if moves else "",
        answer=answer,
        search=search_among(
            chosen or (moves if options.lines > 1 else []),
            GAME.play,
            lambda line: result(line) == 0,
        ),
        lines=options.lines,
    )


def new_line() -> Line:
    """Return a game at its start."""
    return Line("startpos", GAME.position, GAME.move_named, GAME.play)
