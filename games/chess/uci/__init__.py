"""The Universal Chess Interface: how chess programs talk to an engine. Importing it loads nothing heavy."""

from games.chess.uci.server import lines_of, serve

__all__ = ["lines_of", "serve"]
