"""The compile unit of chess: an edit to any of its sources recompiles it."""

from __future__ import annotations

from games import jit

SOURCES = [
    *jit.modules("games", "addresses bits hashset perft"),
    *jit.modules("games.search", "alphabeta alphabeta_searcher context harvest iterate memory move_order ordering quiescence "
                                 "rules searcher transposition"),
    *jit.modules("games.chess", "attacks checks collect comment_scores content coordinates epd faults fen game_row label_scores "
                                "labels movegen movetext moves packed_board perft pgn position san search see tags tokens unit "
                                "viriformat windows"),
]
CORE = jit.Unit("chess", lambda: SOURCES)
inner = CORE.inner
entry = CORE.entry
