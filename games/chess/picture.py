"""Draw a position as SVG, with python-chess."""

from __future__ import annotations

import re

import numpy as np

from games.chess.fen import fen

COLOURS = {"square light": "#eceae4", "square dark": "#b7b3a8"}  # muted, so that all pieces are visible


def picture(words: np.ndarray) -> str:
    """Return an SVG of the board, White at the bottom, without a fixed size."""
    import chess
    import chess.svg

    board = chess.Board(fen(words), chess960=True)
    checked = board.king(board.turn) if board.is_check() else None
    drawn = chess.svg.board(board, coordinates=False, colors=COLOURS, check=checked)
    return re.sub(r"<desc>.*?</desc>", "", drawn, count=1, flags=re.DOTALL)
