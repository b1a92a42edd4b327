"""The program of a process: versions, and a hash of the sources. All processes of a cluster must have the same."""

from __future__ import annotations

import hashlib
import platform
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from tuner.version import __version__

ROOT = Path(__file__).resolve().parents[2]
OURS = ("evalterms", "games", "params", "tuner")
PACKAGES = ("dask", "distributed", "llvmlite", "numba", "numpy", "scipy")  # those on which results or messages depend


@cache
def program() -> dict[str, str]:
    """Return the versions of evaltune, of Python and of packages by name, and a hash of evaltune's sources."""
    found = {"evaltune": __version__, "sources": _sources(), "Python": ".".join(platform.python_version_tuple()[:2])}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found


@cache
def fingerprint() -> str:
    """Return a hash of `program`."""
    return hashlib.sha256(repr(sorted(program().items())).encode()).hexdigest()[:16]


def difference(there: dict[str, str], here: dict[str, str]) -> str | None:
    """Return what differs between two programs, in words; None if they are the same."""
    for name, wanted in here.items():
        found = there.get(name, "unknown")
        if found != wanted and name == "sources":
            return f"other sources of evaltune {here['evaltune']} there ({found[:8]}) than here ({wanted[:8]})"
        if found != wanted:
            return f"{name} {found} there, {wanted} here"
    return None


def _sources() -> str:
    """Return a hash of the names and contents of all files that results may depend on."""
    state = hashlib.sha256()
    paths = [path for folder in OURS for path in (ROOT / folder).rglob("*") if path.suffix in (".py", ".yaml", ".cu")]
    for path in sorted(paths, key=lambda path: path.relative_to(ROOT).as_posix()):
        state.update(path.relative_to(ROOT).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return state.hexdigest()
