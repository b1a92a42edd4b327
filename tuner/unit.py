"""The compiled parts of the tuner are one unit."""

from __future__ import annotations

from pathlib import Path

from games import jit

TUNER = jit.Unit("tuner", lambda: [*jit.ROOT.glob("*.py"), *Path(__file__).parent.glob("*.py")])
inner = TUNER.inner
entry = TUNER.entry
