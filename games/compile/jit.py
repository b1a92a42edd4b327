"""Compile plain Python with Numba, with a cache on disk that never goes stale.

Numba checks only the file of a cached function: after an edit to a helper in *another* file it
would run the old machine code. Here every compiled function belongs to a `Unit`, whose cache folder
is named by a hash of all its sources, the compiler versions and the CPU. An edit to any source
leads to a new folder; folders unused for a month are removed.

`inner` functions are called by compiled code only, `entry` functions by Python. Both are compiled
on first use, so that imports stay fast. With `NUMBA_DISABLE_JIT=1` everything runs as plain Python.
"""

import contextlib
import functools
import gc
import inspect
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path

import llvmlite.binding
import numba
import numpy as np
from llvmlite import ir
from numba.core import types
from numba.core.typing.templates import signature as typed
from numba.extending import intrinsic as numba_intrinsic

from games.compile.cache import (
    TolerantCache,
    cache_home,
    compilation,
    digest,
    folder,
    remove_unused,
)
from games.compile.compiler import OPTIONS, PLAIN, EntryCompiler, InnerCompiler

__all__ = ["OPTIONS", "PLAIN", "Entry", "Unit", "address_call", "intrinsic", "modules", "table"]

ROOT = Path(__file__).resolve().parents[2]
# sources that influence the machine code of every unit
COMPILERS = ("games.compile.jit", "games.compile.compiler")


def modules(package: str, names: str) -> list[Path]:
    """Return the source files of modules of a package (names separated by spaces, `*` for all) and
    of the compiler: the sources of a unit."""
    spec = find_spec(package)
    assert spec is not None and spec.submodule_search_locations, f"{package} is a package"
    folder = Path(next(iter(spec.submodule_search_locations)))
    paths = (
        sorted(folder.glob("*.py"))
        if names == "*"
        else [folder / f"{name}.py" for name in names.split()]
    )
    return [*(ROOT.joinpath(*name.split(".")).with_suffix(".py") for name in COMPILERS), *paths]


class Unit:
    """Functions that share a cache folder, named by a hash of their sources."""

    def __init__(self, kind: str, sources: Callable[[], Iterable[Path]], salt: str = "") -> None:
        self.kind = kind
        self._sources = sources
        self._salt = salt

    @functools.cached_property
    def name(self) -> str:
        return digest(self._sources(), self._salt)

    @functools.cached_property
    def folder(self) -> Path:
        remove_unused(cache_home())
        return folder(self.kind, self.name)

    def inner(self, *signatures, **options):
        """Decorate a function that only compiled code calls; `signatures` are its Numba types, of
        which those are compiled that are called. They differ in the types of items of arrays."""

        def decorate(function: Callable):
            if PLAIN:
                return function
            # without Numba's runtime (reference counts): compiled code allocates no arrays of its
            # own
            dispatcher = numba.njit(**OPTIONS, _nrt=False, pipeline_class=InnerCompiler, **options)(
                function
            )
            template, compiled = dispatcher.get_call_template, set()

            def get_call_template(args, kws):
                signature = next(
                    signature
                    for signature in signatures
                    if len(signatures) == 1 or _items_are(signature, args)
                )
                if signature not in compiled:
                    compiled.add(signature)
                    dispatcher.disable_compile(False)
                    dispatcher.compile(signature)
                    dispatcher.disable_compile()
                return template(args, kws)

            dispatcher.get_call_template = get_call_template
            return dispatcher

        return decorate

    def entry(self, *signatures, **options):
        """Decorate a function that Python calls; `signatures` are its Numba types, see `inner`."""

        def decorate(function: Callable):
            return function if PLAIN else Entry(self, signatures, function, options)

        return decorate


def _items_are(signature, args: Sequence) -> bool:
    """Return whether the arrays among `args`, Numba types or values, have items of a signature's
    types."""
    return all(map(_has_items, signature.args, args))


def _has_items(expected, arg) -> bool:
    if isinstance(expected, types.BaseTuple):
        return all(map(_has_items, expected, arg))
    if not isinstance(expected, types.Array):
        return True
    actual = arg.dtype if isinstance(arg, types.Array) else numba.from_dtype(arg.dtype)
    return expected.dtype == actual


def record(kind: type, *members):
    """Return the Numba type of a named tuple with members of these types. Unlike an argument, a
    member that compiled code only reads must be a read-only array."""
    return types.BaseTuple.from_types(members, kind)


@contextlib.contextmanager
def _without_collection() -> Iterator[None]:
    """Disable garbage collection: compiling makes millions of objects that stay alive, and scanning
    them takes seconds."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if was_on:
            gc.enable()


_compiling = threading.RLock()  # Numba's setting of the cache folder is global to all threads


class Entry:
    """A compiled function that Python calls; for each of its signatures compiled, or loaded from
    the cache, at the first call."""

    def __init__(self, unit: Unit, signatures: Sequence, function: Callable, options: dict) -> None:
        self._unit, self._signatures, self._function, self._options = (
            unit,
            signatures,
            function,
            options,
        )
        self._compiled: dict = {}  # dispatchers by signature
        self._only = None  # the dispatcher of an only signature
        functools.update_wrapper(self, function)

    def compile(self, signature=None):
        """Return the compiled Numba dispatcher of one signature, by default the first."""
        with _compiling:
            return self._compile(signature or self._signatures[0])

    def _compile(self, signature):
        if signature not in self._compiled:
            dispatcher = numba.njit(**OPTIONS, **self._options, pipeline_class=EntryCompiler)(
                self._function
            )
            before, numba.config.CACHE_DIR = numba.config.CACHE_DIR, str(self._unit.folder)
            try:
                dispatcher.enable_caching()
            finally:
                numba.config.CACHE_DIR = before
            dispatcher._cache = TolerantCache(dispatcher._cache, self._unit.kind)
            with _without_collection():
                started = time.process_time()
                dispatcher.compile(signature)
                dispatcher.disable_compile()
            if not dispatcher._cache_hits:
                compilation.end(time.process_time() - started)
            self._compiled[signature] = dispatcher
            self._only = dispatcher
        return self._compiled[signature]

    def address(self) -> int:
        """Return the address of the native function (C calling convention), for functions made by
        `address_call`."""
        (overload,) = self.compile().overloads.values()
        return overload.library.get_pointer_to_function(overload.fndesc.llvm_cfunc_wrapper_name)

    def __call__(self, *args):
        if len(self._signatures) == 1:
            return (self._only or self.compile())(*args)
        signature = next(signature for signature in self._signatures if _items_are(signature, args))
        return (self._compiled.get(signature) or self.compile(signature))(*args)


def intrinsic(result, arguments, build: Callable):
    """Decorate a Python function whose calls compiled code replaces by LLVM instructions.

    `build(builder, values)` emits them: it takes the LLVM builder and the values of the arguments
    and returns the result's value. The Python function does the same in plain mode. Without
    `arguments` the types come from the call, and `result` is a function from them to the type of
    the result."""

    def decorate(twin: Callable):
        if PLAIN:
            return twin

        def typing(typingctx, *actual):
            def codegen(context, builder, signature, values):
                return build(builder, values)

            return (
                typed(result(*actual), *actual) if arguments is None else typed(result, *arguments)
            ), codegen

        # Numba folds the arguments of a call by the signature of the typing function
        context = inspect.Parameter("typingctx", inspect.Parameter.POSITIONAL_OR_KEYWORD)
        own = inspect.signature(twin)
        typing.__name__ = twin.__name__
        folded = own.replace(parameters=[context, *own.parameters.values()])
        typing.__signature__ = folded  # type: ignore[attr-defined]  # `inspect.signature` reads it
        return numba_intrinsic(typing)

    return decorate


def address_call(result, arguments):
    """Return a function `call(address, *values)` that calls native code at an address (of an
    `Entry`) from compiled code."""
    kinds = {types.int64: ir.IntType(64), types.float64: ir.DoubleType(), types.void: ir.VoidType()}

    def low(kind):
        return low(kind.dtype).as_pointer() if isinstance(kind, types.CPointer) else kinds[kind]

    def build(builder, values):
        place = builder.inttoptr(
            values[0], ir.FunctionType(low(result), [low(a) for a in arguments]).as_pointer()
        )
        return builder.call(place, values[1:])

    names = ["function", *(f"a{i}" for i in range(len(arguments)))]

    def call(*values):
        return values[0](*values[1:])

    call.__signature__ = inspect.Signature(
        [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in names]
    )
    return intrinsic(result, (types.int64, *arguments), build)(call)


def table(name: str, array: np.ndarray):
    """Return a function `load(index)` that reads a constant array of int64 or uint64, in compiled
    and plain code.

    Compiled code refers to the array by the external symbol `evaltune_<name>`, so that cached code
    stays small."""
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


DATA = 4  # index of the address of the data in Numba's structure of an array


def address_of_arrays(kind):
    """Return a function from an array (n,) with items of a Numba type to the address of its
    data."""

    @intrinsic(
        types.CPointer(kind),
        (types.Array(kind, 1, "C"),),
        lambda builder, values: builder.extract_value(values[0], DATA),
    )
    def address_of(array):
        """Return the address of an array."""
        return array

    return address_of


address_of = address_of_arrays(types.uint64)
