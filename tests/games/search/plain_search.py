"""Compiled minimax without pruning, transposition table or move ordering: the reference of the
exact search.

    python -m tests.games.search.plain_search 1000

compares the two on so many positions at depths 1 to 3 (some minutes).
"""

import sys

import numpy as np
from numba.core import types

from games.bits import EMPTY
from games.chess.rules.movegen import generate, insufficient_material
from games.chess.rules.position import checkers, halfmove_clock, load, make, store
from games.chess.search import SEARCH
from games.record import find
from games.search.context import INFINITE, MATE
from games.search.searcher import Limits, Searcher
from tests.games.support import unit_of
from tuner.evaluation.loading import load_engine

UNIT = unit_of(__file__)
quiesce = SEARCH.quiescence.quiesce


@UNIT.inner(types.int64(SEARCH.context_type, types.int64, types.int64))
def minimax(c, ply, depth):
    """Value of stack[ply] for the side to move; earlier positions of the game are in `keys`."""
    p = load(c.stack[ply])
    c.keys[c.root_index + ply] = p.key
    if ply > 0:
        if insufficient_material(p):
            return 0
        for back in range(1, min(halfmove_clock(p), c.root_index + ply) + 1):
            if c.keys[c.root_index + ply - back] == p.key:
                return 0
    n = generate(p, False, c.moves[ply])
    if n == 0:
        if depth == 0 and checkers(p) == EMPTY and halfmove_clock(p) < 100:
            return quiesce(
                c, ply, 0, -INFINITE, INFINITE
            )  # which takes stalemate for a quiet position
        return ply - MATE if checkers(p) else 0
    if halfmove_clock(p) >= 100 and ply > 0:
        return 0
    if depth == 0:
        return quiesce(c, ply, 0, -INFINITE, INFINITE)
    best = np.int64(-INFINITE)
    for i in range(n):
        move = np.int64(c.moves[ply, i])
        c.path[ply] = move
        store(c.stack[ply + 1], make(p, move))
        best = max(best, -minimax(c, ply + 1, depth - 1))
    return best


@UNIT.entry(types.int64(SEARCH.contexts_type, types.int64))
def minimax_at(contexts, depth):
    return minimax(contexts[0], 0, depth)


def plain_value(searcher: Searcher, line: list[np.ndarray], depth: int) -> float:
    """Centipawns, in the memory of a searcher."""
    searcher.set_root(line)
    return minimax_at(searcher._memory.records, depth) / 256


def lines(seed: int, n: int) -> list[list[np.ndarray]]:
    """Random games up to a random ply at which they go on; a third of them with few pieces and a
    high clock."""
    game, rng = find("chess"), np.random.default_rng(seed)
    found = []
    while len(found) < n:
        start = game.start()
        if len(found) % 3 == 0:
            start = endgame(rng)
        line = [start]
        for _ in range(rng.integers(0, 80 if len(found) % 3 else 12)):
            moves = game.legal_moves(line[-1])
            if not moves or game.result(line) is not None:
                break
            if (
                len(line) > 3 and rng.random() < 0.5
            ):  # go back where one came from: repetitions lie near
                back = [
                    m
                    for m in moves
                    if np.array_equal(game.play(line[-1], m)[:8], line[-2 - len(line) % 2][:8])
                ]
                moves = back or moves
            line.append(game.play(line[-1], int(rng.choice(moves))))
        if game.legal_moves(line[-1]) and game.result(line) is None:
            found.append(line)
    return found


def endgame(rng: np.random.Generator) -> np.ndarray:
    """A legal position with few pieces, near the end by the fifty-move rule."""
    game = find("chess")
    while True:
        board = np.full(64, " ")
        squares = rng.choice(64, 6, replace=False)
        board[squares] = ["K", "k", *rng.choice(list("QRBNPqrbnp"), 4)]
        rows = "/".join("".join(board[8 * r : 8 * r + 8]) for r in range(8))
        for k in range(8, 0, -1):
            rows = rows.replace(" " * k, str(k))
        try:
            words = game.position(f"{rows} {rng.choice(['w', 'b'])} - - {rng.integers(80, 100)} 90")
        except ValueError:
            continue
        return words


def main(n: int) -> None:
    """Compare on n positions and print how many agree."""
    engine, parameters = load_engine("classic")
    exact = engine.searcher(parameters, playing=False, megabytes=4)
    for depth in (1, 2, 3):
        agree = sum(
            exact.search(line, Limits(depth=depth)).value == plain_value(exact, line, depth)
            for line in lines(depth, n)
        )
        print(f"depth {depth}: {agree} of {n} agree")


if __name__ == "__main__":
    main(int(sys.argv[1]))
