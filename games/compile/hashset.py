"""A hash function, and a set of 64-bit keys that compiled code fills: open addressing, at most half
full."""

import numpy as np
from numba.core import types

from games.compile import jit

SOURCES = jit.modules("games.compile", "hashset")
UNIT = jit.Unit("games", lambda: SOURCES)
table_type = types.Array(types.uint64, 1, "C")
FACTOR = np.uint64(0x9E3779B97F4A7C15)
MIX_1, MIX_2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
FREE, ONE = np.uint64(0), np.uint64(1)  # what free places hold; the key in place of that
SHIFT, S30, S27, S31 = (np.uint64(n) for n in (32, 30, 27, 31))


@UNIT.inner(types.uint64(types.uint64))
def mix(x):
    """Hash an integer (SplitMix64: public domain, Vigna)."""
    x += FACTOR
    x = (x ^ (x >> S30)) * MIX_1
    x = (x ^ (x >> S27)) * MIX_2
    return x ^ (x >> S31)


@UNIT.inner(types.boolean(table_type, types.uint64))
def insert(table, key):
    """Add a key and return whether it was new. The table's length is a power of two; at least one
    place stays free."""
    if key == FREE:
        key = ONE
    mask = np.uint64(len(table) - 1)
    at = (key * FACTOR >> SHIFT) & mask
    while table[at] != FREE:
        if table[at] == key:
            return False
        at = (at + ONE) & mask
    table[at] = key
    return True


@UNIT.entry(types.void(table_type, table_type))
def _insert_all(table, keys):
    for key in keys:
        if key != FREE:
            insert(table, key)


class HashSet:
    """A set of 64-bit keys whose table compiled code fills; room for the keys is reserved
    beforehand."""

    def __init__(self) -> None:
        self.table = np.zeros(1 << 12, np.uint64)
        self._used = 0

    def reserve(self, more: int) -> np.ndarray:
        """Return the table, grown if needed to take `more` keys; call `used` after filling it."""
        wanted = len(self.table)
        while wanted < 2 * (self._used + more + 1):
            wanted *= 2
        if wanted != len(self.table):
            bigger = np.zeros(wanted, np.uint64)
            _insert_all(bigger, self.table)
            self.table = bigger
        return self.table

    def used(self, more: int) -> None:
        """Count `more` new keys."""
        self._used += more
