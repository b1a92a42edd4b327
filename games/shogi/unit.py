"""The compile unit of shogi: an edit to any of its sources recompiles it."""

from __future__ import annotations

from games import jit

SOURCES = [
    *jit.modules("games", "addresses bits hashset perft"),
    *jit.modules("games.search", "alphabeta alphabeta_searcher context harvest iterate memory move_order ordering quiescence "
                                 "rules searcher transposition"),
    *jit.modules("games.shogi", "attacks checks collect declaration movegen moves node packed perft position search see "
                                "sfen squares unit"),
]
CORE = jit.Unit("shogi", lambda: SOURCES)
inner = CORE.inner
entry = CORE.entry
