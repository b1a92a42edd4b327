"""Endings: those that are drawn in practice although a mate is possible, and results from Syzygy
tables."""

import os
from collections.abc import Callable
from concurrent.futures import Future
from threading import Thread

import numpy as np

from games.chess.files.fen import fen
from games.chess.rules.position import BISHOP, KING, KNIGHT
from games.streams import InputError


def drawn_ending(words: np.ndarray) -> bool:
    """Return whether each side has at most one knight or bishop and its king, or one side two
    knights and its opponent nothing.

    A mate is then possible only if the losing side steps into it: a search of a few plies sees it.
    """
    white, black = int(words[0]), int(words[1])
    knights, bishops = int(words[1 + KNIGHT]), int(words[1 + BISHOP])
    minors = knights | bishops
    if (white | black) != minors | int(words[1 + KING]):
        return False
    ours, theirs = (white & minors).bit_count(), (black & minors).bit_count()
    return (
        ours <= 1
        and theirs <= 1
        or minors == knights
        and min(ours, theirs) == 0
        and ours + theirs == 2
    )


def is_bare(words: np.ndarray, player: int) -> bool:
    """Return whether a player has its king alone."""
    return int(words[player]).bit_count() == 1


SUFFIX = ".rtbw"
PROBE_SECONDS = 20.0  # for one position: a damaged table can make a probe endless


def tablebase(folder: str) -> Callable[[np.ndarray], int | None]:
    """Return a function from a position to White's result in the tables of a folder; InputError if
    there are none.

    The result, None if no table has the position, is exact under the fifty-move rule: wins that
    take too long are draws, and only positions right after a capture or a pawn's move are answered,
    because tables assume a halfmove clock of 0."""
    import chess
    import chess.syzygy

    if not os.path.isdir(folder):
        raise InputError(
            f"{folder}: no such folder; expected one of Syzygy tables ({SUFFIX} files)"
        )
    tables = chess.syzygy.open_tablebase(folder, load_dtz=False)
    most = max((len(name) - 1 for name in tables.wdl), default=0)  # men: KRvKN is a table of four
    if not most:
        raise InputError(
            f"{folder}: contains no Syzygy tables ({SUFFIX} files); name the folder that does"
        )
    probe, last = tables.probe_wdl_table, [""]

    def noted(board: chess.Board) -> int:
        table = tables.wdl.get(chess.syzygy.calc_key(board))
        last[0] = table.path if table else last[0]
        return probe(board)

    tables.probe_wdl_table = noted  # type: ignore[method-assign]

    def result(words: np.ndarray) -> int | None:
        if int(words[8]) >> 24 & 255 or (int(words[0]) | int(words[1])).bit_count() > most:
            return None
        board = chess.Board(fen(words))
        if board.castling_rights:
            return None
        answer = Future[int | None]()

        def answered() -> None:
            try:
                answer.set_result(tables.get_wdl(board))
            except Exception as problem:  # a damaged table may raise anything
                answer.set_exception(problem)

        Thread(target=answered, daemon=True).start()
        try:
            wdl = answer.result(PROBE_SECONDS)
        except Exception as problem:
            why = (
                f"no result after {PROBE_SECONDS:g} s" if not answer.done() else str(problem)
            ) or type(problem).__name__
            raise InputError(
                f"{last[0] or folder}: cannot be read for {fen(words)} ({why}); download it again"
            ) from None
        if wdl is None:
            return None
        won = (wdl == 2) - (wdl == -2)
        return won if board.turn else -won

    return result
