"""Operations that Numba lacks: single LLVM instructions, calls by address, constant tables."""

from __future__ import annotations

import inspect
from collections.abc import Callable

import llvmlite.binding
import numpy as np
from llvmlite import ir
from numba.core import types
from numba.core.typing.templates import signature as typed
from numba.extending import intrinsic as numba_intrinsic

from games.numba_settings import PLAIN


def intrinsic(result, arguments, build: Callable):
    """Decorate a Python function whose calls compiled code replaces by LLVM instructions.

    `build(builder, values)` emits them: it takes the LLVM builder and the values of the arguments and returns the result's value.
    The Python function does the same in plain mode. Without `arguments` the types are those of the call, and `result` is a
    function from them to the type of the result.
    """

    def decorate(twin: Callable):
        if PLAIN:
            return twin
        def typing(typingctx, *actual):
            def codegen(context, builder, signature, values):
                return build(builder, values)

            return typed(result(*actual), *actual) if arguments is None else typed(result, *arguments), codegen

        # Numba folds the arguments of a call by the signature of the typing function
        context = inspect.Parameter("typingctx", inspect.Parameter.POSITIONAL_OR_KEYWORD)
        own = inspect.signature(twin)
        typing.__name__ = twin.__name__
        folded = own.replace(parameters=[context, *own.parameters.values()])
        typing.__signature__ = folded  # type: ignore[attr-defined]  # `inspect.signature` reads it
        return numba_intrinsic(typing)

    return decorate


def address_call(result, arguments):
    """Return a function `call(address, *values)` that calls native code at an address (of an `Entry`) from compiled code."""
    kinds = {types.int64: ir.IntType(64), types.float64: ir.DoubleType(), types.void: ir.VoidType()}

    def low(kind):
        return low(kind.dtype).as_pointer() if isinstance(kind, types.CPointer) else kinds[kind]

    def build(builder, values):
        place = builder.inttoptr(values[0], ir.FunctionType(low(result), [low(a) for a in arguments]).as_pointer())
        return builder.call(place, values[1:])

    names = ["function", *(f"a{i}" for i in range(len(arguments)))]

    def call(*values):
        return values[0](*values[1:])

    call.__signature__ = inspect.Signature(
        [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in names])
    return intrinsic(result, (types.int64, *arguments), build)(call)


def table(name: str, array: np.ndarray):
    """Return a function `load(index)` that reads a constant array of int64 or uint64, in compiled and plain code.

    Compiled code refers to the array by the external symbol `evaltune_<name>`, so that cached code stays small.
    """
    array = np.ascontiguousarray(array)
    kind = {"uint64": types.uint64, "int64": types.int64}[array.dtype.name]
    symbol = f"evaltune_{name}"
    llvmlite.binding.add_symbol(symbol, array.ctypes.data)

    def build(builder, values):
        words = ir.ArrayType(ir.IntType(64), array.size)
        place = _global(builder, symbol, words)
        item = builder.load(builder.gep(place, [ir.IntType(64)(0), values[0]]))
        item.set_metadata("invariant.load", builder.module.add_metadata([]))
        return item

    @intrinsic(kind, (types.int64,), build)
    def load(index):
        return array[index]

    load.array = array  # keeps the array alive as long as the code that points to it
    return load


def _global(builder, symbol: str, kind) -> ir.GlobalVariable:
    try:
        return builder.module.get_global(symbol)
    except KeyError:
        place = ir.GlobalVariable(builder.module, kind, symbol)
        place.linkage = "external"
        place.global_constant = True
        return place
