"""Calls from compiled loops to a game and to players, by address; in plain Python they are the functions themselves.

Positions are the addresses of their words; bit 0 of the last word is the side to move, 1 for the second player.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from llvmlite import ir
from numba.core import types

from games import jit
from games.addresses import DATA

_I64, _I32 = ir.IntType(64), ir.IntType(32)
I64 = types.int64

call_start = jit.address_call(I64, (I64, I64, I64))  # position, seed, game: the first roll
call_way = jit.address_call(I64, (I64, I64, I64))  # seed, game, ply: a roll
call_afterstates = jit.address_call(I64, (I64, I64, I64, I64))  # position, roll, positions, scratch: how many
call_points = jit.address_call(I64, (I64,))  # position: points of the first player, 0 before the end
call_write = jit.address_call(I64, (I64, I64))  # position, row: how many counts
call_choose = jit.address_call(I64, (I64, I64, I64, I64))  # position, afterstates, how many, data: the index of one


class WholeGames(Protocol):
    """A game with chance as compiled loops call it: compiled functions, see the calls above, and their sizes."""

    start: Any
    way: Any
    afterstates: Any
    points: Any
    words: int  # of a position
    scratch: int  # words of memory for afterstates, and as many for its own use
    ways: np.ndarray  # (n,) int64, rolls that differ, and
    chances: np.ndarray  # (n,) float64, how likely each is
    first_chances: np.ndarray  # (n,) float64, how likely each is at the start
    most_points: int
    players: dict[str, Any]  # players of the game by their names, see `call_choose`; that of `random` takes a seed as data


class Encoding(Protocol):
    """What a network sees of a position, see `evalterms/backgammon/encodings.py`."""

    @property
    def name(self) -> str: ...
    @property
    def units(self) -> np.ndarray: ...
    @property
    def for_mover(self) -> bool: ...
    @property
    def write(self) -> Any: ...
    @property
    def size(self) -> int: ...


def address_of(function: Any) -> Any:
    """Return the address of a compiled function; in plain Python the function."""
    return function if jit.PLAIN else function.address()


def memory_of(array: np.ndarray) -> Any:
    """Return the address of an array, which the caller keeps alive; in plain Python the array."""
    return array if jit.PLAIN else array.ctypes.data


def packed_numbers(found: list[Any]) -> Any:
    """Return numbers and addresses as one array in memory; in plain Python as the list that stands for it."""
    return found if jit.PLAIN else np.array(found, np.int64)


def _number(builder, values):
    return builder.ptrtoint(builder.gep(builder.extract_value(values[0], DATA), [values[1]]), _I64)


def _at(kind):
    def place(array, offset):
        """Return the address of an entry of an array as a number; in plain Python the rest of the array."""
        return array[offset:]

    return jit.intrinsic(I64, (types.Array(kind, 1, "C"), I64), _number)(place)


words_at, row_at = _at(types.uint64), _at(types.int32)


def _array(kind, size: int):
    def build(builder, values):
        pointer = ir.IntType(8).as_pointer()
        item = {types.uint64: _I64, types.int64: _I64, types.int32: _I32, types.float32: ir.FloatType()}[kind]
        one = ir.ArrayType(_I64, 1)
        shape = builder.insert_value(ir.Constant(one, ir.Undefined), values[1], 0)
        array = ir.Constant(ir.LiteralStructType([pointer, pointer, _I64, _I64, item.as_pointer(), one, one]), ir.Undefined)
        parts = (pointer(None), pointer(None), values[1], _I64(size), builder.inttoptr(values[0], item.as_pointer()), shape,
                 ir.Constant(one, [size]))
        for place, value in enumerate(parts):
            array = builder.insert_value(array, value, place)
        return array

    @jit.intrinsic(types.Array(kind, 1, "C"), (I64, I64), build)
    def array_of(address, length):
        """Return the numbers at an address as an array; in plain Python the array that stands for it."""
        return address

    return array_of


words_of, numbers_of, row_of, floats_of = (_array(kind, size) for kind, size in (
    (types.uint64, 8), (types.int64, 8), (types.int32, 4), (types.float32, 4)))


def _load(builder, values):
    return builder.load(builder.gep(builder.inttoptr(values[0], _I64.as_pointer()), [values[1]]))


@jit.intrinsic(I64, (I64, I64), _load)
def number_of(address, i):
    """Return number i of those at an address; in plain Python item i of a list."""
    return address[i]


def _different(builder, values):
    lanes = ir.VectorType(_I32, 64)
    rows = [builder.load(builder.bitcast(builder.gep(builder.extract_value(each, DATA), [start]), lanes.as_pointer()), align=4)
            for each, start in zip(values[:2], values[2:], strict=True)]
    return builder.bitcast(builder.icmp_unsigned("!=", *rows), _I64)


_row_type = types.Array(types.int32, 1, "C")


@jit.intrinsic(types.uint64, (_row_type, _row_type, I64, I64), _different)
def different(a, b, a_start, b_start):
    """Return in which of 64 numbers two rows differ, each from its own start, as a bit set."""
    return np.uint64(sum(1 << i for i in range(64) if a[a_start + i] != b[b_start + i]))


@jit.intrinsic(types.CPointer(types.float32), (types.Array(types.float32, 1, "C"), I64), lambda builder, values: builder.gep(
    builder.extract_value(values[0], DATA), [values[1]]))
def floats_at(array, offset):
    """Return the address of an entry of an array: loops over it are vectorised, since no index can be negative. In plain Python
    the rest of the array."""
    return array[offset:]
