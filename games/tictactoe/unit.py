"""The compiled core of tic-tac-toe is one unit: an edit to any of its sources compiles it anew."""

from games import jit

CORE = jit.Unit("tictactoe", lambda: [*jit.ROOT.glob("*.py"), *(jit.ROOT / "tictactoe").glob("*.py")])
inner = CORE.inner
entry = CORE.entry
