"""The compiled core of tic-tac-toe is one unit: an edit to any of its sources compiles it anew."""

from games import jit

SOURCES = [*jit.modules("games", "bits"), *jit.modules("games.tictactoe", "rules unit")]
CORE = jit.Unit("tictactoe", lambda: SOURCES)
inner = CORE.inner
entry = CORE.entry
