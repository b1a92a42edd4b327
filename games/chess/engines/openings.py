"""Read openings from a file: positions of EPD or FEN lines, or the moves of PGN games."""

import os
import random
from collections.abc import Callable, Iterator
from itertools import chain

import numpy as np

from games.chess.engines.gametext import is_chess960
from games.chess.files import faults
from games.chess.files.content import POSITIONS, START, by_name, of_start
from games.chess.files.fen import fen, position
from games.chess.files.pgn import fault_text, parsed, write_ends
from games.chess.files.tokens import FAULT, FIRST_MOVE, PLIES
from games.chess.rules.movegen import has_moves, is_dead, move_named
from games.chess.rules.position import WORDS
from games.reading import MOST_OF_OPENINGS, Notes
from games.record import BookMoves, Openings
from games.streams import InputError, beginning, lines, pieces, plain_name

MOST_WITHOUT = 100_000  # lines without a position, empty or not, after which a file is refused


def read(source: str, note: Callable[[str], None], ended: bool = False) -> Openings:
    """Read the openings of a file in order: lines or PGN by its name (compressed or not), or else
    by its first lines. `ended`: include games that end on the board.

    Bad lines and games are skipped with a note; InputError if no opening is left.
    """
    notes = Notes(str(source), note, MOST_OF_OPENINGS)
    stream = pieces(source)
    start = beginning(stream, START)
    stream = chain([start], stream)
    as_lines = (
        plain_name(str(source)).lower().endswith(".txt")
        or (by_name(source) or of_start(start, source)) == POSITIONS
    )
    openings = (
        Openings(
            np.array(list(_positions(source, stream, notes.add)), np.uint64).reshape(-1, WORDS)
        )
        if as_lines
        else _of_games(source, stream, notes.add, ended)
    )
    notes.end("skipped")
    if not len(openings):
        raise InputError(
            f"{source}: no openings found; expected lines of EPD or FEN, or games in PGN"
        )
    return openings


def _positions(
    source: str, stream: Iterator[bytes], skip: Callable[[str], None]
) -> Iterator[np.ndarray]:
    last = 0  # line with a position
    for number, line in enumerate(lines(source, stream), 1):
        if number - last > MOST_WITHOUT:
            raise InputError(
                f"{source}: line {number}: no position on {MOST_WITHOUT:,} lines; expected lines of"
                " EPD or FEN"
            )
        text = line.decode("utf-8-sig", "replace").strip()
        if not text or text.startswith("#"):
            continue
        try:
            words = position(text)
        except ValueError as problem:
            skip(f"{source}: line {number}: {problem}; line skipped")
            continue
        last = number
        if (over := _over(words)) is None:
            yield words
        else:
            skip(f"{source}: line {number}: {over}: {text[:100]!r}; line skipped")


def _over(words: np.ndarray, times: int = 1) -> str | None:
    """Return how the game is over in a position that occurred a number of times, None if it is
    not."""
    if not has_moves(words):
        return "no legal move"
    if int(words[8]) >> 24 & 255 >= 100:
        return "drawn by the fifty-move rule"
    if is_dead(words):
        return "drawn by insufficient material"
    return "drawn by repetition" if times >= 3 else None


def _of_games(
    source: str, stream: Iterator[bytes], skip: Callable[[str], None], ended: bool
) -> Openings:
    starts, moves, number = [], [], 0
    for games, _ in parsed(source, stream):
        ends, times = np.zeros((games.count, WORDS), np.uint64), np.zeros(games.count, np.int64)
        write_ends(games.rows, games.starts, games.moves, games.count, ends, times)
        for i, row in enumerate(games.rows[: games.count]):
            number += 1
            # a game of an opening book has no result
            if row[FAULT] not in (faults.OK, faults.NO_RESULT):
                skip(f"{source}: game {number}: {fault_text(games, row)}; game skipped")
                continue
            if not ended and (over := _over(ends[i], int(times[i]))):
                skip(f"{source}: game {number}: the opening ends the game: {over}; game skipped")
                continue
            first, plies = int(row[FIRST_MOVE]), int(row[PLIES])
            starts.append(games.starts[i].copy())
            moves.append(games.moves[first : first + plies].copy())
    return Openings(
        np.array(starts, np.uint64).reshape(-1, WORDS),
        np.concatenate(moves) if moves else np.zeros(0, np.uint32),
        np.cumsum([len(line) for line in moves], dtype=np.int64),
    )


SUFFIX, ENTRY = ".bin", 16  # bytes of a move and its weight
PIECE = 1 << 20  # entries that are looked at together


def book(path: str) -> BookMoves | None:
    """Return a function that draws a move of the book by the weights, None where it has none; None
    for a file of another name. InputError for one that is no book."""
    if not path.lower().endswith(SUFFIX):
        return None
    import chess
    import chess.polyglot

    try:
        size = os.path.getsize(path)
        keys = np.memmap(path, ">u8", "r")[::2] if size and size % ENTRY == 0 else np.empty(0)
    except OSError as problem:
        raise InputError(f"{path}: cannot be read: {problem.strerror}") from None
    pieces = (keys[at : at + PIECE + 1] for at in range(0, len(keys), PIECE))
    if not len(keys) or any((piece[1:] < piece[:-1]).any() for piece in pieces):
        raise InputError(f"{path}: not a Polyglot book, whose entries are sorted by position")
    reader = chess.polyglot.open_reader(path)

    def move(words: np.ndarray, dice: random.Random) -> int | None:
        board = chess.Board(fen(words), chess960=is_chess960(words))
        entries = [entry for entry in reader.find_all(board) if board.is_legal(entry.move)]
        if not entries:
            return None
        chosen = dice.choices(entries, [entry.weight for entry in entries])[0].move
        return move_named(words, chosen.uci())

    return move
