"""The view of a chess position for terms: both sides, the phase, the side to move."""

from __future__ import annotations

from numba.core import types

from evalterms.chess.side import PHASES, across, phase, side_to_view, side_type
from games.chess.position import WORDS, black_to_move, load, words_type
from games.chess.unit import CORE, inner

__all__ = ["CORE", "PHASES", "WORDS", "across", "first_side", "phase_of", "second_side", "second_to_move", "side_type"]


@inner(side_type(words_type), forceinline=True)
def first_side(words):
    """Return White from its own point of view."""
    return side_to_view(load(words), False)


@inner(side_type(words_type), forceinline=True)
def second_side(words):
    """Return Black from its own point of view."""
    return side_to_view(load(words), True)


@inner(types.int64(words_type))
def phase_of(words):
    """Return the phase, from 0 (last stage) to PHASES (first stage)."""
    return phase(load(words))


@inner(types.boolean(words_type))
def second_to_move(words):
    """Whether Black is to move."""
    return black_to_move(load(words))
