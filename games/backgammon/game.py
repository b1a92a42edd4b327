"""Backgammon as a record of functions."""

from __future__ import annotations

import numpy as np

from games.backgammon import content, notation
from games.backgammon.board import PLY_SHIFT, STATE, WORDS, start, turn_of
from games.backgammon.chance import roll, rolls
from games.backgammon.contest import CONTEST
from games.backgammon.draw import draw, picture
from games.backgammon.ids import text_of
from games.backgammon.moves import legal_moves, move_named, move_text, play
from games.backgammon.native import WHOLE_GAMES
from games.backgammon.reading import read
from games.backgammon.rules import HIGHEST_POINTS, points
from games.backgammon.search import searcher
from games.record import Game, Line, Wording
from games.search.expectimax import DEEPEST


def result(line: Line) -> float | None:
    """Return the points that the first player has won at the end of a line of positions, in thirds of a backgammon; None while
    the game continues."""
    won = points(line[-1])
    return won / HIGHEST_POINTS if won else None


def second_to_move(words: np.ndarray) -> bool:
    """Return whether the second player has the move, or the roll."""
    return bool(turn_of(words))


def plies(positions: np.ndarray) -> np.ndarray:
    """Return the plies played before positions (n, 5)."""
    return positions[:, STATE].astype(np.int64) >> PLY_SHIFT


GAME = Game(
    name="backgammon", words=WORDS, stages=("contact", "race"), start=start, legal_moves=legal_moves, play=play, result=result,
    points=HIGHEST_POINTS, roll=roll, rolls=rolls, second_to_move=second_to_move, position=notation.position, text=text_of,
    draw=draw, move_text=move_text, move_name=move_text, move_named=move_named, plies=plies, read=read,
    suffixes=tuple(content.SUFFIXES), of_games=lambda name: content.of_file(str(name)) != content.LABELS,
    holds_games=lambda name: content.of_file(str(name)) is not None, picture=picture, searcher=searcher,
    deepest=DEEPEST, contest=CONTEST, scale=0.00333, whole_games=WHOLE_GAMES,
    wording=Wording("hundredths of a point", "expected points = 3 v", ("X", "O"), False, "checker"))
