"""The search of shogi: static exchange evaluation (SEE), the order of moves, repetitions, and the
compiled search."""

from functools import partial

import numpy as np
from numba.core import types

from games.bits import EMPTY as NOTHING
from games.bits import popcount
from games.compile import jit
from games.search.alphabeta import make_search
from games.search.alphabeta_searcher import AlphaBetaSearcher
from games.search.rules import SHORTEST_CYCLE, SearchRules
from games.shogi.rules import CORE, entry, inner
from games.shogi.rules.attacks import KING, PROMOTED
from games.shogi.rules.endings import may_declare
from games.shogi.rules.movegen import MAX_MOVES, NO_AIMS, aims_of, generate, gives_check
from games.shogi.rules.moves import (
    is_drop,
    make,
    make_knowing,
    move_captured,
    move_kind,
    move_promotes,
    move_source,
    move_target,
)
from games.shogi.rules.position import (
    CHECK,
    SIDE,
    SIDE_KEY,
    STATE,
    WORDS,
    Position,
    attackers,
    in_check,
    key_of,
    kind_at,
    kinds_of,
    load,
    position_type,
    store,
    white_to_move,
)
from games.shogi.rules.squares import (
    SQUARES,
    bit,
    high_word,
    low_word,
    lowest,
    squares_type,
    without_lowest,
)

# values on the board, and of the plain man in hand: pawn, lance, knight, silver, bishop, rook,
# gold, king, then promoted men
_BOARD = np.array(
    [0, 100, 370, 400, 550, 800, 950, 600, 20_000, 600, 600, 600, 600, 1150, 1300, 0], np.int64
)
_HAND = np.array(
    [0, 110, 407, 440, 605, 1000, 1150, 660, 0, 110, 407, 440, 605, 1000, 1150, 0], np.int64
)
see_value = jit.table("shogi_see_values", _BOARD + _HAND)
_board_value = jit.table("shogi_see_board", _BOARD)


@inner(types.int64(types.int64), forceinline=True)
def promotion_gain(move):
    """Return the value that a move adds to its man on the board."""
    kind = move_kind(move)
    return _board_value(kind + PROMOTED) - _board_value(kind) if move_promotes(move) else 0


@inner(types.int64(position_type, squares_type))
def _least_valuable(p, men):
    """Return the square of the least valuable man in a set that is not empty."""
    best = lowest(men)
    least = see_value(kind_at(p, best))
    rest = without_lowest(men)
    while rest:
        square = lowest(rest)
        value = see_value(kind_at(p, square))
        if value < least:
            best, least = square, value
        rest = without_lowest(rest)
    return best


@inner(types.boolean(position_type, types.int64, types.int64))
def see_reaches(p, move, threshold):
    """Whether the SEE of a move that is no drop is at least `threshold` (centipawns).

    Both sides recapture with their least valuable man, without promotion, and stop as soon as the
    balance suits them, which decides the comparison exactly. Pins are ignored."""
    promotes = move_promotes(move)
    at_stake = see_value(move_kind(move) + PROMOTED * promotes)
    balance = see_value(move_captured(move)) + promotion_gain(move) - threshold
    if balance < 0:
        return False
    if balance >= at_stake:
        return True
    kinds = kinds_of(p)
    square = move_target(move)
    occupied = (p.black | p.white) & ~bit(move_source(move)) | bit(square)
    white = np.int64(0) if white_to_move(p) else np.int64(1)  # the side to recapture
    ours_to_move = False
    while True:
        if (balance >= 0) == ours_to_move:
            return ours_to_move
        mine = (
            attackers(kinds, square, occupied, white) & (p.white if white else p.black) & occupied
        )
        if not mine:
            return not ours_to_move
        source = _least_valuable(p, mine)
        kind = kind_at(p, source)
        if (
            kind == KING
            and attackers(kinds, square, occupied, 1 - white)
            & (p.black if white else p.white)
            & occupied
        ):
            return not ours_to_move
        balance += at_stake if ours_to_move else -at_stake
        at_stake = see_value(kind)
        occupied &= ~bit(source)
        white = 1 - white
        ours_to_move = not ours_to_move


LONGEST_LINE = 1 << 20  # any position of the game can recur: drops return captured men
IN_CHECK = np.uint64(1 << 63)
FOLD = np.uint64(IN_CHECK - np.uint64(1))
ONE_BIT, LAST_BIT = np.uint64(1), np.uint64(63)
KIND_CODES = 32  # of moving men by history: 16 kinds, then 16 for drops
marks_type = types.Array(types.uint64, 1, "C")
# order of men by value, for MVV-LVA; 0: none
_order = jit.table(
    "shogi_order", np.array([0, 1, 3, 4, 7, 10, 11, 9, 14, 2, 5, 6, 8, 12, 13, 0], np.int64)
)
PROMOTION_ORDER = 2


@inner(types.uint64(position_type))
def _key(p):
    return p.key


@inner(types.uint64(position_type))
def _mark(p):
    """Whether the side to move is in check (bit 63), and the occupied squares folded into 63 bits:
    two positions that differ in n of these bits differ in n squares at least."""
    occupied = p.black | p.white
    low, high = low_word(occupied), high_word(occupied)
    return (low & FOLD) ^ (low >> LAST_BIT | high << ONE_BIT) | (
        IN_CHECK if in_check(p) else NOTHING
    )


def marks_of(positions: np.ndarray) -> np.ndarray:
    """Return the marks (n,) of positions (n, 15), see `_mark`."""
    low, high = positions[:, 0] | positions[:, 2], positions[:, 1] | positions[:, 3]
    return ((low & FOLD) ^ (low >> LAST_BIT | high << ONE_BIT)) | (
        positions[:, STATE] & CHECK
    ) << np.uint64(62)


@inner(types.int64(marks_type, types.int64, types.int64))
def _repeated(marks, now, back):
    """Return the result of a repetition for the side to move: a side that gave check with each of
    its moves since then loses."""
    checked, checking = True, True
    for i in range(now - back + 2, now + 1, 2):
        checked = checked and marks[i] & IN_CHECK != NOTHING
        checking = checking and marks[i - 1] & IN_CHECK != NOTHING
    return np.int64(1) if checked else np.int64(-1) if checking else np.int64(0)


@inner(types.boolean(position_type, marks_type, types.int64, types.int64))
def _may_recur(p, marks, now, depth):
    """Whether an earlier position may recur within `depth` plies: each changes at most two
    squares."""
    for back in range(max(np.int64(1), SHORTEST_CYCLE - depth), now + 1):
        plies = depth - ((depth + back) & 1)
        if plies > 0 and popcount((marks[now] ^ marks[now - back]) & FOLD) <= 2 * plies:
            return True
    return False


@inner(types.boolean(position_type, types.int64, types.int64))
def _path_dependent(p, depth, repeats):
    return repeats > 0


@inner(types.int64(position_type))
def _clock(p):
    return LONGEST_LINE


@inner(types.boolean(position_type))
def _never(p):
    return False


@inner(types.boolean(position_type))
def _always(p):
    return True


@inner(position_type(position_type))
def _make_null(p):
    """Pass the move to the opponent, who is not in check."""
    return Position(
        p.black,
        p.white,
        p.bit0,
        p.bit1,
        p.bit2,
        p.bit3,
        p.hands,
        p.state ^ SIDE,
        p.key ^ key_of(SIDE_KEY),
    )


@inner(types.int64(types.int64))
def mvv_lva(move):
    """Order of captures and promotions: most valuable victim, then least valuable attacker; 0 for
    quiet moves."""
    captured, promotes = move_captured(move), move_promotes(move)
    if captured | promotes == 0:
        return 0
    return (_order(captured) + PROMOTION_ORDER * promotes) * 16 + 15 - _order(move_kind(move))


@inner(types.boolean(position_type, types.int64))
def _see_above_zero(p, move):
    return see_reaches(p, move, 1)


@inner(types.boolean(position_type, types.int64))
def _see_not_negative(p, move):
    return see_reaches(p, move, 0)


@inner(types.int64(types.int64))
def _greatest_gain(move):
    return see_value(move_captured(move)) + promotion_gain(move)


@inner(types.int64(position_type, types.int64))
def _history_index(p, move):
    code = move_kind(move) + (16 if is_drop(move) else 0) + (KIND_CODES if white_to_move(p) else 0)
    return code * SQUARES + move_target(move)


RULES = SearchRules(
    unit=CORE,
    position_type=position_type,
    words=WORDS,
    max_moves=MAX_MOVES,
    history_size=2 * KIND_CODES * SQUARES,
    clock_limit=0,
    load=load,
    store=store,
    generate=generate,
    make=make,
    make_knowing=make_knowing,
    key=_key,
    in_check=in_check,
    no_aims=NO_AIMS,
    aims=aims_of,
    gives_check=gives_check,
    clock=_clock,
    mark=_mark,
    repeated=_repeated,
    may_recur=_may_recur,
    path_dependent=_path_dependent,
    won=may_declare,
    drawn=_never,
    stalemate=-1,
    null_move_allowed=_always,
    make_null=_make_null,
    mvv_lva=mvv_lva,
    see_above_zero=_see_above_zero,
    see_not_negative=_see_not_negative,
    greatest_gain=_greatest_gain,
    target=move_target,
    history_index=_history_index,
)
SEARCH = make_search(RULES)
_deepen = SEARCH.deepen


@entry(types.int64(SEARCH.contexts_type, types.int64, types.int64, SEARCH.reports_type))
def deepen(contexts, first, last, reports):
    """Search the position of the first context from one depth to another, see
    games.search.alphabeta."""
    return _deepen(contexts[0], first, last, reports)


# of the addresses of an evaluation and its weights, see games.search.alphabeta_searcher
searcher = partial(AlphaBetaSearcher, SEARCH.dtype, deepen, marks=marks_of)
