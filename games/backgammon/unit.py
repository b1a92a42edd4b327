"""The compile unit of backgammon: an edit to any of its sources recompiles it."""

from __future__ import annotations

from games import jit

SOURCES = [
    *jit.modules("games", "addresses bits hashset"),
    *jit.modules("games.search", "context expectimax expectimax_searcher harvest memory ordering quiescence rules "
                                 "searcher transposition"),
    *jit.modules("games.backgammon", "afterstates bearoff board dice native perft pubeval rules search unit"),
]
CORE = jit.Unit("backgammon", lambda: SOURCES)
inner = CORE.inner
entry = CORE.entry
