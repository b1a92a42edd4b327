"""The compile unit of tic-tac-toe: an edit to any of its sources recompiles it."""

from games import jit

SOURCES = [*jit.modules("games", "addresses bits"), *jit.modules("games.tictactoe", "rules unit")]
CORE = jit.Unit("tictactoe", lambda: SOURCES)
inner = CORE.inner
entry = CORE.entry
