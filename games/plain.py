"""Games of which little needs to be said: no repetitions, a name for each number of a move, files
of lines of text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from games.plain_files import plain_files
from games.record import Game, Line
from games.search.plain import GOES_ON, MOVES


def plain_game(
    *,
    name: str,
    suffix: str,
    names: Sequence[str],
    text: Callable[[np.ndarray], str],
    second_to_move: Callable[[np.ndarray], bool],
    write_moves: Callable[[np.ndarray, np.ndarray], int],
    write_play: Callable[[np.ndarray, int, np.ndarray], None],
    outcome: Callable[[np.ndarray], int],
    **more: Any,
) -> Game:
    """Return the record of a game whose moves are numbers below `MOVES` with one of `names` each,
    and whose files end in `suffix`.

    `write_moves` writes the legal moves of a position into an array of uint32 and returns their
    number; `write_play` writes the position after a move into the last array; `outcome` is the
    result of a position for the side to move, 1, 0 or -1, or GOES_ON. `more` are fields of
    `Game`."""

    def legal_moves(words: np.ndarray) -> list[int]:
        moves = np.empty(MOVES, np.uint32)
        found: list[int] = moves[: write_moves(words, moves)].tolist()
        return found

    def play(words: np.ndarray, move: int) -> np.ndarray:
        after = np.empty_like(words)
        write_play(words, move, after)
        return after

    def result(line: Line) -> int | None:
        found = outcome(line[-1])
        return None if found == GOES_ON else -found if second_to_move(line[-1]) else found

    def move_named(words: np.ndarray, named: str) -> int:
        for move in legal_moves(words):
            if names[move] == named:
                return move
        raise ValueError(f"illegal move {named!r}")

    def move_name(words: np.ndarray, move: int) -> str:
        return names[move]

    return Game(
        name=name,
        second_to_move=second_to_move,
        legal_moves=legal_moves,
        play=play,
        result=result,
        texts=lambda positions: [text(words) for words in positions],
        move_text=move_name,
        move_name=move_name,
        move_named=move_named,
        files=plain_files(name, suffix),
        **more,
    )
