"""A term: names and shapes of parameters, and a function that counts how often each one applies.

    pawns = Term("pawns")
    DOUBLED = pawns.parameter("doubled")
    PASSED = pawns.parameter("passed", 8)

    @pawns.counts
    def pawn_structure(us, them, emit):
        emit(DOUBLED, popcount(rear))
        emit(PASSED + rank, 1)

`us` and `them` are the two sides as `us` sees them, moving up the board. The framework calls the function for both sides and
subtracts. A term counts and never scores: the weights are in the parameter file.

A term may have several such functions. One that reads only some pieces is declared so, by words that the game's view defines;
the search then keeps its sums and computes them only when these pieces have moved:

    @pawns.counts(reads="pawns and kings")
    def pawn_structure(us, them, emit):

Such a function is given sides with no other fields.

A term can be nonlinear. Its function is then applied to the sum of weight * count of each side:

    @danger.through
    def quadratic(total):
        return total * abs(total) / 100.0

`total` is the sum for one side in one stage, in centipawns, as is the result. The parameters of such a term are learned by finite
differences of the compiled evaluation.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numba
import numpy as np

from games import jit
from games.compiler import InnerCompiler

_NAME = re.compile(r"[a-z][a-z0-9_]*\Z")


@dataclass(frozen=True)
class Parameter:
    """A named array of weights. Shape `()` is one number, `(n,)` a list, `(8, 8)` a board with the first row at the bottom."""

    name: str
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        return math.prod(self.shape)


class Index(int):
    """The index of a weight within its term; in plain Python it knows the range of its parameter."""

    numbers: range

    @staticmethod
    def of(value: int, numbers: range) -> Index:
        index = Index(value)
        index.numbers = numbers
        return index

    def __add__(self, other):
        total = int(self) + other
        return Index.of(total, self.numbers) if isinstance(total, (int, np.integer)) else total

    __radd__ = __add__

    def __sub__(self, other):
        return self + -int(other) if isinstance(other, (int, np.integer)) else int(self) - other


class Counting(NamedTuple):
    """A function that counts parameters of a term."""

    function: Any  # compiled, of us, them and emit; a Python function in plain mode
    reads: str | None  # what it is declared to read; None: anything


@dataclass
class Term:
    """A named group of parameters and the functions that count them."""

    name: str
    parameters: list[Parameter] = field(default_factory=list)
    counting: list[Counting] = field(default_factory=list)
    documentation: str = ""
    curve: Any = None  # compiled like `Counting.function`, applied to the weighted sum of a side; None: linear

    def __post_init__(self) -> None:
        if not _NAME.match(self.name):
            raise ValueError(f"term name {self.name!r} must consist of lower-case letters, digits and underscores")

    @property
    def size(self) -> int:
        return sum(parameter.size for parameter in self.parameters)

    def parameter(self, name: str, *shape: int) -> int:
        """Declare a parameter; returns the index of its first weight within the term, for `emit`."""
        if not _NAME.match(name):
            raise ValueError(f"parameter name {name!r} must consist of lower-case letters, digits and underscores")
        if any(parameter.name == name for parameter in self.parameters):
            raise ValueError(f"{self.name}.{name} is declared twice")
        if not all(isinstance(length, int) and length > 0 for length in shape):
            raise ValueError(f"{self.name}.{name} has shape {shape}, expected lengths of at least one")
        first = self.size
        self.parameters.append(Parameter(name, shape))
        return Index.of(first, range(first, self.size)) if jit.PLAIN else first

    def counts(self, function: Callable | None = None, *, reads: str | None = None) -> Callable:
        """Decorate a function that counts parameters of this term; `reads`: the only pieces that it reads."""
        if function is None:
            return lambda function: self.counts(function, reads=reads)
        self.documentation = "\n\n".join(filter(None, (self.documentation, (function.__doc__ or "").strip())))
        self.counting.append(Counting(_compiled(function), reads))
        return self.counting[-1].function

    def through(self, function: Callable) -> Callable:
        """Decorate the function (float64 to float64, centipawns) of a nonlinear term, for one side and stage."""
        self.curve = _compiled(function)
        return self.curve


def _compiled(function: Callable) -> Callable:
    """Compile a function once per argument types; inlined, so that the score stays in a register."""
    return function if jit.PLAIN else numba.njit(**jit.OPTIONS, pipeline_class=InnerCompiler, forceinline=True)(function)
