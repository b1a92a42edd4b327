"""Results of endings from Syzygy tables, read by python-chess."""

from __future__ import annotations

import os
from collections.abc import Callable

import chess
import chess.syzygy
import numpy as np

from games.chess.fen import fen
from games.streams import InputError

SUFFIX = ".rtbw"


def tablebase(folder: str) -> Callable[[np.ndarray], int | None]:
    """Return a function from a position to White's result in the tables of a folder; InputError if there are none.

    The result, None if no table has the position, is exact under the fifty-move rule: wins that take too long are draws, and only
    positions right after a capture or a pawn's move are answered, because tables assume a halfmove clock of 0.
    """
    if not os.path.isdir(folder):
        raise InputError(f"{folder}: no such folder; expected one of Syzygy tables ({SUFFIX} files)")
    tables = chess.syzygy.open_tablebase(folder, load_dtz=False)
    most = max((len(name) - 1 for name in tables.wdl), default=0)  # men: KRvKN is a table of four
    if not most:
        raise InputError(f"{folder}: contains no Syzygy tables ({SUFFIX} files); name the folder that does")

    def result(words: np.ndarray) -> int | None:
        if int(words[8]) >> 24 & 255 or (int(words[0]) | int(words[1])).bit_count() > most:
            return None
        board = chess.Board(fen(words))
        try:
            wdl = None if board.castling_rights else tables.get_wdl(board)
        except Exception as problem:  # a damaged table may raise anything
            raise InputError(f"{folder}: the table of {fen(words)} cannot be read ({problem}); download it again") from None
        if wdl is None:
            return None
        won = (wdl == 2) - (wdl == -2)
        return won if board.turn else -won

    return result

