"""The interface between the search and the rules of a game: compiled functions of its core."""

from typing import Any, NamedTuple

from games.compile.jit import Unit

SHORTEST_CYCLE = 4  # plies after which a position can recur at the earliest


class SearchRules(NamedTuple):
    """The rules of a game for the search. `p` is a position as a value; moves are int64, never 0.

    A move is noisy if its `mvv_lva` is above zero: quiescence may search it. All other moves
    are quiet."""

    unit: Unit
    position_type: Any
    words: int  # of a position in an array
    max_moves: int
    history_size: int  # entries of the history table
    clock_limit: int  # halfmove clock at which the game is drawn; 0: no such rule
    load: Any  # words -> p
    store: Any  # words, p
    generate: Any  # p, noisy only?, row of uint32 -> number of moves written
    make: Any  # p, move -> p
    make_knowing: Any  # p, move, does it give check? -> p: the same
    key: Any  # p -> uint64
    in_check: Any  # p -> bool: must the side to move parry an immediate loss?
    no_aims: Any  # a value of the type that `aims` returns
    aims: Any  # p -> what `gives_check` needs to know of p
    gives_check: Any  # p, aims, legal move -> bool: is the opponent in check after it?
    # p -> halfmove clock: plies since the last irreversible move; only positions since then can
    # recur
    clock: Any
    mark: Any  # p -> uint64: what `repeated` and `may_recur` need of positions on the line
    # marks, index of the position, plies since it occurred before -> -1, 0 or 1: result for the
    # side to move
    repeated: Any
    # p, marks, its index, depth -> bool: can an earlier position recur within `depth` plies?
    may_recur: Any
    # p, depth, repetitions met below p -> bool: may its value depend on the positions before?
    path_dependent: Any
    won: Any  # p -> bool: the side to move wins without a move
    drawn: Any  # p -> bool: a dead draw
    stalemate: Any  # result for the side to move without a legal move and not in check: -1, 0 or 1
    null_move_allowed: Any  # p -> bool: zugzwang is unlikely, so that null move pruning is sound
    make_null: Any  # p -> p after a null move
    # move -> int64: order of noisy moves, most valuable victim first, then least valuable attacker;
    # 0: quiet
    mvv_lva: Any
    see_above_zero: (
        Any  # p, move -> bool: SEE of a noisy move above zero; quiescence searches these
    )
    see_not_negative: Any  # p, move -> bool: SEE of a noisy move at least zero
    greatest_gain: Any  # move -> centipawns that it can win, for delta pruning
    target: Any  # move -> target square
    history_index: Any  # p, move -> index into the history table
