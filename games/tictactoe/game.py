"""Tic-tac-toe as a record of functions; its notation."""

import re

import numpy as np

from games.plain_files import plain_files
from games.record import Contest, Game, Line
from games.tictactoe import rules

NAMES = [file + rank for rank in "123" for file in "abc"]


def position(text: str) -> np.ndarray:
    """Parse a text such as `x.o/.x./... o`: rows from the top, side to move; ValueError if it is
    not a position."""
    if not re.fullmatch(r"[xo.]{3}/[xo.]{3}/[xo.]{3} [xo]", text):
        raise ValueError(
            f"{text!r} is not a position, expected three rows and the side to move, such as"
            " 'x.o/.x./... o'"
        )
    board, mover = "".join(reversed(text[:-2].split("/"))), "xo".index(text[-1])
    words = np.array(
        [sum(1 << i for i, mark in enumerate(board) if mark == own) for own in "xo"], np.uint64
    )
    if board.count("x") != board.count("o") + mover or any(
        words[mover] & line == line for line in rules.LINES
    ):
        raise ValueError(f"{text!r}: no game leads to this position")
    return words


def text(words: np.ndarray) -> str:
    """Return a position as text, see `position`."""
    x, o = (int(word) for word in words)
    board = "".join(
        ".xo"[(x >> square & 1) + 2 * (o >> square & 1)] for square in range(rules.SQUARES)
    )
    return f"{board[6:]}/{board[3:6]}/{board[:3]} {'xo'[x.bit_count() - o.bit_count()]}"


def result(line: Line) -> int | None:
    """Return the result for x of a line of positions; None while the game continues."""
    found = rules.outcome(line[-1])
    return None if found == rules.GOES_ON else found


def move_named(words: np.ndarray, name: str) -> int:
    """Return the free square of that name; ValueError if there is none."""
    if name not in NAMES or NAMES.index(name) not in rules.legal_moves(words):
        raise ValueError(f"illegal move {name!r}")
    return NAMES.index(name)


def second_to_move(words: np.ndarray) -> bool:
    """Whether o is to move."""
    x, o = words.tolist()
    return x.bit_count() > o.bit_count()


def plies(positions: np.ndarray) -> np.ndarray:
    """Return the number of marks on the board of positions (n, 2)."""
    return np.array([sum(word.bit_count() for word in row) for row in positions.tolist()])


GAME = Game(
    name="tictactoe",
    words=rules.WORDS,
    stages=("all",),
    start=lambda: np.zeros(rules.WORDS, np.uint64),
    legal_moves=lambda words: rules.legal_moves(words).tolist(),
    play=rules.play,
    result=result,
    second_to_move=second_to_move,
    plies=plies,
    position=position,
    texts=lambda positions: [text(words) for words in positions],
    draw=lambda words: text(words)[:-2].replace("/", "\n"),
    move_text=lambda words, move: NAMES[move],
    move_name=lambda words, move: NAMES[move],
    move_named=move_named,
    files=plain_files("tictactoe", ".ttt"),
    contest=Contest(),
)
