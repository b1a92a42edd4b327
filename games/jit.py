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
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import numba

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

    def inner(self, signature, **options):
        """Decorate a function that only compiled code calls; `signature` is its Numba type."""

        def decorate(function: Callable):
            if PLAIN:
                return function
            # without Numba's runtime (reference counts): compiled code allocates no arrays of its own
            dispatcher = numba.njit(**OPTIONS, _nrt=False, pipeline_class=InnerCompiler, **options)(function)
            template = dispatcher.get_call_template

            def get_call_template(args, kws):
                if dispatcher._can_compile:
                    dispatcher.compile(signature)
                    dispatcher.disable_compile()
                return template(args, kws)

            dispatcher.get_call_template = get_call_template
            return dispatcher

        return decorate

    def entry(self, signature, **options):
        """Decorate a function that Python calls; `signature` is its Numba type."""

        def decorate(function: Callable):
            return function if PLAIN else Entry(self, signature, function, options)

        return decorate


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
    """A compiled function that Python calls; compiled, or loaded from the cache, at its first call."""

    def __init__(self, unit: Unit, signature, function: Callable, options: dict) -> None:
        self._unit, self._signature, self._function, self._options = unit, signature, function, options
        self._compiled = None
        functools.update_wrapper(self, function)

    def compile(self):
        """Return the compiled Numba dispatcher."""
        with _compiling:
            return self._compile()

    def _compile(self):
        if self._compiled is None:
            dispatcher = numba.njit(**OPTIONS, **self._options, pipeline_class=EntryCompiler)(self._function)
            before, numba.config.CACHE_DIR = numba.config.CACHE_DIR, str(self._unit.folder)
            try:
                dispatcher.enable_caching()
            finally:
                numba.config.CACHE_DIR = before
            dispatcher._cache = TolerantCache(dispatcher._cache)
            with _without_collection():
                started = time.process_time()
                dispatcher.compile(self._signature)
                dispatcher.disable_compile()
            if not dispatcher._cache_hits:
                compilation.end(time.process_time() - started)
            self._compiled = dispatcher
        return self._compiled

    def address(self) -> int:
        """Return the address of the native function (C calling convention), for functions made by `address_call`."""
        (overload,) = self.compile().overloads.values()
        return overload.library.get_pointer_to_function(overload.fndesc.llvm_cfunc_wrapper_name)

    def __call__(self, *args):
        return (self._compiled or self.compile())(*args)
