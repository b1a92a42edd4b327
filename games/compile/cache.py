"""The compile cache on disk: one folder per hash of sources, compiler versions and CPU."""

import atexit
import hashlib
import os
import platform
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Iterable
from pathlib import Path

import llvmlite
import llvmlite.binding
import numba
import numpy as np

UNUSED_DAYS = 30


def cache_home() -> Path:
    """Return the folder of all caches: $EVALTUNE_CACHE, or `evaltune` under the user's cache
    directory."""
    if chosen := os.environ.get("EVALTUNE_CACHE"):
        return Path(chosen)
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "evaltune"


def digest(sources: Iterable[Path], salt: str = "") -> str:
    """Hash the sources, the compiler versions and the CPU: the name of a cache folder."""
    state = hashlib.sha256(salt.encode())
    state.update(
        f"{numba.__version__} {llvmlite.__version__} {np.__version__} {sys.version}".encode()
    )
    state.update(f"{platform.machine()} {llvmlite.binding.get_host_cpu_name()}".encode())
    state.update(llvmlite.binding.get_host_cpu_features().flatten().encode())
    for path in sorted(set(sources)):
        state.update(os.fsencode(path.name) + b"\0" + path.read_bytes() + b"\0")
    return state.hexdigest()[:20]


def folder(kind: str, name: str) -> Path:
    """Return the cache folder `kind-name`, made if needed; a temporary folder if the cache home is
    not writable."""
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
        compilation.is_kept = False
        note(f"cannot write to {wanted} ({problem.strerror}): compiling for this run only")
        return own


def remove_unused(home: Path, days: float = UNUSED_DAYS) -> list[Path]:
    """Remove cache folders that no process has used for `days`; returns the removed paths."""
    removed = []
    for path in home.glob("*-*") if home.is_dir() else ():
        try:
            if path.is_dir() and time.time() - path.stat().st_mtime > days * 86400:
                shutil.rmtree(path)
                removed.append(path)
        except OSError:
            continue
    return removed


class TolerantCache:
    """A Numba function cache that compiles after a failure to read or write, instead of raising;
    `kind` is the kind of the unit."""

    def __init__(self, cache, kind: str) -> None:
        self._cache, self._kind = cache, kind
        # Numba names code by what it captures, too, and compiled functions differ in each process;
        # the folder of a unit is named by all of its sources, which decide what is captured
        cache._index_key = lambda signature, codegen: (signature, codegen.magic_tuple())

    def __getattr__(self, name: str):
        return getattr(self._cache, name)

    def load_overload(self, signature, context):
        overload = None
        try:
            overload = self._cache.load_overload(signature, context)
        except (
            Exception
        ) as problem:  # a file truncated by a full disk can raise any exception while unpickling
            note(f"unreadable cache entry ({type(problem).__name__}): compiling again")
            self._forget()
        if overload is None:
            compilation.begin(self._kind)
        return overload

    def _forget(self) -> None:
        """Start a new index, because Numba reads the old one before it saves."""
        try:
            self._cache.flush()
        except OSError as problem:
            note(f"cannot write the compile cache ({problem.strerror})")

    def save_overload(self, signature, data) -> None:
        try:
            self._cache.save_overload(signature, data)
        except OSError as problem:
            compilation.is_kept = False
            note(
                f"cannot write the compile cache ({problem.strerror}): the next start compiles"
                " again"
            )


PATIENCE = 1.0  # seconds of compiling before the first message


def note(text: str) -> None:
    sys.stderr.write(f"tuner: {text}\n")  # at once: other threads print, too
    sys.stderr.flush()


class Compilation:
    """The compile time of this process so far; announces a long compilation and reports the total
    at the end."""

    def __init__(self) -> None:
        self._seconds = 0.0
        self._announced = False
        self.is_kept = True  # what was compiled is there for the next start
        self._waiting: threading.Timer | None = None

    def begin(self, kind: str) -> None:
        """Start of a compilation of a unit."""
        if not self._announced:
            wait = max(0.0, PATIENCE - self._seconds)
            self._waiting = threading.Timer(wait, self._announce, [kind])
            self._waiting.daemon = True
            self._waiting.start()

    def end(self, seconds: float) -> None:
        """End of a compilation that took `seconds` of CPU time."""
        self._seconds += seconds
        if self._waiting is not None:
            self._waiting.cancel()

    def _announce(self, kind: str) -> None:
        terms = kind.startswith("terms-")
        what = "this set of terms" if terms else "for this machine"
        note(f"compiling {what}, once (about 10 s) ...")
        self._announced = True

    def finish(self) -> None:
        """Report the total compile time, if a compilation was announced."""
        if self._announced and self._seconds:
            later = "; later runs start at once" if self.is_kept else ""
            note(f"compiled in {self._seconds:.1f} s{later}")
            self._seconds = 0.0


compilation = Compilation()
