"""Compiled minimax of shogi without pruning, transposition table or move ordering: the reference of
the exact search."""

import random

import numpy as np
from numba.core import types

from games.search.context import INFINITE, MATE
from games.search.searcher import Searcher
from games.shogi.files import sfen
from games.shogi.files import sfen as notation
from games.shogi.rules import endings, movegen
from games.shogi.rules.endings import may_declare
from games.shogi.rules.movegen import generate
from games.shogi.rules.moves import make
from games.shogi.rules.position import in_check, load, store
from games.shogi.search import SEARCH
from tests.games.shogi.against_cshogi import after, reverse
from tests.games.shogi.support import unit_of

UNIT = unit_of(__file__)
quiesce = SEARCH.quiescence.quiesce
flags_type = types.Array(types.boolean, 1, "C")


@UNIT.inner(types.int64(SEARCH.context_type, types.int64, types.int64, flags_type))
def minimax(c, ply, depth, checks):
    """Value of stack[ply] for the side to move; earlier positions of the game are in `keys`, and
    whether they are checks in `checks`."""
    p = load(c.stack[ply])
    now = c.root_index + ply
    c.keys[now], checks[now] = p.key, in_check(p)
    if ply > 0:
        for back in range(2, now + 1, 2):
            if c.keys[now - back] == p.key:
                ours, theirs = True, True
                for i in range(now - back + 1, now + 1):
                    if (now - i) % 2 == 0:
                        theirs = theirs and checks[i]
                    else:
                        ours = ours and checks[i]
                if theirs:
                    return MATE - ply
                return ply - MATE if ours else 0
        if may_declare(p):
            return MATE - ply
    if depth == 0:
        return quiesce(c, ply, 0, -INFINITE, INFINITE)  # which takes stalemate for a quiet position
    n = generate(p, False, c.moves[ply])
    if n == 0:
        return ply - MATE
    best = np.int64(-INFINITE)
    for i in range(n):
        move = np.int64(c.moves[ply, i])
        c.path[ply] = move
        store(c.stack[ply + 1], make(p, move))
        best = max(best, -minimax(c, ply + 1, depth - 1, checks))
    return best


@UNIT.entry(types.int64(SEARCH.contexts_type, types.int64, flags_type))
def minimax_at(contexts, depth, checks):
    return minimax(contexts[0], 0, depth, checks)


def plain_value(searcher: Searcher, line: list[np.ndarray], depth: int) -> float:
    """Centipawns, in the memory of a searcher."""
    searcher.set_root(line)
    checks = np.zeros(2000, np.bool_)
    checks[: len(line)] = [bool(int(words[13]) & 2) for words in line]
    return minimax_at(searcher._memory.records, depth, checks) / 256


STARTS = [
    "4k4/9/9/9/9/9/9/9/4K4 b Rr 1",
    "4k4/9/4G4/9/9/9/9/9/4K3R b - 1",
    "8k/7s1/9/9/9/9/9/9/K8 w R 1",
    "4K4/+R+B+P+P1+P+P+P+P/+P+P7/9/9/4r4/9/9/4k4 b B 1",
    "startpos",
    "startpos",
]


def lines(seed: int, n: int) -> list[list[np.ndarray]]:
    """Random games up to a random ply at which they go on; many go back where they came from, so
    that repetitions are near."""
    rng, found = random.Random(seed), []
    while len(found) < n:
        line, played = [sfen.position(STARTS[len(found) % len(STARTS)])], []
        for _ in range(rng.randrange(0, 40)):
            legal = movegen.moves_of(line[-1])
            if not legal or endings.ending(line):
                break
            back = [
                move
                for move in legal
                if len(played) > 1 and notation.move_name(None, move)[:4] == reverse(played[-2])
            ]
            played.append(rng.choice(back if back and rng.random() < 0.6 else legal))
            line.append(after(line[-1], played[-1]))
        if movegen.moves_of(line[-1]) and not endings.ending(line):
            found.append(line)
    return found
