"""USI, the protocol of shogi programs: the engine that `games.shogi.usi.server` serves."""

from games.shogi.usi.server import lines_of, serve

__all__ = ["lines_of", "serve"]
