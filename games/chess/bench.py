"""Speed of reading games and of move generation, beside python-chess on the same input."""

from __future__ import annotations

import io
import time
from collections.abc import Iterator
from pathlib import Path

import chess
import chess.pgn

from games.chess import pgn
from games.chess.fen import START, position
from games.chess.perft import perft
from games.streams import pieces

REFERENCE_GAMES = 200
KIWIPETE = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"


def reading(games: Path) -> tuple[int, float, float]:
    """Games in a PGN file, our CPU seconds for all of them, and python-chess's games per CPU second."""
    text = b"".join(pieces(games))
    plain = games.parent / games.name if games.suffix == ".pgn" else None
    started = time.process_time()
    count = sum(found.count for found, _ in pgn.parsed(plain or games))
    ours = time.process_time() - started
    stream = io.StringIO(text[:4_000_000].decode("latin-1"))
    started, read = time.process_time(), 0
    while read < REFERENCE_GAMES and (game := chess.pgn.read_game(stream)) is not None:
        game.end()
        read += 1
    return count, ours, read / (time.process_time() - started)


def counting() -> Iterator[tuple[str, int, float, float]]:
    """Name, nodes, our CPU seconds and python-chess's nodes per second of perft."""
    for name, text, depth in (("start", START, 6), ("kiwipete", KIWIPETE, 5)):
        words = position(text)
        perft(words, 1)
        started = time.process_time()
        nodes = perft(words, depth)
        ours = time.process_time() - started
        board = chess.Board(text)
        started = time.process_time()
        theirs = _perft(board, 3)
        yield f"{name} to depth {depth}", nodes, ours, theirs / (time.process_time() - started)


def _perft(board: chess.Board, depth: int) -> int:
    if depth == 1:
        return board.legal_moves.count()
    nodes = 0
    for move in board.legal_moves:
        board.push(move)
        nodes += _perft(board, depth - 1)
        board.pop()
    return nodes
