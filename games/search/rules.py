"""What a search has to know about a game: compiled functions of its core."""

from __future__ import annotations

from typing import Any, NamedTuple

from games.jit import Unit


class Rules(NamedTuple):
    """The rules of a game for the search. `p` is a position as a value, moves are int64, never 0.

    A move is noisy if quiescence may try it: then `promise` is above zero, and higher for what should be tried first.
    """

    unit: Unit
    position_type: Any
    words: int  # of a position in an array
    max_moves: int
    slots: int  # of the table of what quiet moves were worth
    clock_limit: int  # plies without progress after which the game is drawn; 0: no such rule
    load: Any  # words -> p
    store: Any  # words, p
    generate: Any  # p, noisy only?, row of uint32 -> number of moves written
    make: Any  # p, move -> p
    key: Any  # p -> uint64
    in_check: Any  # p -> bool: must the side to move answer a threat to lose at once?
    clock: Any  # p -> plies without progress: an earlier position may come back only within these
    drawn: Any  # p -> bool: a draw whatever is played
    stalemate: Any  # value, for the side to move, of having no move and no check: -1, 0 or 1
    may_pass: Any  # p -> bool: passing would be worse than the best move
    passed: Any  # p -> p with the other side to move
    promise: Any  # move -> int64
    worth_trying: Any  # p, move -> bool: a noisy move that quiescence searches
    safe: Any  # p, move -> bool: a noisy move that loses nothing at once
    gain: Any  # move -> centipawns that it wins at most, at the usual values
    target: Any  # move -> where it goes
    slot: Any  # p, move -> place in the table of what quiet moves were worth
