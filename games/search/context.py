"""The memory of one search: a single record, so that compiled functions pass one pointer, and the
transposition table."""

import ctypes
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from llvmlite import ir
from numba.core import types

from games.compile import jit
from games.search.ordering import LANES
from games.search.rules import SearchRules

PREFIX = "Search."  # of the names of the constants among options of an engine
DEPTHS = 64  # rows of tables by depth, and by the number of a move


class SearchConstant(NamedTuple):
    """A constant: its name, description and usual value, limits, and a step that a match may
    notice. All are whole numbers, some in percent or hundredths."""

    name: str
    value: int
    low: int
    high: int
    step: int
    what: str


CONSTANTS = tuple(
    SearchConstant(PREFIX + name, *numbers, what)
    for name, numbers, what in (
        (
            "ReverseFutilityDepth",
            (6, 0, 12, 1),
            "up to this depth: return the static evaluation if it exceeds beta by a margin per ply",
        ),
        (
            "ReverseFutilityMargin",
            (100, 20, 400, 20),
            "that margin, in percent of a small advantage",
        ),
        ("NullMoveDepth", (3, 1, 10, 1), "from this depth: null move pruning"),
        ("NullMoveReduction", (3, 1, 6, 1), "plies by which a null move is reduced"),
        ("NullMoveDivisor", (4, 2, 16, 1), "one ply more for this number of plies of depth"),
        (
            "NullMoveMargin",
            (200, 50, 800, 50),
            "one ply more for this amount above beta, in percent of a small advantage",
        ),
        (
            "IirDepth",
            (4, 2, 12, 1),
            "from this depth: one ply less without a hash move (internal iterative reduction)",
        ),
        (
            "QuietPruningDepth",
            (4, 0, 10, 1),
            "up to this depth: late move pruning and futility pruning of quiet moves",
        ),
        ("LateMoveBase", (4, 1, 30, 2), "quiet moves that late move pruning keeps at any depth"),
        (
            "LateMoveFactor",
            (200, 25, 800, 40),
            "quiet moves that it keeps more, in hundredths of the square of the depth",
        ),
        (
            "FutilityMargin",
            (100, 20, 400, 20),
            "margin of futility pruning per ply, in percent of a small advantage",
        ),
        ("SeePruningDepth", (3, 0, 10, 1), "up to this depth: prune captures with a negative SEE"),
        ("LmrDepth", (3, 2, 10, 1), "from this depth: late move reductions"),
        ("LmrMove", (3, 1, 12, 1), "from this number of a move: late move reductions"),
        ("LmrBase", (50, -100, 200, 20), "plies of every late move reduction, in hundredths"),
        (
            "LmrDivisor",
            (230, 100, 800, 25),
            "reduction by the product of the logarithms of depth and number of the move, divided by"
            " hundredths",
        ),
        (
            "DeltaMargin",
            (200, 20, 800, 40),
            "margin of delta pruning in quiescence, in percent of a small advantage",
        ),
        (
            "AspirationDivisor",
            (300, 50, 1600, 40),
            "half of the window at the root is a small advantage divided by hundredths",
        ),
    )
)
USUAL = {constant.name: constant.value for constant in CONSTANTS}


def in_context(values: Mapping[str, int], margin: int) -> dict[str, int | np.ndarray]:
    """Return the fields of a context by the values of the constants, the usual ones where none is
    given, and a small advantage in steps of evaluations."""
    of = {name.removeprefix(PREFIX): value for name, value in {**USUAL, **values}.items()}
    depths = np.arange(DEPTHS)
    logarithms = np.log(np.maximum(depths, 1))

    def part(name: str) -> int:
        return margin * of[name] // 100

    return {
        "reverse_futility_depth": of["ReverseFutilityDepth"],
        "reverse_futility_margin": part("ReverseFutilityMargin"),
        "null_move_depth": of["NullMoveDepth"],
        "null_move_reduction": of["NullMoveReduction"],
        "null_move_divisor": of["NullMoveDivisor"],
        "null_move_margin": part("NullMoveMargin"),
        "iir_depth": of["IirDepth"],
        "quiet_pruning_depth": of["QuietPruningDepth"],
        "late_moves": of["LateMoveBase"] + of["LateMoveFactor"] * depths * depths // 100,
        "futility_margin": part("FutilityMargin"),
        "see_pruning_depth": of["SeePruningDepth"],
        "lmr_depth": of["LmrDepth"],
        "lmr_move": of["LmrMove"],
        "reductions": np.maximum(
            of["LmrBase"] / 100 + np.outer(logarithms, logarithms) / (of["LmrDivisor"] / 100), 0
        ).astype(np.int64),
        "delta_margin": part("DeltaMargin"),
        "half_width": margin * 100 // of["AspirationDivisor"],
    }


# of the context of a search
FIELDS = [(name, np.int64, np.shape(value)) for name, value in in_context({}, 0).items()]


MAX_DEPTH = 60
QUIESCENCE_LIMIT = 30  # plies of quiescence
MAX_PLY = 128  # below the root, extensions included
ROWS = MAX_PLY + QUIESCENCE_LIMIT + 2
LINE = 1024  # positions of the game up to the root that are kept for repetitions
SEEN = 1 << 12  # bits of a filter of these positions
CACHED = 1 << 15  # entries of the evaluation cache
SUMS = 1 << 11  # entries, of four words, in which an evaluation keeps partial sums

UNIT = 256  # steps per centipawn: values of the search and of evaluation functions are whole steps
MATE = 1 << 30  # value of a win on the board; a win in n plies is MATE - n
DECIDED = MATE - 1024  # a value above this is a forced win
MAX_EVALUATION = 1 << 29  # evaluations are clamped to this
INFINITE = (1 << 31) - 1


ADDRESS = object if jit.PLAIN else np.int64  # plain Python has the function itself


def context_dtype(rules: SearchRules) -> np.dtype:
    """The record of one search. Values are in steps of 1/256 centipawn, for the side to move."""
    return np.dtype(
        [
            ("function", ADDRESS),
            ("weights", ADDRESS),  # addresses of the evaluation and its weights
            ("tt", np.int64),
            # address of the transposition table, number of entries minus one
            (
                "tt_mask",
                np.int64,
            ),
            ("eval_cache", np.int64),
            # addresses of the evaluation cache and of the evaluation's partial sums
            (
                "sums",
                np.int64,
            ),
            ("stop", np.int64),  # address of the word that stops the search when set
            ("nodes", np.int64),
            ("node_limit", np.int64),
            ("stopped", np.int64),
            ("root_depth", np.int64),
            ("playing", np.int64),  # 1: prune and reduce, 0: exact values
            ("margin", np.int64),  # a small advantage, the unit of aspiration windows
            ("seed", np.uint64),  # random choice among equal moves at the root; 0: the first
            ("harvest", np.int64),
            ("harvest_room", np.int64),
            ("harvested", np.int64),  # see games.search.alphabeta
            ("harvest_depth", np.int64),  # iteration in which nodes are recorded
            # index of the root in `keys`, behind the positions of the game
            (
                "root_index",
                np.int64,
            ),
            ("repeats", np.int64),  # repetitions met
            ("keys", np.uint64, LINE + ROWS),
            # a bit for each position of the game, by its key: positions without a bit did not occur
            # in the game
            (
                "seen",
                np.uint64,
                SEEN // 64,
            ),
            # what the rules of repetitions need of these positions
            (
                "marks",
                np.uint64,
                LINE + ROWS,
            ),
            ("path", np.int64, ROWS),  # moves from the root to the current node; 0 is a null move
            ("killers", np.int64, (ROWS, 2)),
            ("history", np.int64, rules.history_size),
            *FIELDS,  # the constants of the playing mode
            ("pv_lengths", np.int64, ROWS),
            ("pv", np.uint32, (ROWS, ROWS)),  # triangular PV table
            ("stack", np.uint64, (ROWS, rules.words)),
            ("moves", np.uint32, (ROWS, rules.max_moves)),
            # moves with their scores, see games.search.ordering
            (
                "ordered",
                np.int64,
                (ROWS, rules.max_moves + LANES),
            ),
        ],
        align=True,
    )


class Context:
    """The memory of a search, or of quiescence alone; compiled functions take `records`, a record
    array of length 1."""

    def __init__(self, dtype: np.dtype, function: int = 0, weights: int = 0) -> None:
        self.records = np.zeros(1, dtype)
        if jit.PLAIN:
            self.records = self.records.view(np.recarray)
        self._cache, self._sums, self._stop = (
            np.zeros(n, np.uint64) for n in (2 * CACHED, 4 * SUMS, 1)
        )
        for name, array in (
            ("eval_cache", self._cache),
            ("sums", self._sums),
            ("stop", self._stop),
        ):
            self.records[name] = array.ctypes.data
        self.bind(function, weights)

    def bind(self, function: int, weights: int) -> None:
        """Evaluate with the function and the weights at these addresses."""
        self.records[0]["function"], self.records[0]["weights"] = function, weights
        self._cache[:] = 0
        self._sums[:] = 0

    def stop(self, yes: bool) -> None:
        """Ask the search in another thread to return soon (True), or allow the next one (False)."""
        self._stop[0] = yes


_WORD = ir.IntType(64)


def _place(builder, values):
    return builder.gep(builder.inttoptr(values[0], _WORD.as_pointer()), [values[1]])


def _read(builder, values):
    return builder.load(_place(builder, values))


def _write(builder, values):
    builder.store(values[2], _place(builder, values))
    return values[2]


@jit.intrinsic(types.uint64, (types.int64, types.int64), _read)
def word_at(address, index):
    """Return the word at `index` in an array at an address."""
    return np.uint64(ctypes.c_uint64.from_address(int(address) + 8 * int(index)).value)


def _prefetch(builder, values):
    byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
    kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
    place = builder.bitcast(_place(builder, values), byte)
    builder.call(
        builder.module.declare_intrinsic("llvm.prefetch", [byte], kind),
        [place, number(0), number(3), number(1)],
    )
    return values[1]


@jit.intrinsic(types.int64, (types.int64, types.int64), _prefetch)
def prefetch(address, index):
    """Begin to load the word at `index` in an array at an address into the cache; returns the
    index."""
    return index


@jit.intrinsic(types.uint64, (types.int64, types.int64, types.uint64), _write)
def put_word(address, index, value):
    """Write a word at `index` in an array at an address; returns it."""
    ctypes.c_uint64.from_address(int(address) + 8 * int(index)).value = int(value)
    return value


# records of the nodes of a search tree, for learning from all of them (TreeStrap): words after the
# position, and their number
NODE_VALUE, NODE_FACTS, MORE = 0, 1, 2
# of the word of facts, see games.search.alphabeta.make_harvest
NODE_BOUND, NODE_QUIET, NODE_ODD, NODE_DEPTH = 3, 4, 8, 4

# bounds: no value (only the move), value at least, at most, exact
NONE, LOWER, UPPER, EXACT = range(4)
MOVE_MASK, DEPTH_MASK, BOUND_MASK = (1 << 24) - 1, 63, 3
DEPTH_SHIFT, BOUND_SHIFT, VALUE_SHIFT = 24, 30, 32
inner = jit.Unit("search", lambda: []).inner  # compiled into the units of the games


@inner(types.int64(types.int64, types.int64, types.uint64))
def tt_probe(table, mask, key):
    """Return the entry of a position, or 0."""
    place = (np.int64(key) & mask) << 1
    return np.int64(word_at(table, place + 1)) if word_at(table, place) == key else 0


@inner(
    types.void(
        types.int64,
        types.int64,
        types.uint64,
        types.int64,
        types.int64,
        types.int64,
        types.int64,
        types.int64,
    )
)
def tt_store(table, mask, key, move, depth, bound, value, ply):
    """Store an entry, whatever was there before: an entry of another position, however deep, is
    probably old."""
    place = (np.int64(key) & mask) << 1
    if value > DECIDED:
        value += ply
    elif value < -DECIDED:
        value -= ply
    if move == 0 and word_at(table, place) == key:
        move = np.int64(word_at(table, place + 1)) & MOVE_MASK
    put_word(table, place, key)
    put_word(
        table,
        place + 1,
        np.uint64(move | depth << DEPTH_SHIFT | bound << BOUND_SHIFT | value << VALUE_SHIFT),
    )


@inner(types.int64(types.int64))
def tt_move(entry):
    return entry & MOVE_MASK


@inner(types.int64(types.int64))
def tt_depth(entry):
    return entry >> DEPTH_SHIFT & DEPTH_MASK


@inner(types.int64(types.int64))
def tt_bound(entry):
    return entry >> BOUND_SHIFT & BOUND_MASK


@inner(types.int64(types.int64, types.int64))
def tt_value(entry, ply):
    """Return the value, with mate distances counted from the root, `ply` plies above."""
    value = entry >> VALUE_SHIFT
    if value > DECIDED:
        return value - ply
    return value + ply if value < -DECIDED else value


@inner(types.boolean(types.int64, types.int64, types.int64, types.int64))
def tt_cutoff(entry, ply, alpha, beta):
    """Whether the entry's bound allows a cutoff in the window from alpha to beta."""
    value, bound = tt_value(entry, ply), tt_bound(entry)
    return (
        bound == EXACT or (bound == LOWER and value >= beta) or (bound == UPPER and value <= alpha)
    )
