"""The compiled core of chess is one unit: an edit to any of its sources compiles it anew."""

from __future__ import annotations

from games import jit

FOLDERS = (jit.ROOT, jit.ROOT / "search", jit.ROOT / "chess")
CORE = jit.Unit("chess", lambda: [path for folder in FOLDERS for path in folder.glob("*.py")])
inner = CORE.inner
entry = CORE.entry
