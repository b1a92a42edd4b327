"""One `go` of USI: from its arguments to a task."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from games.protocol.lines import legal_names_in
from games.protocol.thinking import Task, legal_names, search_among
from games.search.searcher import Found
from games.shogi.declaration import declares
from games.shogi.endings import result
from games.shogi.movegen import moves_of
from games.shogi.notation import move_name, move_named
from games.shogi.position import STATE
from games.shogi.shogi import GAME
from games.shogi.usi.go import Go

NO_MATES, RESIGN, WIN = "checkmate notimplemented", "bestmove resign", "bestmove win"


def sensible(go: Go, faults: Sequence[str], root: np.ndarray) -> tuple[Go, list[str]]:
    """Return the `go` to search, and its faults with those found in the position. A faulty one is
    still answered: its valid arguments apply, and without any limit left the search is one ply deep."""
    legal, illegal = legal_names_in(go.searchmoves, lambda name: move_named(root, name))
    faults = [*faults, *illegal]
    if faults and not (go.infinite or go.ends(bool(int(root[STATE]) & 1))):
        go = replace(go, depth=1)
    return replace(go, searchmoves=legal), faults


def score_text(found: Found) -> str:
    """Return the score in USI form: centipawns, or plies to mate."""
    return f"cp {round(found.value)}" if found.win_in is None else f"mate {found.win_in}"


def task_of(line: Sequence[np.ndarray], go: Go, overhead: float) -> Task:
    """Return the task of a `go`; `line`: the positions of the game."""
    root = line[-1]
    moves = moves_of(root)
    chosen = list(dict.fromkeys(move_named(root, name) for name in go.searchmoves))
    answer = NO_MATES if go.mate else RESIGN if not moves else WIN if declares(root) else None
    return Task(line=line, limits=go.limits(bool(int(root[STATE]) & 1), overhead), ponder=go.ponder, infinite=go.infinite,
                score=score_text, names=lambda pv: legal_names(root, pv, moves_of, move_name, GAME.play),
                first=move_name(root, (chosen or moves)[0]) if moves else "", answer=answer,
                search=search_among(chosen, GAME.play, lambda line: result(line) == 0))
