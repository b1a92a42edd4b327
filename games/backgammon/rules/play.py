"""The rules of backgammon: afterstates of a roll, moves as numbers, the result in points; for
Python, and for compiled loops over whole games.

A move is a number: its steps, a byte for each checker moved, its place and 32 times the die, and
above them the dice, 3 bits each, the larger first. Before the roll the moves of a position are the
moves of all rolls."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numba.core import types

from games.backgammon.rules import entry, inner
from games.backgammon.rules.afterstates import MAX_AFTERSTATES, STRIDE, afterstates_of
from games.backgammon.rules.board import (
    ALL_DICE,
    BAR_SET,
    NOT_OFF,
    PLY_SHIFT,
    STATE,
    TURN,
    WORDS,
    contact_between,
    dice_of,
    occupied,
    pointer_type,
    start,
    with_dice,
    words_type,
)
from games.backgammon.rules.dice import (
    CHANCES,
    FIRST_CHANCES,
    ROLLS,
    SIDES,
    WAYS,
    first_way,
    larger_first,
    philox,
    upper_product,
    way_of,
)
from games.backgammon.rules.pubeval import WHOLE, pubeval_of
from games.bits import EMPTY, bit
from games.compile.jit import address_of

HIGHEST_POINTS = 3  # a backgammon
MOVE_DICE_SHIFT = 32  # above the steps of a move, its dice
STEPS = (1 << MOVE_DICE_SHIFT) - 1
THEIR_HOME = np.uint64(BAR_SET | sum((np.uint64(1 << place) for place in range(19, 25)), EMPTY))
SCRATCH = 2 * MAX_AFTERSTATES * STRIDE  # words at either address that `write_afterstates` needs
ONE_PLY = np.uint64(1 << PLY_SHIFT)
START = tuple(start())


@inner(types.int64(types.uint64, types.uint64, types.uint64, types.uint64))
def points_won(low, high, other_low, other_high):
    """Return the points of a side that has borne off all checkers: 1, 2 for a gammon, 3 for a
    backgammon; 0 if it has not."""
    if occupied(low, high) & NOT_OFF:
        return 0
    other = occupied(other_low, other_high)
    if other & bit(0):
        return 1
    return 3 if other & THEIR_HOME else 2


@inner(types.int64(pointer_type))
def points_of(position):
    """Return the points that the first player wins, negative for a loss; 0 while the game
    continues."""
    return points_won(position[0], position[1], position[2], position[3]) - points_won(
        position[2], position[3], position[0], position[1]
    )


@entry(types.int64(pointer_type))
def points_at(position):
    """Call `points_of` by its address."""
    return points_of(position)


@entry(types.int64(words_type))
def points(words):
    """Return the points that the first player wins in a position, negative for a loss; 0 while the
    game continues."""
    return points_of(address_of(words))


@inner(types.int64(pointer_type, types.int64, pointer_type, pointer_type))
def write_afterstates(position, way, out, scratch):
    """Write the afterstates of a roll to `out`, WORDS each, and to `scratch` as `afterstates_of`
    does; return their number."""
    turn = np.int64(position[STATE] & TURN)
    for i in range(4):
        scratch[i] = position[(i + 2 * turn) & 3]
    n = afterstates_of(scratch, out, way // SIDES + 1, way % SIDES + 1)
    state = (position[STATE] & ~ALL_DICE ^ TURN) + ONE_PLY
    for k in range(n):
        for i in range(4):
            out[WORDS * k + i] = scratch[STRIDE * k + ((i + 2 * turn) & 3)]
        out[WORDS * k + STATE] = state
    return n


@entry(types.int64(pointer_type, types.int64, pointer_type, pointer_type))
def afterstates_at(position, way, out, scratch):
    """Call `write_afterstates` by its address."""
    return write_afterstates(position, way, out, scratch)


@entry(types.int64(words_type, types.int64, words_type, words_type))
def _afterstates(words, way, out, scratch):
    return write_afterstates(address_of(words), way, address_of(out), address_of(scratch))


def afterstates(words: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the afterstates (n, 5) of a position with dice, and the steps (n,) uint64 that lead to
    each. A pass is one afterstate with no steps. A game that has ended has no afterstates."""
    larger, smaller = dice_of(words)
    if not larger:
        raise ValueError("the dice have not been rolled")
    if points(words):
        return np.empty((0, WORDS), np.uint64), np.empty(0, np.uint64)
    out, scratch = np.empty((2, MAX_AFTERSTATES * STRIDE), np.uint64)
    n = _afterstates(words, SIDES * (larger - 1) + smaller - 1, out, scratch)
    return (
        out[: WORDS * n].reshape(n, WORDS).copy(),
        scratch[: STRIDE * n].reshape(n, STRIDE)[:, 4].copy(),
    )


def steps_of(move: int) -> list[tuple[int, int]]:
    """Return the steps of a move as (place, die)."""
    return [(byte & 31, byte >> 5) for byte in int(move & STEPS).to_bytes(4, "little") if byte]


def dice_of_move(move: int) -> tuple[int, int]:
    """Return the dice of a move, the larger first."""
    return move >> MOVE_DICE_SHIFT & 7, move >> MOVE_DICE_SHIFT + 3 & 7


def move_of(dice: tuple[int, int], steps: int) -> int:
    """Return the move of these steps with its dice."""
    return int(steps) | (dice[0] | dice[1] << 3) << MOVE_DICE_SHIFT


def dice_before(words: np.ndarray) -> list[tuple[int, int]]:
    """Return the rolls that a position may have: its dice, or all before the roll."""
    dice = dice_of(words)
    return ROLLS if dice == (0, 0) else [dice]


def legal_moves(words: np.ndarray) -> list[int]:
    """Return the moves of the roll of a position, or before the roll those of every roll; none once
    the game is over."""
    if points(words):
        return []
    return [
        move_of(dice, steps)
        for dice in dice_before(words)
        for steps in afterstates(with_dice(words, dice))[1].tolist()
    ]


def play(words: np.ndarray, move: int) -> np.ndarray:
    """Return the position after a legal move, before the next roll."""
    after, moves = afterstates(with_dice(words, dice_of_move(move)))
    return after[int(np.flatnonzero(moves == np.uint64(move & STEPS))[0])].copy()


@entry(types.int64(words_type, types.int64, words_type, words_type))
def _counted(positions, n, out, scratch):
    total = 0
    for k in range(n):
        turn = 2 * np.int64(positions[WORDS * k + STATE] & TURN)
        for larger in range(1, SIDES + 1):
            for smaller in range(1, larger + 1):
                for i in range(4):
                    out[i] = positions[WORDS * k + ((i + turn) & 3)]
                total += afterstates_of(address_of(out), address_of(scratch), larger, smaller)
    return total


def count_afterstates(positions: np.ndarray) -> int:
    """Return the number of afterstates of all 21 rolls of positions (n, 5), a pass counted as
    one."""
    out, scratch = np.empty((2, MAX_AFTERSTATES * STRIDE), np.uint64)
    return int(_counted(np.ascontiguousarray(positions).ravel(), len(positions), out, scratch))


@entry(types.int64(pointer_type, types.int64, types.int64))
def start_at(position, seed, game):
    """Write the start of a game, with the side to move that its first roll names; return that
    roll."""
    for i in range(WORDS):
        position[i] = START[i]
    way, second = first_way(np.uint64(seed), np.uint64(game))
    position[STATE] = np.uint64(second)
    return larger_first(way)


@entry(types.int64(types.int64, types.int64, types.int64))
def way_at(seed, game, ply):
    """Return the roll of a ply, from 1 on."""
    return larger_first(way_of(np.uint64(seed), np.uint64(game), np.uint64(ply)))


@entry(types.int64(pointer_type, pointer_type, types.int64, types.int64))
def choose_at_random(position, afterstates, n, seed):
    """Choose any afterstate; `seed` is a number, not an address."""
    random = philox(
        position[0] ^ position[3],
        position[1] ^ position[2],
        position[STATE],
        np.uint64(1),
        np.uint64(seed),
        position[0],
    )
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
        score = pubeval_of(
            afterstates[at + mine],
            afterstates[at + mine + 1],
            afterstates[at + theirs],
            afterstates[at + theirs + 1],
            race,
        )
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
    """Return the index of the afterstate (n, WORDS) of a position that pubeval scores highest, the
    first of equals."""
    return _best_by_pubeval(words, after.ravel(), len(after))


@entry(types.float64(words_type))
def pubeval(words):
    """Return pubeval's score of an afterstate, for the side that has moved."""
    race = not contact_between(words[0], words[1], words[2], words[3])
    mine = 2 - 2 * np.int64(words[STATE] & TURN)
    return pubeval_of(words[mine], words[mine + 1], words[2 - mine], words[3 - mine], race) / WHOLE


@dataclass(frozen=True)
class CompiledGames:
    """Backgammon for compiled loops over whole games: see
    `tuner/evaluation/networks/compiled.py`."""

    start: Any = start_at
    way: Any = way_at
    afterstates: Any = afterstates_at
    points: Any = points_at
    words: int = WORDS
    scratch: int = SCRATCH
    ways: np.ndarray = field(default_factory=lambda: WAYS)
    chances: np.ndarray = field(default_factory=lambda: CHANCES)
    first_chances: np.ndarray = field(default_factory=lambda: FIRST_CHANCES)
    most_points: int = HIGHEST_POINTS
    players: dict[str, Any] = field(
        default_factory=lambda: {"random": choose_at_random, "pubeval": choose_by_pubeval}
    )


WHOLE_GAMES = CompiledGames()
