"""Encodings: the inputs of networks, by game.

An encoding counts like a term, but has its own counts for both sides. An input of a network is a
count times its unit. A game's encodings are `ENCODINGS` of `evalterms/<game>/encodings.py`, by
their names. Its `OF_THE_BOARD`, if it is there, are the terms that add nothing to a board, and
`UNITS_OF_TERMS` the units of counts that are large."""

import importlib
import importlib.util
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba.core import types

from evalterms.framework.compose import compose, load_terms

TERMS = "terms"  # the encoding of them
# the type of `write`
native = types.int64(types.CPointer(types.uint64), types.CPointer(types.int32))


@dataclass(frozen=True)
class Encoding:
    """An encoding: its number of inputs, the unit of each (inputs,) float64, whether its outputs
    are for the side that moves or rolls next rather than for the first player, the compiled
    function that writes the counts of a position, and a description of the counts."""

    name: str
    units: np.ndarray
    for_mover: bool
    # (address of a position, address of a row of int32) -> number of counts; the row beyond them is
    # left
    write: Any
    about: str
    more: Any = None  # a function that writes those after them, if there are any

    @property
    def size(self) -> int:
        return len(self.units)


def encodings_of(game: str) -> dict[str, Encoding]:
    """Return the encodings of a game by their names, the usual one first; none if it has no module
    of them."""
    if not game.isidentifier() or importlib.util.find_spec(f"evalterms.{game}") is None:
        return {}
    if importlib.util.find_spec(f"evalterms.{game}.encodings") is None:
        return {}
    return importlib.import_module(f"evalterms.{game}.encodings").ENCODINGS


def encoding_named(game: str, name: str) -> Encoding:
    """Return an encoding of a game: one of its own, `terms`, or both, such as `bitboard768+terms`.
    ValueError if there is none of this name."""
    encodings = encodings_of(game)
    board, plus, terms = name.rpartition("+")
    own = board if plus and terms == TERMS else name
    if own not in encodings and (plus or own != TERMS or not encodings):
        raise ValueError(
            f"{game} has no encoding {name!r}; available: {', '.join(encodings)}, {TERMS}"
            if encodings
            else f"{game} has no encodings for networks"
        )
    if own == name != TERMS:
        return encodings[name]
    return _with_terms(game, encodings.get(own))


def _with_terms(game: str, board: Encoding | None) -> Encoding:
    """Return an encoding with the counts of linear terms, or of terms alone; with a board, only
    terms that add to it."""
    encodings = importlib.import_module(f"evalterms.{game}.encodings")
    terms = [
        term
        for term in load_terms(game)
        if term.linear and not (board and term.name in getattr(encodings, "OF_THE_BOARD", ()))
    ]
    glue = compose(game, terms).glue
    side = [
        getattr(encodings, "UNITS_OF_TERMS", {}).get(f"{term.name}.{parameter.name}", 1.0)
        for term in terms
        for parameter in term.parameters
        for _ in range(math.prod(parameter.shape))
    ]
    names = ", ".join(term.name for term in terms)
    units, about = np.array(2 * side), f"counts of the terms {names}"
    if board is None:
        about += ", of the side to move, then of its opponent"
        return Encoding(TERMS, units, True, glue.write_sides, about)
    write = glue.write_sides if board.for_mover else glue.write_players
    order = "the same sides" if board.for_mover else "both players"
    return Encoding(
        f"{board.name}+{TERMS}",
        np.concatenate([board.units, units]),
        board.for_mover,
        board.write,
        f"{board.about}; then {about}, of {order} in this order",
        write,
    )
