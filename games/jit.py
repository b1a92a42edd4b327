"""Compile plain Python with Numba, with a cache on disk that never goes stale.

Numba checks only the file of a cached function: after an edit to a helper in *another* file it would run the old machine code.
Here every compiled function belongs to a `Unit`, whose cache folder is named by a hash of all its sources, the compiler
versions and the CPU. An edit to any source leads to a new folder; folders unused for a month are removed.

`inner` functions are called by compiled code only, `entry` functions by Python. Both are compiled on first use, so that imports
stay fast. With `NUMBA_DISABLE_JIT=1` everything runs as plain Python.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import numba
from numba.core.dispatcher import Dispatcher

from games.cache import TolerantCache, cache_home, digest, folder, remove_unused
from games.compile_notice import compilation
from games.compiler import EntryCompiler, InnerCompiler
from games.intrinsics import address_call, intrinsic, table
from games.numba_settings import OPTIONS, PLAIN

__all__ = ["OPTIONS", "PLAIN", "Entry", "Unit", "address_call", "intrinsic", "modules", "table"]

ROOT = Path(__file__).resolve().parent.parent
# sources that influence the machine code of every unit
COMPILERS = ("games.jit", "games.compiler", "games.intrinsics", "games.numba_settings")


def modules(package: str, names: str) -> list[Path]:
    """Return the source files of modules of a package (names separated by spaces) and of the compiler: the sources of a unit."""
    return [ROOT.joinpath(*name.split(".")).with_suffix(".py") for name in (
        *COMPILERS, *(f"{package}.{name}" for name in names.split()))]


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
        """Decorate a function that only compiled code calls; `signatures` are its Numba types, of which those are compiled that
        are called. They differ in the types of items of arrays."""

        def decorate(function: Callable):
            if PLAIN:
                return function
            # without Numba's runtime (reference counts): compiled code allocates no arrays of its own
            dispatcher = numba.njit(**OPTIONS, _nrt=False, pipeline_class=InnerCompiler, **options)(function)
            template, compiled = dispatcher.get_call_template, set()

            def get_call_template(args, kws):
                signature = next(signature for signature in signatures if len(signatures) == 1 or _items_are(signature, args))
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
    """Return whether the arrays among `args`, Numba types or values, have items of a signature's types."""
    return all(expected.dtype == (arg.dtype if isinstance(arg, numba.types.Array) else numba.from_dtype(arg.dtype))
               for expected, arg in zip(signature.args, args, strict=True) if isinstance(expected, numba.types.Array))


@contextlib.contextmanager
def _without_collection() -> Iterator[None]:
    """Disable garbage collection: compiling makes millions of objects that stay alive, and scanning them takes seconds."""
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
    """A compiled function that Python calls; for each of its signatures compiled, or loaded from the cache, at the first call."""

    def __init__(self, unit: Unit, signatures: Sequence, function: Callable, options: dict) -> None:
        if any(isinstance(cell.cell_contents, Dispatcher) for cell in function.__closure__ or ()):
            # Numba's cache names code by what it captures, and such functions are others in each process: never found again
            raise TypeError(f"{function.__qualname__} captures compiled functions; entries are defined at module level")
        self._unit, self._signatures, self._function, self._options = unit, signatures, function, options
        self._compiled: dict = {}  # dispatchers by signature
        self._only = None  # the dispatcher of an only signature
        functools.update_wrapper(self, function)

    def compile(self, signature=None):
        """Return the compiled Numba dispatcher of one signature, by default the first."""
        with _compiling:
            return self._compile(signature or self._signatures[0])

    def _compile(self, signature):
        if signature not in self._compiled:
            dispatcher = numba.njit(**OPTIONS, **self._options, pipeline_class=EntryCompiler)(self._function)
            before, numba.config.CACHE_DIR = numba.config.CACHE_DIR, str(self._unit.folder)
            try:
                dispatcher.enable_caching()
            finally:
                numba.config.CACHE_DIR = before
            dispatcher._cache = TolerantCache(dispatcher._cache)
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
        """Return the address of the native function (C calling convention), for functions made by `address_call`."""
        (overload,) = self.compile().overloads.values()
        return overload.library.get_pointer_to_function(overload.fndesc.llvm_cfunc_wrapper_name)

    def __call__(self, *args):
        if len(self._signatures) == 1:
            return (self._only or self.compile())(*args)
        signature = next(signature for signature in self._signatures if _items_are(signature, args))
        return (self._compiled.get(signature) or self.compile(signature))(*args)
