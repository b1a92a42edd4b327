"""A UCI engine: the Universal Chess Interface to the search. Importing it is fast."""

from games.chess.uci.server import lines_of, serve

__all__ = ["lines_of", "serve"]
