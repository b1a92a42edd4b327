"""A UCI engine: the Universal Chess Interface to the search. Importing it is fast."""

from games.chess.uci.server import serve
from games.protocol.lines import lines_of

__all__ = ["lines_of", "serve"]
