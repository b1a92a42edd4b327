"""Hashing for compiled code, and a set of 64-bit keys that it fills: eight bytes a slot, at most half full."""

from __future__ import annotations

import numpy as np
from numba.core import types

from games import jit
from games.bits import EMPTY, ONE

SOURCES = jit.modules("games", "bits hashset")
UNIT = jit.Unit("games", lambda: SOURCES)
slots_type = types.Array(types.uint64, 1, "C")
FACTOR = np.uint64(0x9E3779B97F4A7C15)
MIX_1, MIX_2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
SHIFT, S30, S27, S31 = (np.uint64(n) for n in (32, 30, 27, 31))


@UNIT.inner(types.uint64(types.uint64))
def mix(x):
    """A well mixed integer (SplitMix64: public domain, Vigna)."""
    x += FACTOR
    x = (x ^ (x >> S30)) * MIX_1
    x = (x ^ (x >> S27)) * MIX_2
    return x ^ (x >> S31)


@UNIT.inner(types.boolean(slots_type, types.uint64))
def insert(slots, key):
    """Add a key; whether it was new. The number of slots is a power of two, and one slot stays free."""
    if key == EMPTY:
        key = ONE
    mask = np.uint64(len(slots) - 1)
    at = (key * FACTOR >> SHIFT) & mask
    while slots[at] != EMPTY:
        if slots[at] == key:
            return False
        at = (at + ONE) & mask
    slots[at] = key
    return True


@UNIT.entry(types.void(slots_type, slots_type))
def _insert_all(slots, keys):
    for key in keys:
        if key != EMPTY:
            insert(slots, key)


class HashSet:
    """Slots for compiled code, with room made ahead."""

    def __init__(self) -> None:
        self.slots = np.zeros(1 << 12, np.uint64)
        self._used = 0

    def reserve(self, more: int) -> np.ndarray:
        """The slots, with room for `more` keys; call `used` afterwards."""
        wanted = len(self.slots)
        while wanted < 2 * (self._used + more + 1):
            wanted *= 2
        if wanted != len(self.slots):
            bigger = np.zeros(wanted, np.uint64)
            _insert_all(bigger, self.slots)
            self.slots = bigger
        return self.slots

    def used(self, more: int) -> None:
        """Note that `more` new keys went in."""
        self._used += more
