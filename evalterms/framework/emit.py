"""Emitters: the two implementations of `emit(index, count)`.

In compiled code an emitter is a pair of addresses. *Score* mode adds weight * count to one 64-bit
sum per side, with both stages packed (`pack`) so that one multiplication serves both; the sum stays
in a register once the terms are inlined. *Count* mode adds to a dense row of int32 coefficients; in
a row of bytes, each addition would wait for the store next to it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.datamodel import models
from numba.core.typing.templates import signature
from numba.extending import lower_builtin, register_model

from games.compile import jit
from games.search.context import UNIT

HALF = 1 << 31
_I64, _I32 = ir.IntType(64), ir.IntType(32)


def pack(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Pack weights of two stages in centipawns into int64: `first` in the upper half, `second` in
    the lower."""
    steps = [
        np.round(np.asarray(stage, np.float64) * UNIT).astype(np.int64) for stage in (first, second)
    ]
    return (steps[0] << 32) + steps[1]


@jit.intrinsic(
    types.CPointer(types.int64),
    (types.CPointer(types.int64), types.int64),
    lambda builder, values: builder.gep(values[0], [values[1]]),
)
def weights_from(weights, first):
    """Return the address of weight `first`."""
    return weights[first:]


class EmitterType(types.Callable):
    """The type of `emit` in compiled code."""

    def __init__(self, mode: str) -> None:
        self.mode = mode
        super().__init__(name=f"Emitter({mode})")

    def get_call_type(self, context, args, kws):
        return signature(types.none, types.int64, types.int64, recvr=self)

    def get_call_signatures(self):
        return [signature(types.none, types.int64, types.int64, recvr=self)], False

    def get_impl_key(self, sig):
        return self.mode, "emit"

    @property
    def key(self):
        return self.mode


score_emitter_type, count_emitter_type = EmitterType("score"), EmitterType("count")
_MEMBERS = {
    "score": [("total", types.CPointer(types.int64)), ("weights", types.CPointer(types.int64))],
    "count": [("row", types.CPointer(types.int32)), ("sign", types.int64)],
}


@register_model(EmitterType)
class _Model(models.StructModel):
    def __init__(self, manager, kind):
        super().__init__(manager, kind, _MEMBERS[kind.mode])


@lower_builtin(("score", "emit"), EmitterType, types.int64, types.int64)
def _emit_score(context, builder, sig, args):
    emitter, index, count = args
    total, weights = builder.extract_value(emitter, 0), builder.extract_value(emitter, 1)
    weight = builder.load(builder.gep(weights, [index]))
    weight.set_metadata("invariant.load", builder.module.add_metadata([]))
    builder.store(builder.add(builder.load(total), builder.mul(weight, count)), total)
    return context.get_dummy_value()


@lower_builtin(("count", "emit"), EmitterType, types.int64, types.int64)
def _emit_count(context, builder, sig, args):
    emitter, index, count = args
    place = builder.gep(builder.extract_value(emitter, 0), [index])
    signed = builder.trunc(builder.mul(count, builder.extract_value(emitter, 1)), _I32)
    builder.store(builder.add(builder.load(place), signed), place)
    return context.get_dummy_value()


class ScoreEmitter:
    """The score emitter in plain Python."""

    def __init__(self, weights, base=0, total=None) -> None:
        self.weights, self.base, self.total = weights, base, [0] if total is None else total

    def __call__(self, index, count) -> None:
        self.total[0] += int(self.weights[self.base + index]) * int(count)

    def at(self, base: int) -> ScoreEmitter:
        return ScoreEmitter(self.weights, base, self.total)


class CountEmitter:
    """The count emitter in plain Python."""

    def __init__(self, row, sign, base=0) -> None:
        self.row, self.sign, self.base = row, sign, base

    def __call__(self, index, count) -> None:
        self.row[self.base + index] += int(count) * self.sign

    def at(self, base: int) -> CountEmitter:
        return CountEmitter(self.row, self.sign, base)


def _new_score(builder, values):
    total = cgutils.alloca_once(builder, _I64)
    builder.store(_I64(0), total)
    pair = ir.Constant(ir.LiteralStructType([_I64.as_pointer(), _I64.as_pointer()]), ir.Undefined)
    return builder.insert_value(builder.insert_value(pair, total, 0), values[0], 1)


@jit.intrinsic(score_emitter_type, (types.CPointer(types.int64),), _new_score)
def score_emitter(weights):
    """Return an emitter that sums a score from zero, with packed weights."""
    return ScoreEmitter(weights)


@jit.intrinsic(
    types.int64,
    (score_emitter_type,),
    lambda builder, values: builder.load(builder.extract_value(values[0], 0)),
)
def score_total(emit):
    """Return the packed sum of the emitter."""
    return emit.total[0]


def _new_count(builder, values):
    pair = ir.Constant(ir.LiteralStructType([_I32.as_pointer(), _I64]), ir.Undefined)
    return builder.insert_value(builder.insert_value(pair, values[0], 0), values[1], 1)


@jit.intrinsic(count_emitter_type, (types.CPointer(types.int32), types.int64), _new_count)
def count_emitter(row, sign):
    """Return an emitter that adds sign * count to a dense row of int32."""
    return CountEmitter(row, sign)


def _advance(member):
    def build(builder, values):
        pointer = builder.gep(builder.extract_value(values[0], member), [values[1]])
        return builder.insert_value(values[0], pointer, member)

    return build


@jit.intrinsic(score_emitter_type, (score_emitter_type, types.int64), _advance(1))
def score_at(emit, base):
    """Return the emitter for a term whose parameters start at `base`."""
    return emit.at(base)


@jit.intrinsic(count_emitter_type, (count_emitter_type, types.int64), _advance(0))
def count_at(emit, base):
    """Return the emitter for a term whose parameters start at `base`."""
    return emit.at(base)


def sources_of(game: Path) -> set[Path]:
    """Return the sources that influence the machine code of all terms and encodings of a game, from
    the folder of these."""
    framework = Path(__file__).parent
    return {framework.with_name("term.py"), *framework.glob("*.py"), *game.glob("*.py")}
