"""USI, the protocol of shogi programs: the engine that `games.shogi.usi.server` serves."""

from games.protocol.lines import lines_of
from games.shogi.usi.server import serve

__all__ = ["lines_of", "serve"]
