"""Numba for the compiled core: accepted versions, plain mode, compile options."""

from __future__ import annotations

import re

import numba
import numpy as np

from games.streams import InputError

FIRST_REFUSED = (0, 69)  # the same bound as in setup.cfg; tests/games/test_numba.py names the private interfaces in use


def require_version(found: str) -> None:
    """Raise InputError for a Numba release that is too new: the core uses private interfaces, which change between releases."""
    if tuple(int(number) for number in re.findall(r"\d+", found)[:2]) >= FIRST_REFUSED:
        bound = ".".join(map(str, FIRST_REFUSED))
        raise InputError(f"Numba {found} is installed, expected a version below {bound}; run: pip install 'numba<{bound}'")


require_version(numba.__version__)

PLAIN = bool(numba.config.DISABLE_JIT)
if PLAIN:
    np.seterr(over="ignore")  # uint64 arithmetic wraps around, as in compiled code
OPTIONS = {"nogil": True, "error_model": "numpy", "boundscheck": False}
