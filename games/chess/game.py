"""Chess as a record of functions."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import chain

import chess
import numpy as np

from games.chess.engines.endings import drawn_ending, is_bare, tablebase
from games.chess.engines.gametext import made_here, reason
from games.chess.engines.gametext import text as game_text
from games.chess.engines.openings import book
from games.chess.engines.openings import read as read_openings
from games.chess.engines.players import evaluator, external
from games.chess.files import content, epd, pgn
from games.chess.files.fen import LETTERS, fen, fens, position
from games.chess.files.san import san
from games.chess.rules.movegen import (
    has_moves,
    in_check,
    is_dead,
    move_name,
    move_named,
    moves_of,
    play,
)
from games.chess.rules.position import START, WORDS
from games.chess.search import searcher
from games.reading import require_own
from games.record import (
    Contest,
    Files,
    Game,
    Line,
    PositionBatch,
    ReadOptions,
    ReadReport,
    Stock,
    SuitePosition,
    UsualSettings,
    Wording,
)
from games.search.context import CONSTANTS
from games.streams import beginning, pieces

WORTH = (1, 3, 3, 5, 9)  # of pawns, knights, bishops, rooks and queens


def material(positions: np.ndarray) -> np.ndarray:
    """Return the material (n,) of positions (n, 10)."""
    squares = np.ascontiguousarray(positions[:, 2:7]).view(np.uint8)
    pieces = np.unpackbits(squares.reshape(len(positions), 5, 8), axis=2).sum(axis=2)
    return pieces @ np.array(WORTH)


# the limits, the anchor, and a and b as in uci.cpp of Stockfish 16.1 and 17, in its internal units
STOCK = Stock(
    material,
    low=17,
    high=78,
    anchor=58,
    what="material of both sides: pawn 1, knight and bishop 3, rook 5, queen 9",
    published=(
        (420.70576692, -132.78783573, 121.19101539, -37.45051876),
        (51.35259597, 71.10130540, -137.26549898, 90.26261072),
    ),
    source="Stockfish 17",
)


OPENING_PLIES = 8  # skipped by default: book or random moves
# muted, so that all pieces are visible
COLOURS = {
    "square light": "#eceae4",
    "square dark": "#b7b3a8",
}


def after(words: np.ndarray, move: int) -> np.ndarray:
    """Return the position after a legal move."""
    result = np.empty_like(words)
    play(words, move, result)
    return result


def result(line: Line) -> int | None:
    """Return White's result of a line of positions by mate, stalemate, insufficient material,
    threefold repetition or the fifty-move rule; None while the game continues."""
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
    return 0 if np.count_nonzero(np.asarray(line[-clock - 1 :])[:, 9] == words[9]) >= 3 else None


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


def picture(words: np.ndarray) -> str:
    """Return an SVG of the board by python-chess, White at the bottom, without a fixed size."""
    import chess
    import chess.svg

    board = chess.Board(fen(words), chess960=True)
    checked = board.king(board.turn) if board.is_check() else None
    drawn = chess.svg.board(board, coordinates=False, colors=COLOURS, check=checked)
    return re.sub(r"<desc>.*?</desc>", "", drawn, count=1, flags=re.DOTALL)


def of_games(name: str) -> bool:
    """Whether a file contains games rather than labeled positions, by its first lines; for pipes,
    by the name."""
    return content.of_file(str(name)) != content.POSITIONS


def _suite(source: str) -> Iterator[SuitePosition]:
    """Read a suite, see `games.chess.files.suite`."""
    from games.chess.files.suite import read_suite  # imports python-chess

    return read_suite(source)


def read(
    source: str, options: ReadOptions, report: ReadReport, note: Callable[[str], None]
) -> Iterator[PositionBatch]:
    """Read PGN or labeled positions, whichever the first bytes of the file are.

    Default: the quiet positions of games from the ninth ply on, and all labeled positions, which
    are a selection already."""
    if not content.begins_as_chess(str(source)):
        require_own(str(source), "chess")
    stream = pieces(source)
    start = beginning(stream, content.START)
    of_positions = content.of_start(start, str(source)) == content.POSITIONS
    reader, usual = (epd, "all") if of_positions else (pgn, "quiet")
    options = replace(
        options,
        positions=usual if options.positions == "auto" else options.positions,
        skip_start=OPENING_PLIES if options.skip_start is None else options.skip_start,
    )
    yield from reader.read(source, chain([start], stream), options, report, note)


def exchanged(text: str) -> str:
    """Return a position with the colors exchanged."""
    return chess.Board(text).mirror().fen(en_passant="fen")


GAME = Game(
    name="chess",
    words=WORDS,
    stages=("mg", "eg"),
    start=START.copy,
    legal_moves=moves_of,
    play=after,
    result=result,
    second_to_move=lambda words: bool(int(words[8]) & 1),
    plies=plies,
    position=position,
    texts=fens,
    draw=draw,
    move_text=san,
    move_name=move_name,
    move_named=move_named,
    files=Files(
        read=read,
        suffixes=tuple(content.SUFFIXES),
        of_games=of_games,
        holds_games=content.holds_games,
        game_text=game_text,
        made_here=made_here,
        openings=read_openings,
        suite=_suite,
        book=book,
        picture=picture,
    ),
    contest=Contest(
        searcher=searcher,
        constants=CONSTANTS,
        external=external,
        protocols=("uci", "xboard"),
        evaluator=evaluator,
        reason=reason,
        drawn_ending=drawn_ending,
        cannot_win=is_bare,
        tablebase=tablebase,
    ),
    exchanged=exchanged,
    stock=STOCK,
    # measured: docs/measurements.md, "TD-Leaf"
    usual=UsualSettings(td_leaf={"learning_rate": 1.5, "largest_error": 0.15, "plies": 400}),
    wording=Wording(
        sides=("White", "Black"),
        scores=(
            "PGN comments such as {+0.31/6} or [%eval 0.31], or labeled positions with "
            "scores (docs/tune.md)"
        ),
    ),
)

__all__ = ["GAME", "LETTERS"]
