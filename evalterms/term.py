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

A term can be nonlinear. Its function is then applied to the tapered sum of weight * count of each side:

    @danger.through
    def quadratic(total):
        return total * abs(total) / 100.0

`total` and the result are centipawns. A function of two sums makes products: parameters declared with `part=1` belong to the
second.

    WEAK = danger.parameter("weak", part=1)

    @danger.through
    def product(attack, weakness):
        return attack * weakness / 100.0

A term that scales the evaluation counts what the side ahead has. The evaluation is multiplied by 1 + sum / 100: the weights are
percent. The factor is kept between 0 and 2.

    drawish = Term("drawish", scales=True)

Counts of nonlinear terms are kept for each side apart (`evalterms.form`), so that gradients are analytic.
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
    part: int = 0  # of a nonlinear term: which of the sums that its function takes

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
    curve: Any = None  # compiled like `Counting.function`, applied to the tapered sums of a side; None: linear
    scales: bool = False  # whether it multiplies the evaluation

    def __post_init__(self) -> None:
        if not _NAME.match(self.name):
            raise ValueError(f"term name {self.name!r} must consist of lower-case letters, digits and underscores")

    @property
    def size(self) -> int:
        return sum(parameter.size for parameter in self.parameters)

    @property
    def linear(self) -> bool:
        return self.curve is None and not self.scales

    @property
    def parts(self) -> int:
        """Number of sums of each side."""
        return 1 + max((parameter.part for parameter in self.parameters), default=0)

    def parameter(self, name: str, *shape: int, part: int = 0) -> int:
        """Declare a parameter; returns the index of its first weight within the term, for `emit`."""
        if not _NAME.match(name):
            raise ValueError(f"parameter name {name!r} must consist of lower-case letters, digits and underscores")
        if any(parameter.name == name for parameter in self.parameters):
            raise ValueError(f"{self.name}.{name} is declared twice")
        if not all(isinstance(length, int) and length > 0 for length in shape):
            raise ValueError(f"{self.name}.{name} has shape {shape}, expected lengths of at least one")
        if part and self.scales:
            raise ValueError(f"{self.name}.{name} has part {part!r}, but {self.name} scales by one sum; leave it out")
        if part not in (0, 1):
            raise ValueError(f"{self.name}.{name} has part {part!r}, expected 0 or 1: functions take one sum or two")
        first = self.size
        self.parameters.append(Parameter(name, shape, part))
        return Index.of(first, range(first, self.size)) if jit.PLAIN else first

    def counts(self, function: Callable | None = None, *, reads: str | None = None) -> Callable:
        """Decorate a function that counts parameters of this term; `reads`: the only pieces that it reads."""
        if function is None:
            return lambda function: self.counts(function, reads=reads)
        self.documentation = "\n\n".join(filter(None, (self.documentation, (function.__doc__ or "").strip())))
        self.counting.append(Counting(_compiled(function), reads))
        return self.counting[-1].function

    def through(self, function: Callable) -> Callable:
        """Decorate the function (one or two float64 to float64, centipawns) of a nonlinear term, for the sums of one side."""
        if self.scales:
            raise ValueError(f"{self.name} scales the evaluation by its sum; leave out `through`")
        self.curve = _compiled(function)
        return self.curve


def _compiled(function: Callable) -> Callable:
    """Compile a function once per argument types; inlined, so that the score stays in a register."""
    return function if jit.PLAIN else numba.njit(**jit.OPTIONS, pipeline_class=InnerCompiler, forceinline=True)(function)
