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

import atexit
import contextlib
import functools
import gc
import hashlib
import inspect
import os
import platform
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import llvmlite
import llvmlite.binding
import numba
import numpy as np
from llvmlite import ir
from numba.core import types
from numba.core.typing.templates import signature as typed
from numba.extending import intrinsic as numba_intrinsic

from games.compiler import EntryCompiler, InnerCompiler

PLAIN = bool(numba.config.DISABLE_JIT)
if PLAIN:
    np.seterr(over="ignore")  # sets of squares wrap round, as in compiled code
UNUSED_DAYS = 30
PATIENCE = 1.0  # seconds of compiling of which nothing is said
OPTIONS = {"nogil": True, "error_model": "numpy", "boundscheck": False}

ROOT = Path(__file__).resolve().parent.parent
COMPILERS = ("games.jit", "games.compiler")  # decide on the machine code of every unit


def cache_home() -> Path:
    """The folder that holds all caches: $EVALTUNE_CACHE, or `evaltune` under the user's cache directory."""
    if chosen := os.environ.get("EVALTUNE_CACHE"):
        return Path(chosen)
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "evaltune"


def modules(package: str, names: str) -> list[Path]:
    """The source files of modules of a package, their names separated by spaces, and of the compilers: what a unit is of."""
    return [ROOT.joinpath(*name.split(".")).with_suffix(".py") for name in (
        *COMPILERS, *(f"{package}.{name}" for name in names.split()))]


def digest(sources: Iterable[Path], salt: str = "") -> str:
    """A name for the machine code that these sources give under this compiler on this processor."""
    state = hashlib.sha256(salt.encode())
    state.update(f"{numba.__version__} {llvmlite.__version__} {np.__version__} {sys.version}".encode())
    state.update(f"{platform.machine()} {llvmlite.binding.get_host_cpu_name()}".encode())
    state.update(llvmlite.binding.get_host_cpu_features().flatten().encode())
    for path in sorted(set(sources)):
        state.update(os.fsencode(path.name) + b"\0" + path.read_bytes() + b"\0")
    return state.hexdigest()[:20]


def folder(kind: str, name: str) -> Path:
    """The cache folder `kind-name`; one of this process alone where the cache home cannot be written."""
    wanted = cache_home() / f"{kind}-{name}"
    try:
        wanted.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=wanted):
            pass
        os.utime(wanted)
        return wanted
    except OSError as problem:
        own = Path(tempfile.mkdtemp(prefix="evaltune-"))
        atexit.register(shutil.rmtree, own, ignore_errors=True)
        _note(f"cannot write to {wanted} ({problem.strerror}): compiling for this run only")
        return own


def remove_unused(home: Path, days: float = UNUSED_DAYS) -> list[Path]:
    """Remove cache folders that no process has used for `days`; returns those removed."""
    removed = []
    for path in home.glob("*-*") if home.is_dir() else ():
        try:
            if path.is_dir() and time.time() - path.stat().st_mtime > days * 86400:
                shutil.rmtree(path)
                removed.append(path)
        except OSError:
            continue
    return removed


class Compilation:
    """What this process has compiled so far: says so when it takes a while, and tells the total when asked."""

    def __init__(self) -> None:
        self._seconds = 0.0
        self._told = False
        self._waiting: threading.Timer | None = None

    def begin(self) -> None:
        """Something is compiled from now on."""
        if not self._told:
            self._waiting = threading.Timer(max(0.0, PATIENCE - self._seconds), self._tell)
            self._waiting.daemon = True
            self._waiting.start()

    def end(self, seconds: float) -> None:
        """It took so long."""
        self._seconds += seconds
        if self._waiting is not None:
            self._waiting.cancel()

    def _tell(self) -> None:
        _note("compiling for this machine, once (about 10 s) ...")
        self._told = True

    def finish(self) -> None:
        """Say how long compiling took, if it was said that something is compiled."""
        if self._told and self._seconds:
            _note(f"compiled in {self._seconds:.1f} s; later runs start at once")
            self._seconds = 0.0


compilation = Compilation()


def _note(text: str) -> None:
    print(f"tuner: {text}", file=sys.stderr, flush=True)


class _Tolerant:
    """A Numba function cache whose failures to read or write mean compiling, never a crash."""

    def __init__(self, cache) -> None:
        self._cache = cache

    def __getattr__(self, name: str):
        return getattr(self._cache, name)

    def load_overload(self, signature, context):
        found = None
        try:
            found = self._cache.load_overload(signature, context)
        except Exception as problem:  # a file cut short by a full disk unpickles into any kind of exception
            _note(f"unreadable cache entry ({type(problem).__name__}): compiling again")
            self._forget()
        if found is None:
            compilation.begin()
        return found

    def _forget(self) -> None:
        """Start a new index: to save, Numba would read the old one."""
        try:
            self._cache.flush()
        except OSError as problem:
            _note(f"cannot write the compile cache ({problem.strerror})")

    def save_overload(self, signature, data) -> None:
        try:
            self._cache.save_overload(signature, data)
        except OSError as problem:
            _note(f"cannot write the compile cache ({problem.strerror}): the next start compiles again")


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
            dispatcher._cache = _Tolerant(dispatcher._cache)
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


def intrinsic(result, arguments, build: Callable):
    """Decorate the plain-Python twin of an operation that compiled code replaces by what `build` emits.

    `build(builder, values)` gets the LLVM builder and the arguments' values and returns the result's value.
    """

    def decorate(twin: Callable):
        if PLAIN:
            return twin
        def typing(typingctx, *actual):
            def codegen(context, builder, signature, values):
                return build(builder, values)

            return typed(result, *arguments), codegen

        # Numba folds the arguments of a call by the signature of the typing function
        context = inspect.Parameter("typingctx", inspect.Parameter.POSITIONAL_OR_KEYWORD)
        own = inspect.signature(twin)
        typing.__name__, typing.__signature__ = twin.__name__, own.replace(parameters=[context, *own.parameters.values()])
        return numba_intrinsic(typing)

    return decorate


def address_call(result, arguments):
    """A function `call(address, *values)` that calls native code (an `Entry`'s address) from compiled code."""
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
    """A function `load(index)` over a constant array of int64 or uint64, for compiled and plain code alike.

    The array is reached through the external symbol `evaltune_<name>`: cacheable, and never part of the code.
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

    load.array = array  # keeps it alive as long as the code that points at it
    return load


def _global(builder, symbol: str, kind) -> ir.GlobalVariable:
    try:
        return builder.module.get_global(symbol)
    except KeyError:
        place = ir.GlobalVariable(builder.module, kind, symbol)
        place.linkage = "external"
        place.global_constant = True
        return place
