"""The compile unit of backgammon: an edit to any of its sources recompiles it."""

from games.compile import jit

SOURCES = [
    *jit.modules("games.compile", "hashset"),
    *jit.modules("games", "bits"),
    *jit.modules("games.search", "*"),
    *jit.modules("games.backgammon.rules", "*"),
    *jit.modules("games.backgammon", "search"),
]
CORE = jit.Unit("backgammon", lambda: SOURCES)
inner = CORE.inner
entry = CORE.entry
