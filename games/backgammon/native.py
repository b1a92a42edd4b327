"""What compiled loops over whole games call, by address: the start and the first roll, afterstates, points, players.

A position is the address of its words. Players choose among the afterstates of a position:

    choose(position, afterstates, n, data) -> the index of one
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numba.core import types

from games.addresses import address_of
from games.backgammon.afterstates import MOST, STRIDE, afterstates_of
from games.backgammon.board import (
    PLY_SHIFT,
    STATE,
    TURN,
    WORDS,
    contact_between,
    pointer_type,
    start,
    words_type,
)
from games.backgammon.dice import SIDES, first_way, philox, upper_product, way_of
from games.backgammon.pubeval import WHOLE, pubeval_of
from games.backgammon.rules import HIGHEST_POINTS, points_won
from games.backgammon.unit import entry, inner

SCRATCH = 2 * MOST * STRIDE  # uint64 of scratch memory that `afterstates_at` needs
MOST_AFTERSTATES = MOST
ONE_PLY = np.uint64(1 << PLY_SHIFT)
START = tuple(start())


@inner(types.int64(types.int64))
def larger_first(way):
    """Return the roll of the 21 that differ which one of the 36 ways is."""
    a, b = way // SIDES, way % SIDES
    return SIDES * max(a, b) + min(a, b)


@entry(types.int64(pointer_type, types.int64, types.int64))
def start_at(position, seed, game):
    """Write the start of a game, with the side to move that its first roll names; return that roll."""
    for i in range(WORDS):
        position[i] = START[i]
    way, second = first_way(np.uint64(seed), np.uint64(game))
    position[STATE] = np.uint64(second)
    return larger_first(way)


@entry(types.int64(types.int64, types.int64, types.int64))
def way_at(seed, game, ply):
    """Return the roll of a ply, from 1 on: SIDES times the larger die less 1, plus the smaller less 1."""
    return larger_first(way_of(np.uint64(seed), np.uint64(game), np.uint64(ply)))


@inner(types.int64(pointer_type, types.int64, pointer_type, pointer_type))
def write_afterstates(position, way, out, scratch):
    """Write the afterstates of a roll to `out`, WORDS each; return their number."""
    larger, smaller = way // SIDES + 1, way % SIDES + 1
    turn = np.int64(position[STATE] & TURN)
    for i in range(4):
        scratch[i] = position[(i + 2 * turn) & 3]
    n = afterstates_of(scratch, out, larger, smaller)
    state = (position[STATE] ^ TURN) + ONE_PLY
    for k in range(n):
        for i in range(4):
            out[WORDS * k + i] = scratch[STRIDE * k + ((i + 2 * turn) & 3)]
        out[WORDS * k + STATE] = state
    return n


@entry(types.int64(pointer_type, types.int64, pointer_type, pointer_type))
def afterstates_at(position, way, out, scratch):
    """Write the afterstates of a roll to `out`, WORDS each; return their number. Both arrays have SCRATCH words."""
    return write_afterstates(position, way, out, scratch)


@entry(types.int64(pointer_type))
def points_at(position):
    """Return the points that the first player wins, negative for a loss; 0 while the game continues."""
    return (points_won(position[0], position[1], position[2], position[3])
            - points_won(position[2], position[3], position[0], position[1]))


@entry(types.int64(pointer_type, pointer_type, types.int64, types.int64))
def choose_at_random(position, afterstates, n, seed):
    """Choose any afterstate; `seed` is a number, not an address."""
    random = philox(position[0] ^ position[3], position[1] ^ position[2], position[STATE], np.uint64(1), np.uint64(seed),
                    position[0])
    return np.int64(upper_product(random[0], np.uint64(n)))


@inner(types.int64(pointer_type, pointer_type, types.int64))
def best_by_pubeval(position, afterstates, n):
    """Return the index of the afterstate that pubeval scores highest, the first of equals."""
    race = not contact_between(position[0], position[1], position[2], position[3])
    mine = 2 * np.int64(position[STATE] & TURN)
    theirs = 2 - mine
    best, best_score = 0, np.int64(0)
    for k in range(n):
        at = WORDS * k
        score = pubeval_of(afterstates[at + mine], afterstates[at + mine + 1], afterstates[at + theirs],
                           afterstates[at + theirs + 1], race)
        if k == 0 or score > best_score:
            best, best_score = k, score
    return best


@entry(types.int64(pointer_type, pointer_type, types.int64, types.int64))
def choose_by_pubeval(position, afterstates, n, data):
    """Choose the afterstate that pubeval scores highest."""
    return best_by_pubeval(position, afterstates, n)


@entry(types.int64(words_type, words_type, types.int64))
def _best_by_pubeval(words, after, n):
    return best_by_pubeval(address_of(words), address_of(after), n)


def pubeval_move(words: np.ndarray, after: np.ndarray) -> int:
    """Return the index of the afterstate (n, WORDS) of a position that pubeval scores highest, the first of equals."""
    return _best_by_pubeval(words, after.ravel(), len(after))


@entry(types.float64(words_type))
def pubeval(words):
    """Return pubeval's score of an afterstate, for the side that has moved."""
    race = not contact_between(words[0], words[1], words[2], words[3])
    mine = 2 - 2 * np.int64(words[STATE] & TURN)
    return pubeval_of(words[mine], words[mine + 1], words[2 - mine], words[3 - mine], race) / WHOLE


def _ways() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the 21 rolls that differ, how likely each is, and how likely as the first roll."""
    ways = np.array([SIDES * a + b for a in range(SIDES) for b in range(a + 1)], np.int64)
    equal = ways // SIDES == ways % SIDES
    return ways, np.where(equal, 1, 2) / 36, np.where(equal, 0, 1) / 15


@dataclass(frozen=True)
class WholeGames:
    """What compiled loops over whole games call and know of backgammon: see `tuner/networks/calls.py`."""

    start: Any = start_at
    way: Any = way_at
    afterstates: Any = afterstates_at
    points: Any = points_at
    words: int = WORDS
    scratch: int = SCRATCH
    ways: np.ndarray = field(default_factory=lambda: _ways()[0])
    chances: np.ndarray = field(default_factory=lambda: _ways()[1])
    first_chances: np.ndarray = field(default_factory=lambda: _ways()[2])
    most_points: int = HIGHEST_POINTS
    players: dict[str, Any] = field(default_factory=lambda: {"random": choose_at_random, "pubeval": choose_by_pubeval})


WHOLE_GAMES = WholeGames()
