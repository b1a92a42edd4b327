"""Shared by the tests of games: python-chess as the oracle, random games, and reading PGN bytes."""

import io
import logging
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import chess
import chess.pgn
import numpy as np

from games.chess.files import faults, pgn
from games.chess.files import tokens as game_row
from games.chess.files.fen import fen
from games.chess.rules import CORE
from games.compile.jit import Unit
from games.record import PositionBatch, ReadOptions, ReadReport
from tests.support import file_with

REPOSITORY = Path(__file__).resolve().parents[2]
SHARED = REPOSITORY.parent / "shared" / "data"
DATA = Path(__file__).parent / "data"
CASTLING, EN_PASSANT = 2, 1

logging.getLogger("chess.pgn").setLevel(logging.CRITICAL)  # it logs each error that it also returns


def unit_of(test_file: str) -> Unit:
    """A compile unit for wrappers in one test file; an edit to the core compiles them anew."""
    return Unit("tests", lambda: [Path(test_file)], salt=CORE.name)


def packed(board: chess.Board, move: chess.Move) -> int:
    """A move of python-chess in our encoding."""
    kind, captured, flag, target = board.piece_type_at(move.from_square), 0, 0, move.to_square
    if board.is_castling(move):
        flag = CASTLING
        if (
            board.color_at(target) != board.turn
        ):  # the king's target, where Chess960 gives the rook's square
            target = chess.square(7 if target > move.from_square else 0, chess.square_rank(target))
    elif board.is_en_passant(move):
        flag, captured = EN_PASSANT, chess.PAWN
    else:
        captured = board.piece_type_at(target) or 0
    return (
        move.from_square
        | target << 6
        | kind << 12
        | captured << 15
        | (move.promotion or 0) << 18
        | flag << 21
    )


def random_lines(
    seed: int, games: int, plies: int, chess960: bool = False
) -> Iterator[tuple[chess.Board, list[chess.Move]]]:
    """Starts and moves of random games; the boards castle in Chess960 fashion (king to its rook) in
    every case."""
    rng = random.Random(seed)
    for _ in range(games):
        start = (
            chess.Board.from_chess960_pos(rng.randrange(960))
            if chess960
            else chess.Board(chess960=True)
        )
        board, line = start.copy(), []
        for _ in range(plies):
            moves = list(board.legal_moves)
            if not moves:
                break
            # captures, promotions and castling are rare in random play: prefer them now and then
            special = [
                m for m in moves if m.promotion or board.is_castling(m) or board.is_en_passant(m)
            ]
            move = rng.choice(special) if special and rng.random() < 0.5 else rng.choice(moves)
            line.append(move)
            board.push(move)
        yield start, line


def random_boards(
    seed: int, games: int, plies: int, chess960: bool = False
) -> Iterator[chess.Board]:
    """Every position of random games."""
    for start, line in random_lines(seed, games, plies, chess960):
        board = start.copy()
        yield board
        for move in line:
            board.push(move)
            yield board


@dataclass
class ReadGame:
    """One game as our reader sees it: `reason` is None where it was accepted, else the fault's
    sentence."""

    start: str
    moves: list[int]
    result: int
    reason: str | None
    fault: int
    fault_at: int
    begin: int


def games_of(path: Path) -> list[ReadGame]:
    """What the PGN reader finds in a file."""
    games = []
    for found, place in pgn.parsed(path):
        for row, start in zip(found.rows[: found.count], found.starts, strict=False):
            first, good = row[game_row.FIRST_MOVE], row[game_row.FAULT] == faults.OK
            games.append(
                ReadGame(
                    fen(start) if good else "",
                    [int(m) for m in found.moves[first : first + row[game_row.PLIES]]],
                    int(row[game_row.RESULT]),
                    None if good else pgn.fault_text(found, row),
                    int(row[game_row.FAULT]),
                    -1 if good else int(place + row[game_row.FAULT_AT]),
                    int(place + row[game_row.BEGIN]),
                )
            )
    return games


def games_of_bytes(content: bytes, folder: Path) -> list[ReadGame]:
    """What the PGN reader finds in these bytes."""
    path = file_with(folder / "games.pgn", content)
    return games_of(path)


class MainLine(chess.pgn.GameBuilder):
    """Reads the game and leaves out its variations, so that errors are those of the game itself."""

    def begin_variation(self):
        return chess.pgn.SKIP

    def end_variation(self):
        pass


def oracle_games(content: bytes) -> list[tuple[str, list[int], list[Exception]]]:
    """Start, moves in our encoding and errors of every game that python-chess reads from these
    bytes."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = content.decode("latin-1")
    stream, games = io.StringIO(text, newline=None), []
    while True:
        try:
            game = chess.pgn.read_game(stream, Visitor=MainLine)
        except (
            IndexError,
            ValueError,
        ) as problem:  # python-chess fails on a glyph behind a superfluous ')'
            games.append(("", [], [problem]))
            continue
        if game is None:
            return games
        try:
            board, moves = game.board(), []
        except ValueError as problem:  # a FEN that it cannot read
            games.append(("", [], [problem]))
            continue
        start, errors = board.fen(), list(game.errors)
        for move in game.mainline_moves():
            if move and not board.is_legal(
                move
            ):  # behind an error in a variation it mixes up its stacks
                errors.append(ValueError("moves that are not legal one after the other"))
                break
            moves.append(packed(board, move) if move and not move.drop else 0)
            board.push(move)
        games.append((start, moves, errors))


def read(source: Path | str, **options) -> tuple[list[PositionBatch], ReadReport, list[str]]:
    """All batches, the report and the notes of reading a file of games; all positions from the
    first on by default."""
    from games.chess import game

    options = {"positions": "all", "skip_start": 0, "duplicates": "keep"} | options
    report, notes = ReadReport(), []
    batches = list(game.read(str(source), ReadOptions(**options), report, notes.append))
    return batches, report, notes


def rows(batches: list[PositionBatch]) -> np.ndarray:
    """All positions (n, 10) of batches."""
    return (
        np.concatenate([batch.positions for batch in batches])
        if batches
        else np.zeros((0, 10), np.uint64)
    )


def legal(board: chess.Board) -> list[int]:
    """The legal moves of a board in our encoding, sorted."""
    return sorted(packed(board, move) for move in board.legal_moves)
