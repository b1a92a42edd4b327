"""The compile unit of backgammon: an edit to any of its sources recompiles it."""

from __future__ import annotations

from games import jit

SOURCES = [
    *jit.modules("games", "bits"),
    *jit.modules("games.backgammon", "afterstates bearoff board dice native pubeval rules unit"),
]
CORE = jit.Unit("backgammon", lambda: SOURCES)
inner = CORE.inner
entry = CORE.entry
