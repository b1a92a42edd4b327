"""Compile plain Python with Numba, and keep the result in a cache that cannot go stale.

Numba keys a cached function by its own file only: after an edit to a helper in *another* file the old machine code
keeps running. Here every compiled function lives in a folder named by a hash of all sources that can influence it, of
the versions of the compiler and of the processor, so an edit anywhere leads to a new folder. Folders that were not
used for a month are removed.

`inner` functions are called by compiled code only, `entry` functions from Python. Both compile on first use, so that
importing a module costs nothing. `table` gives compiled code a constant array through a symbol, which keeps it out of
the code itself. With `NUMBA_DISABLE_JIT=1` everything runs as plain Python.
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
# these decide on the machine code of every unit
COMPILERS = ("games.jit", "games.compiler", "games.intrinsics", "games.numba_settings")


def modules(package: str, names: str) -> list[Path]:
    """The source files of modules of a package, their names separated by spaces, and of the compilers: what a unit is of."""
    return [ROOT.joinpath(*name.split(".")).with_suffix(".py") for name in (
        *COMPILERS, *(f"{package}.{name}" for name in names.split()))]


class Unit:
    """Functions compiled into one cache folder, named by the sources that can influence them."""

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
        """Decorate a function that only compiled code calls."""

        def decorate(function: Callable):
            if PLAIN:
                return function
            # without Numba's runtime: arrays come from outside, so that there are no references to count
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
        """Decorate a function that Python calls."""

        def decorate(function: Callable):
            return function if PLAIN else Entry(self, signature, function, options)

        return decorate


@contextlib.contextmanager
def _without_collection() -> Iterator[None]:
    """Compiling makes millions of small objects that stay alive: looking for dead ones, now or later, takes seconds."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if was_on:
            gc.enable()


_compiling = threading.RLock()  # the cache folder is one setting of Numba's for all threads


class Entry:
    """A compiled function that Python calls; compiled, or read from the cache, at its first call."""

    def __init__(self, unit: Unit, signature, function: Callable, options: dict) -> None:
        self._unit, self._signature, self._function, self._options = unit, signature, function, options
        self._compiled = None
        functools.update_wrapper(self, function)

    def compile(self):
        """The Numba dispatcher, compiled."""
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
        """Address of the native function, to be called by `call_address` with the C calling convention."""
        (overload,) = self.compile().overloads.values()
        return overload.library.get_pointer_to_function(overload.fndesc.llvm_cfunc_wrapper_name)

    def __call__(self, *args):
        return (self._compiled or self.compile())(*args)
