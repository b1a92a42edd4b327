"""The compiled parts of the tuner are one unit: an edit to any of its sources compiles it anew."""

from __future__ import annotations

from games import jit

SOURCES = jit.modules("tuner", "draws exponential objectives passes products temporal_passes unit")
TUNER = jit.Unit("tuner", lambda: SOURCES)
inner = TUNER.inner
entry = TUNER.entry
