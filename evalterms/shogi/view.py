"""The view of a shogi position for terms: both sides, the side to move; the evaluation is not tapered."""

from __future__ import annotations

from numba.core import types

from evalterms.shogi.side import across, side_to_view, side_type
from games.shogi.position import WORDS, load, white_to_move, words_type
from games.shogi.unit import CORE, inner

__all__ = ["CORE", "PHASES", "WORDS", "across", "first_side", "phase_of", "second_side", "second_to_move", "side_type"]

PHASES = 1


@inner(side_type(words_type), forceinline=True)
def first_side(words):
    """Return Black from its own point of view."""
    return side_to_view(load(words), False)


@inner(side_type(words_type), forceinline=True)
def second_side(words):
    """Return White from its own point of view."""
    return side_to_view(load(words), True)


@inner(types.int64(words_type))
def phase_of(words):
    return PHASES


@inner(types.boolean(words_type))
def second_to_move(words):
    """Whether White is to move."""
    return white_to_move(load(words))
