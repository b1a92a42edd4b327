"""The compile unit of shogi: an edit to any of its sources recompiles it."""

from games.compile import jit

SOURCES = [
    *jit.modules("games.compile", "hashset"),
    *jit.modules("games", "bits"),
    *jit.modules("games.search", "*"),
    *jit.modules("games.shogi.rules", "*"),
    *jit.modules("games.shogi.files", "packed reading sfen"),
    *jit.modules("games.shogi", "search"),
]
CORE = jit.Unit("shogi", lambda: SOURCES)
inner = CORE.inner
entry = CORE.entry
