"""How the framework looks at a chess position: both sides, the phase, and whose move it is."""

from __future__ import annotations

from numba.core import types

from evalterms.chess.side import PHASES, across, phase, side_to_view, side_type
from games.chess.position import WORDS, black_to_move, load, words_type
from games.chess.unit import CORE, inner

__all__ = ["CORE", "PHASES", "WORDS", "across", "first_side", "phase_of", "second_side", "second_to_move", "side_type"]


@inner(side_type(words_type), forceinline=True)
def first_side(words):
    """White as it sees itself."""
    return side_to_view(load(words), False)


@inner(side_type(words_type), forceinline=True)
def second_side(words):
    """Black as it sees itself."""
    return side_to_view(load(words), True)


@inner(types.int64(words_type))
def phase_of(words):
    """From 0 (the last stage) to PHASES (the first)."""
    return phase(load(words))


@inner(types.boolean(words_type))
def second_to_move(words):
    return black_to_move(load(words))
