"""Sets of the 81 squares: one integer of 128 bits, with the operators of sets, in compiled code and
in plain Python.

Square 0 is 1a, square 8 is 1i, square 80 is 9i: nine squares of a file follow one another, file 1
first. `a & b`, `a | b`, `a ^ b`, `~a`, `a - b` (as integers), `a == b`, shifts by plain integers
and the truth of a set work as for the sets of 64 squares of `games.bits`, and so do the functions
that have the same names here. An array has two words for a set: squares 0 to 63, then the rest.
"""

import operator
from collections.abc import Callable

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.core.datamodel import models
from numba.core.imputils import lower_constant
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import lower_builtin, register_model, typeof_impl

from games.compile import jit

FILES, RANKS, SQUARES = 9, 9, 81
_FULL = (1 << 128) - 1


class Squares(int):
    """A set of squares in plain Python; `squares_type` is its type in compiled code."""

    def __and__(self, other):
        return Squares(int(self) & int(other))

    def __or__(self, other):
        return Squares(int(self) | int(other))

    def __xor__(self, other):
        return Squares(int(self) ^ int(other))

    def __invert__(self):
        return Squares(_FULL ^ int(self))

    def __sub__(self, other):
        return Squares((int(self) - int(other)) & _FULL)

    def __add__(self, other):
        return Squares((int(self) + int(other)) & _FULL)

    def __lshift__(self, steps):
        return Squares(int(self) << int(steps) & _FULL)

    def __rshift__(self, steps):
        return Squares(int(self) >> int(steps))


class SquaresType(types.Type):
    """The Numba type of a set of squares."""

    def __init__(self) -> None:
        super().__init__(name="Squares")


squares_type = SquaresType()
_WIDE, _WORD = ir.IntType(128), ir.IntType(64)


@register_model(SquaresType)
class _SquaresModel(models.PrimitiveModel):
    def __init__(self, manager, kind) -> None:
        super().__init__(manager, kind, _WIDE)


@typeof_impl.register(Squares)
def _typeof_squares(value, context):
    return squares_type


@lower_constant(SquaresType)
def _constant(context, builder, kind, value):
    return _WIDE(int(value))


def _define(function, arity: int, result, build: Callable, shift: bool = False) -> None:
    """Define an operator on sets; `shift`: the second operand is a plain integer."""
    second = types.int64 if shift else squares_type

    class Template(AbstractTemplate):
        def generic(self, args, kws):
            if (
                len(args) == arity
                and isinstance(args[0], SquaresType)
                and (arity == 1 or isinstance(args[1], types.Integer if shift else SquaresType))
            ):
                return signature(result, *(squares_type, second)[:arity])
            return None

    infer_global(function)(Template)

    @lower_builtin(function, *((squares_type, second)[:arity]))
    def _lower(context, builder, sig, args):
        return build(builder, *args)


def _wide(builder, value):
    return builder.zext(value, _WIDE)


_SETS = (
    (operator.and_, operator.iand, lambda b, x, y: b.and_(x, y)),
    (operator.or_, operator.ior, lambda b, x, y: b.or_(x, y)),
    (operator.xor, operator.ixor, lambda b, x, y: b.xor(x, y)),
    (operator.sub, operator.isub, lambda b, x, y: b.sub(x, y)),
    (operator.add, operator.iadd, lambda b, x, y: b.add(x, y)),
)
for _plain, _inplace, _build in _SETS:
    _define(_plain, 2, squares_type, _build)
    _define(_inplace, 2, squares_type, _build)
for _plain, _inplace, _build in (
    (operator.lshift, operator.ilshift, lambda b, x, n: b.shl(x, _wide(b, n))),
    (operator.rshift, operator.irshift, lambda b, x, n: b.lshr(x, _wide(b, n))),
):
    _define(_plain, 2, squares_type, _build, shift=True)
    _define(_inplace, 2, squares_type, _build, shift=True)
_define(operator.invert, 1, squares_type, lambda b, x: b.not_(x))
_define(bool, 1, types.boolean, lambda b, x: b.icmp_unsigned("!=", x, _WIDE(0)))
_define(operator.not_, 1, types.boolean, lambda b, x: b.icmp_unsigned("==", x, _WIDE(0)))
_define(operator.eq, 2, types.boolean, lambda b, x, y: b.icmp_unsigned("==", x, y))
_define(operator.ne, 2, types.boolean, lambda b, x, y: b.icmp_unsigned("!=", x, y))


def _pair(builder, values):
    return builder.or_(_wide(builder, values[0]), builder.shl(_wide(builder, values[1]), _WIDE(64)))


@jit.intrinsic(squares_type, (types.uint64, types.uint64), _pair)
def pair(low, high):
    """Return the set of two words of an array."""
    return Squares(int(low) | int(high) << 64)


@jit.intrinsic(
    types.uint64, (squares_type,), lambda builder, values: builder.trunc(values[0], _WORD)
)
def low_word(squares):
    """Return the first word of a set."""
    return np.uint64(int(squares) & (1 << 64) - 1)


@jit.intrinsic(
    types.uint64,
    (squares_type,),
    lambda builder, values: builder.trunc(builder.lshr(values[0], _WIDE(64)), _WORD),
)
def high_word(squares):
    """Return the second word of a set."""
    return np.uint64(int(squares) >> 64)


@jit.intrinsic(
    types.int64,
    (squares_type,),
    lambda builder, values: builder.trunc(builder.ctpop(values[0]), _WORD),
)
def popcount(squares):
    """Return the number of squares in a set."""
    return int(squares).bit_count()


@jit.intrinsic(
    types.int64,
    (squares_type,),
    lambda builder, values: builder.trunc(builder.cttz(values[0], ir.IntType(1)(1)), _WORD),
)
def lowest(squares):
    """Return the lowest square of a set that is not empty."""
    return (int(squares) & -int(squares)).bit_length() - 1


@jit.intrinsic(
    types.int64,
    (squares_type,),
    lambda builder, values: builder.sub(
        _WORD(127), builder.trunc(builder.ctlz(values[0], ir.IntType(1)(1)), _WORD)
    ),
)
def highest(squares):
    """Return the highest square of a set that is not empty."""
    return int(squares).bit_length() - 1


@jit.intrinsic(
    squares_type,
    (squares_type,),
    lambda builder, values: builder.and_(values[0], builder.sub(values[0], _WIDE(1))),
)
def without_lowest(squares):
    """Return the set without its lowest square."""
    return Squares(int(squares) & int(squares) - 1)


@jit.intrinsic(
    squares_type,
    (types.int64,),
    lambda builder, values: builder.shl(_WIDE(1), _wide(builder, values[0])),
)
def bit(square):
    """Return the set of one square."""
    return Squares(1 << int(square))


@jit.intrinsic(
    squares_type,
    (types.boolean, squares_type),
    lambda builder, values: builder.select(values[0], values[1], _WIDE(0)),
)
def when(condition, squares):
    """Return the set if the condition holds, otherwise the empty set."""
    return squares if condition else EMPTY


def _turn(builder, values):
    """Reverse the 128 bits as a vector of bytes, which takes a few instructions, and drop the 47
    that are no squares."""
    lanes = ir.VectorType(ir.IntType(8), 16)
    vector = builder.bitcast(values[0], lanes)
    name = "llvm.bitreverse.v16i8"
    reverse = builder.module.globals.get(name) or ir.Function(
        builder.module, ir.FunctionType(lanes, [lanes]), name
    )
    bits = builder.call(reverse, [vector])
    order = ir.Constant(
        ir.VectorType(ir.IntType(32), 16), [ir.Constant(ir.IntType(32), 15 - i) for i in range(16)]
    )
    turned = builder.shuffle_vector(bits, ir.Constant(lanes, ir.Undefined), order)
    return builder.lshr(builder.bitcast(turned, _WIDE), _WIDE(128 - SQUARES))


@jit.intrinsic(squares_type, (squares_type,), _turn)
def flip(squares):
    """Return the set on the board turned by half: square s becomes 80 - s."""
    return Squares(int(f"{int(squares) & _FULL:0128b}"[::-1], 2) >> 128 - SQUARES)


EMPTY = Squares(0)
BOARD = Squares((1 << SQUARES) - 1)


def of_rank(rank: int) -> Squares:
    """Return the squares of a rank, counted from the top."""
    return Squares(sum(1 << FILES * file + rank for file in range(FILES)))


def of_file(file: int) -> Squares:
    """Return the squares of a file, counted from file 1."""
    return Squares(0x1FF << FILES * file)
