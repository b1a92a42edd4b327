"""The compile unit of chess: an edit to any of its sources recompiles it."""

from games.compile import jit

SOURCES = [
    *jit.modules("games.compile", "hashset"),
    *jit.modules("games", "bits"),
    *jit.modules("games.search", "*"),
    *jit.modules("games.chess.rules", "*"),
    *jit.modules("games.chess.files", "epd faults fen movetext pgn san tokens"),
    *jit.modules("games.chess", "search"),
]
CORE = jit.Unit("chess", lambda: SOURCES)
inner = CORE.inner
entry = CORE.entry
