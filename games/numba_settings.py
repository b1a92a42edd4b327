"""How the compiled core uses Numba."""

from __future__ import annotations

import numba
import numpy as np

PLAIN = bool(numba.config.DISABLE_JIT)
if PLAIN:
    np.seterr(over="ignore")  # sets of squares wrap round, as in compiled code
OPTIONS = {"nogil": True, "error_model": "numpy", "boundscheck": False}
