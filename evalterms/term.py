"""A term: names and shapes of parameters, and a function that counts how often each one applies;
and the form of an evaluation of several."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numba
import numpy as np
from llvmlite import ir
from numba.core import types

from games.compile import jit
from games.compile.compiler import InnerCompiler
from games.compile.jit import address_of_arrays

row_at, words_at, numbers_at = map(address_of_arrays, (types.int32, types.int64, types.float64))


def _nonzero(builder, values):
    lanes = ir.VectorType(ir.IntType(32), 64)
    place = builder.bitcast(builder.gep(values[0], [values[1]]), lanes.as_pointer())
    chunk = builder.load(place, align=4)
    return builder.bitcast(builder.icmp_unsigned("!=", chunk, lanes(None)), ir.IntType(64))


@jit.intrinsic(types.uint64, (types.CPointer(types.int32), types.int64), _nonzero)
def nonzero(row, start):
    """Return which of the 64 numbers from `start` on are not zero, as a bit set."""
    return np.uint64(sum(1 << i for i in range(64) if row[start + i]))


def row_function(length: int):
    """Return a function that turns an address into an array of `length` uint64."""
    pointer, word = ir.IntType(8).as_pointer(), ir.IntType(64)

    def build(builder, values):
        data = values[0]
        shape = ir.Constant(ir.ArrayType(word, 1), [length])
        strides = ir.Constant(ir.ArrayType(word, 1), [8])
        kind = ir.LiteralStructType(
            [pointer, pointer, word, word, data.type, shape.type, strides.type]
        )
        array = ir.Constant(kind, ir.Undefined)
        for place, value in enumerate(
            (pointer(None), pointer(None), word(length), word(8), data, shape, strides)
        ):
            array = builder.insert_value(array, value, place)
        return array

    @jit.intrinsic(types.Array(types.uint64, 1, "C"), (types.CPointer(types.uint64),), build)
    def row_of(words):
        """Return the words at an address as an array."""
        return words

    return row_of


@dataclass(frozen=True)
class Form:
    """Where inputs, sums and weights are. `column` and `sum` (inputs,) are the column and the sum
    of each input, of `count` sums. By term: `second`, the first input of the second player; `sums`,
    its first sum; `weights`, where the packed weights of each of its parts begin, see `packed`.
    `copies` are the ranges of packed weights that are copied to the end."""

    column: np.ndarray
    sum: np.ndarray
    count: int
    second: tuple[int, ...]
    sums: tuple[int, ...]
    weights: tuple[tuple[int, ...], ...]
    copies: tuple[tuple[int, np.ndarray], ...]

    def packed(self, weights: np.ndarray) -> np.ndarray:
        """Return packed weights (columns,) with copies behind them for terms of two parts, each
        with one part alone."""
        return np.concatenate(
            [
                weights,
                *(
                    np.where(kept, weights[first : first + len(kept)], 0)
                    for first, kept in self.copies
                ),
            ]
        )


def form_of(terms: Sequence[Term]) -> Form:
    """Return the form of an evaluation of these terms."""
    columns = sum(term.size for term in terms)
    column, sums_of = list(range(columns)), [0] * columns
    second, sums, weights, copies = [], [], [], []
    base, end, free = 0, columns, 1
    for term in terms:
        second.append(len(column) if not term.linear else base)
        sums.append(free if not term.linear else 0)
        places = [base]
        if not term.linear:
            part = np.concatenate(
                [np.full(parameter.size, parameter.part) for parameter in term.parameters]
            )
            sums_of[base : base + term.size] = (free + 2 * part).tolist()
            column += range(base, base + term.size)
            sums_of += (free + 2 * part + 1).tolist()
            free += 2 * term.parts
            if term.parts > 1:
                places = [end + k * term.size for k in range(term.parts)]
                copies += [(base, part == k) for k in range(term.parts)]
                end += term.parts * term.size
        weights.append(tuple(places))
        base += term.size
    return Form(
        np.array(column, np.uint16),
        np.array(sums_of, np.uint8),
        free,
        tuple(second),
        tuple(sums),
        tuple(weights),
        tuple(copies),
    )


_NAME = re.compile(r"[a-z][a-z0-9_]*\Z")


@dataclass(frozen=True)
class Parameter:
    """A named array of weights. Shape `()` is one number, `(n,)` a list, `(8, 8)` a board with the
    first row at the bottom."""

    name: str
    shape: tuple[int, ...]
    part: int = 0  # of a nonlinear term: which of the sums that its function takes

    @property
    def size(self) -> int:
        return math.prod(self.shape)


class Index(int):
    """The index of a weight within its term; in plain Python it has the range of its parameter."""

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
    reads: str | None  # its declared inputs; None: anything


class Phase(NamedTuple):
    """A function that returns the phase of a position, of us and them, compiled like those that
    count; and the largest phase."""

    function: Any
    steps: int


MOST_STEPS = 255  # of a phase, which datasets keep in eight bits


@dataclass
class Term:
    """A named group of parameters and the functions that count them."""

    name: str
    parameters: list[Parameter] = field(default_factory=list)
    counting: list[Counting] = field(default_factory=list)
    documentation: str = ""
    # compiled like `Counting.function`, applied to the tapered sums of a side; None: linear
    curve: Any = None
    scales: bool = False  # whether it multiplies the evaluation
    phase: Phase | None = None  # of the positions, in place of the game's

    def __post_init__(self) -> None:
        if not _NAME.match(self.name):
            raise ValueError(
                f"term name {self.name!r} must consist of lower-case letters, digits and"
                " underscores"
            )

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
        """Declare a parameter; returns the index of its first weight within the term, for
        `emit`."""
        if not _NAME.match(name):
            raise ValueError(
                f"parameter name {name!r} must consist of lower-case letters, digits and"
                " underscores"
            )
        if any(parameter.name == name for parameter in self.parameters):
            raise ValueError(f"{self.name}.{name} is declared twice")
        if not all(isinstance(length, int) and length > 0 for length in shape):
            raise ValueError(
                f"{self.name}.{name} has shape {shape}, expected lengths of at least one"
            )
        if part and self.scales:
            raise ValueError(
                f"{self.name}.{name} has part {part!r}, but {self.name} scales by one sum; leave"
                " it out"
            )
        if part not in (0, 1):
            raise ValueError(
                f"{self.name}.{name} has part {part!r}, expected 0 or 1: functions take one sum"
                " or two"
            )
        first = self.size
        self.parameters.append(Parameter(name, shape, part))
        return Index.of(first, range(first, self.size)) if jit.PLAIN else first

    def declare(self, names: str, *shape: int) -> list[int]:
        """Declare parameters of one shape, whose names a text lists; returns their indices, see
        `parameter`."""
        return [self.parameter(name, *shape) for name in names.split()]

    def counts(self, function: Callable | None = None, *, reads: str | None = None) -> Callable:
        """Decorate a function that counts parameters of this term; `reads`: the only pieces that it
        reads."""
        if function is None:
            return lambda function: self.counts(function, reads=reads)
        self.documentation = "\n\n".join(
            filter(None, (self.documentation, (function.__doc__ or "").strip()))
        )
        self.counting.append(Counting(inlined(function), reads))
        return self.counting[-1].function

    def through(self, function: Callable) -> Callable:
        """Decorate the function (one or two float64 to float64, centipawns) of a nonlinear term,
        for the sums of one side."""
        if self.scales:
            raise ValueError(f"{self.name} scales the evaluation by its sum; leave out `through`")
        self.curve = inlined(function)
        return self.curve

    def phases(self, steps: int) -> Callable:
        """Decorate a function (us, them) that returns the phase of a position, 0 to `steps`, for
        the whole evaluation: the same if us and them change places."""
        if not 0 < steps <= MOST_STEPS:
            raise ValueError(f"{self.name} has {steps} phases, expected 1 to {MOST_STEPS}")

        def decorated(function: Callable) -> Callable:
            self.phase = Phase(inlined(function), steps)
            return self.phase.function

        return decorated


def inlined(function: Callable) -> Callable:
    """Compile a function once per argument types; inlined, so that the score stays in a register.
    Also a decorator of what several counting functions share."""
    return (
        function
        if jit.PLAIN
        else numba.njit(**jit.OPTIONS, pipeline_class=InnerCompiler, forceinline=True)(function)
    )
