"""Chess as a record of functions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import chain

import numpy as np

from games.chess import content, epd, pgn, viriformat
from games.chess.contest import CONTEST
from games.chess.coordinates import move_name, move_named
from games.chess.fen import LETTERS, fen, position
from games.chess.fens import fens
from games.chess.movegen import has_moves, in_check, is_dead, moves_of, play
from games.chess.picture import picture
from games.chess.position import START, WORDS
from games.chess.san import san
from games.chess.search import searcher
from games.foreign import require_own
from games.record import Game, Line, PositionBatch, ReadOptions, ReadReport, Wording
from games.streams import beginning, pieces

OPENING_PLIES = 8  # skipped by default: book or random moves


def after(words: np.ndarray, move: int) -> np.ndarray:
    """Return the position after a legal move."""
    result = np.empty_like(words)
    play(words, move, result)
    return result


def result(line: Line) -> int | None:
    """Return White's result of a line of positions by mate, stalemate, insufficient material, threefold repetition or the
    fifty-move rule; None while the game continues."""
    words = line[-1]
    if not has_moves(words):
        if not in_check(words):
            return 0
        return 1 if int(words[8]) & 1 else -1
    clock = int(words[8]) >> 24 & 255
    if clock >= 100 or is_dead(words):
        return 0
    if clock < 8:  # a third occurrence takes at least two cycles of four plies
        return None
    return 0 if np.count_nonzero(np.asarray(line[-clock - 1:])[:, 9] == words[9]) >= 3 else None


def plies(positions: np.ndarray) -> np.ndarray:
    """Return the plies played before positions (n, 10), by their move numbers."""
    state = positions[:, 8].astype(np.int64)
    return 2 * (state >> 32 & 0xFFFF) + (state & 1)


def draw(words: np.ndarray) -> str:
    """Return the board as text, White at the bottom."""
    rows = []
    placement = fen(words).split()[0]
    for rank, row in zip(range(8, 0, -1), placement.split("/"), strict=True):
        for digit in "12345678":
            row = row.replace(digit, "." * int(digit))
        rows.append(f"{rank}  {' '.join(row)}")
    return "\n".join([*rows, "", "   a b c d e f g h"])


def of_games(name: str) -> bool:
    """Whether a file contains games rather than labelled positions, by its first lines; for pipes, by the name."""
    return content.of_file(str(name)) != content.POSITIONS


def read(source: str, options: ReadOptions, report: ReadReport, note: Callable[[str], None]) -> Iterator[PositionBatch]:
    """Read PGN, viriformat or labelled positions, whichever the first bytes of the file are.

    Default: the quiet positions of games from the ninth ply on, and all labelled positions, which are a selection already.
    """
    if not content.begins_as_chess(str(source)):
        require_own(str(source), "chess")
    packed = content.is_packed(str(source))
    stream = pieces(source, text=not packed)
    start = beginning(stream, content.START)
    reader, usual = ((viriformat, "quiet") if packed else (epd, "all")
                     if content.of_start(start, str(source)) == content.POSITIONS else (pgn, "quiet"))
    options = replace(options, positions=usual if options.positions == "auto" else options.positions,
                      skip_start=OPENING_PLIES if options.skip_start is None else options.skip_start)
    yield from reader.read(source, chain([start], stream), options, report, note)


GAME = Game(
    name="chess", words=WORDS, stages=("mg", "eg"), start=START.copy, legal_moves=moves_of, play=after,
    result=result, second_to_move=lambda words: bool(int(words[8]) & 1), position=position, text=fen, draw=draw, move_text=san,
    move_name=move_name, move_named=move_named, plies=plies, read=read, of_games=of_games, suffixes=tuple(content.SUFFIXES),
    holds_games=content.holds_games, searcher=searcher, contest=CONTEST, picture=picture, many_texts=fens,
    wording=Wording(sides=("White", "Black"), scores="PGN comments such as {+0.31/6} or [%eval 0.31], or labelled positions with "
                                                     "scores (docs/targets.md)"))

__all__ = ["GAME", "LETTERS"]
