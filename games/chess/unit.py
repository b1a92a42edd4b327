"""The compiled core of chess is one unit: an edit to any of its sources compiles it anew."""

from __future__ import annotations

from games import jit

CORE = jit.Unit("chess", lambda: [*jit.ROOT.glob("*.py"), *(jit.ROOT / "chess").glob("*.py")])
inner = CORE.inner
entry = CORE.entry
