"""Backgammon as a record of functions."""

from __future__ import annotations

import numpy as np

from games.backgammon import content, notation
from games.backgammon.board import PLY_SHIFT, WORDS, start
from games.backgammon.draw import draw, picture
from games.backgammon.ids import text_of
from games.backgammon.moves import legal_moves, move_named, move_text, play
from games.backgammon.reading import read
from games.backgammon.rules import HIGHEST_POINTS, points
from games.record import Game, Line, Wording


def result(line: Line) -> int | None:
    """Return who has borne off all checkers at the end of a line of positions, 1 the first player, -1 the second; None while the
    game continues."""
    won = points(line[-1])
    return (won > 0) - (won < 0) if won else None


def plies(positions: np.ndarray) -> np.ndarray:
    """Return the plies played before positions (n, 5)."""
    return positions[:, 4].astype(np.int64) >> PLY_SHIFT


GAME = Game(
    name="backgammon", words=WORDS, stages=("contact", "race"), start=start, legal_moves=legal_moves, play=play, result=result,
    position=notation.position, text=text_of, draw=draw, move_text=move_text, move_name=move_text, move_named=move_named,
    plies=plies, read=read, suffixes=tuple(content.SUFFIXES), of_games=lambda name: content.of_file(str(name)) != content.LABELS,
    holds_games=lambda name: content.of_file(str(name)) is not None, picture=picture, points=HIGHEST_POINTS,
    wording=Wording("hundredths of a point", "expected points = 3 v", ("X", "O"), ratios=False))
