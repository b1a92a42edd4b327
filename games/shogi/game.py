"""Shogi as a record of functions."""

import numpy as np

from games.record import Contest, Files, Game, Wording
from games.search.context import CONSTANTS
from games.shogi.engines.contest import evaluator, external, openings
from games.shogi.files import reading, sfen
from games.shogi.files.csa import game_text, made_here, reason
from games.shogi.files.sfen import picture
from games.shogi.rules.endings import result
from games.shogi.rules.movegen import moves_of, play
from games.shogi.rules.position import START, STATE, WORDS
from games.shogi.search import searcher


def after(words: np.ndarray, move: int) -> np.ndarray:
    """Return the position after a legal move."""
    position = np.empty_like(words)
    play(words, move, position)
    return position


def plies(positions: np.ndarray) -> np.ndarray:
    """Return the plies played before positions (n, 15), by their move numbers."""
    return positions[:, STATE].astype(np.int64) >> 16


def second_to_move(words: np.ndarray) -> bool:
    """Whether White is to move."""
    return bool(int(words[STATE]) & 1)


def draw(words: np.ndarray) -> str:
    """Return the board as text, Black at the bottom, with the hands at its side."""
    board = sfen.board_of(words)
    rows = ["  9  8  7  6  5  4  3  2  1"]
    for rank in range(9):
        men = (board.get(9 * file + rank) for file in reversed(range(9)))
        rows.append(
            " ".join(f"{'.' if man is None else sfen.man_text(*man):>2}" for man in men)
            + f"  {'abcdefghi'[rank]}"
        )
    for white, side in enumerate(("Black", "White")):
        held = [
            f"{number} {sfen.man_text(white, kind)}"
            for kind, number in enumerate(sfen.hand_of(words, white))
            if number
        ]
        rows.append(f"{side} holds {', '.join(held) or 'nothing'}")
    return "\n".join(rows)


GAME = Game(
    name="shogi",
    words=WORDS,
    stages=("all",),
    start=START.copy,
    legal_moves=moves_of,
    play=after,
    result=result,
    second_to_move=second_to_move,
    plies=plies,
    position=sfen.position,
    texts=lambda positions: [sfen.text(words) for words in positions],
    draw=draw,
    move_text=sfen.move_text,
    move_name=sfen.move_name,
    move_named=sfen.move_named,
    files=Files(
        read=reading.read,
        suffixes=tuple(reading.SUFFIXES),
        holds_games=lambda name: reading.form_of(name) is not None,
        of_games=lambda name: reading.by_name(str(name)) not in reading.PACKED,
        game_text=game_text,
        made_here=made_here,
        openings=openings,
        picture=picture,
    ),
    contest=Contest(
        searcher=searcher,
        constants=CONSTANTS,
        external=external,
        protocols=("usi",),
        evaluator=evaluator,
        evaluating="usi",
        byoyomi=True,
        reason=reason,
        lost_in_practice=3000.0,
        level_is_drawn=False,
    ),
    scale=0.0005,
    wording=Wording(
        sides=("Black", "White"),
        columns="the first column first (of the board file 9 for Black and file 1 for White)",
        scores="CSA comments such as '** 31, or packed positions",
    ),
)
