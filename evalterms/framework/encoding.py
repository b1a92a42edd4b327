"""Encodings: what networks see of a position, and those of each game.

An encoding counts like a term, but has its own counts for both sides. An input of a network is a
count times its unit. A game's encodings are `ENCODINGS` of `evalterms/<game>/encodings.py`, by
their names."""

from __future__ import annotations

import importlib
import importlib.util
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numba.core import types

native = types.int64(
    types.CPointer(types.uint64), types.CPointer(types.int32)
)  # the type of `write`


@dataclass(frozen=True)
class Encoding:
    """An encoding: its number of inputs, the unit of each (inputs,) float64, whether its outputs
    are for the side that moves or rolls next rather than for the first player, the compiled
    function that writes the counts of a position, and what the counts are, in words."""

    name: str
    units: np.ndarray
    for_mover: bool
    # (address of a position, address of a row of int32) -> number of counts; the row beyond them is
    # left
    write: Any
    about: str

    @property
    def size(self) -> int:
        return len(self.units)


def sources_of(game: Path) -> set[Path]:
    """Return the sources that influence the machine code of all terms and encodings of a game, from
    the folder of these."""
    framework = Path(__file__).parent
    return {framework.with_name("term.py"), *framework.glob("*.py"), *game.glob("*.py")}


def encodings_of(game: str) -> dict[str, Encoding]:
    """Return the encodings of a game by their names, the usual one first; none if it has no module
    of them."""
    if not game.isidentifier() or importlib.util.find_spec(f"evalterms.{game}") is None:
        return {}
    if importlib.util.find_spec(f"evalterms.{game}.encodings") is None:
        return {}
    return importlib.import_module(f"evalterms.{game}.encodings").ENCODINGS


def encoding_named(game: str, name: str) -> Encoding:
    """Return an encoding of a game; ValueError if there is none of this name."""
    found = encodings_of(game)
    if name not in found:
        raise ValueError(
            f"{game} has no encoding {name!r}; available: {', '.join(found)}"
            if found
            else f"{game} has no encodings for networks"
        )
    return found[name]
