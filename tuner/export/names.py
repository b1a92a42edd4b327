"""Names of parameters as identifiers that every compiler accepts, unique within a file."""

from __future__ import annotations

import re
from collections.abc import Sequence

# Keywords of C and C++ and functions of their headers that `term_parameter` could collide with.
C_WORDS = frozenset((
    "aligned_alloc", "and_eq", "at_quick_exit", "call_once", "co_await", "co_return", "co_yield", "const_cast", "dynamic_cast",
    "free_sized", "not_eq", "or_eq", "quick_exit", "reinterpret_cast", "static_assert", "static_cast", "thread_local",
    "timespec_get", "timespec_getres", "typeof_unqual", "xor_eq"))
C_RESERVED = re.compile(r"(atomic|cnd|memory_order|mtx|thrd|tss)_|\w*_t\Z")  # prefixes of such functions; types such as size_t
PREFIX = "term_"


def identifier(path: str) -> str:
    """`term.name` as letters, digits and single underscores: double ones are reserved in C++."""
    return re.sub(r"[^A-Za-z0-9]+", "_", path).strip("_")


def c_names(paths: Sequence[str]) -> list[str]:
    """Identifiers of C and C++."""
    names = [identifier(path) for path in paths]
    return unique([PREFIX + name + "_" * name.endswith("_t") if name in C_WORDS or C_RESERVED.match(name) else name
                    for name in names])


def rust_names(paths: Sequence[str]) -> list[str]:
    """Identifiers of constants in Rust, which has no keywords in capitals with an underscore."""
    return unique([identifier(path).upper() for path in paths])


def unique(names: Sequence[str]) -> list[str]:
    """The same names, with a number appended to repeated ones."""
    taken: set[str] = set()
    result = []
    for name in names:
        found, k = name, 2
        while found in taken or (found != name and found in names):
            found, k = f"{name}_{k}", k + 1
        taken.add(found)
        result.append(found)
    return result
