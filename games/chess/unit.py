"""The compile unit of chess: an edit to any of its sources recompiles it."""

from __future__ import annotations

from games import jit

SOURCES = [
    *jit.modules("games", "bits hashset"),
    *jit.modules("games.search", "alphabeta context harvest iterate memory quiescence rules searcher transposition"),
    *jit.modules("games.chess", "attacks collect content coordinates epd faults fen game_row labels movegen moves "
                                "movetext perft pgn position san search see tags tokens unit windows"),
]
CORE = jit.Unit("chess", lambda: SOURCES)
inner = CORE.inner
entry = CORE.entry
