"""Speed of reading games, move generation and search, compared to python-chess and other engines on
the same input."""

import io
import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import chess
import chess.engine
import chess.pgn

from games.chess.files import pgn
from games.chess.files.fen import START, position
from games.chess.rules.perft import perft
from games.streams import pieces
from tests.benchmarks.speed import seconds_of_process

LIGHT = "pesto"  # an evaluation of material and piece-square tables only, measured too
REFERENCE = "python-chess"
# games a CPU second; million nodes a CPU second, also with the light evaluation; games a CPU
# second; then of a dataset: million positions a CPU second counted, read and counted, and passed
# over; CPU seconds and megabytes of a fit; of self-play with learning: CPU seconds of learning and
# writing, in percent of those of playing
TARGETS = {
    "reading": 80_000,
    "exact": 7.0,
    "light": 7.0,
    "selfplay": 15.0,
    "coefficients": 3.0,
    "file": 1.0,
    "pass": 20.0,
    "fit": 2.0,
    "memory": 150.0,
    "learning": 10.0,
}
TEXEL, HCE = "texel-tuner, published", "hce-tuner, published"
PUBLISHED = {
    "coefficients": (TEXEL, 0.48),
    "file": (TEXEL, 0.051),
    "fit": (TEXEL, 60.0),
    "memory": (HCE, 104.0),
}
REFERENCE_GAMES = 200
KIWIPETE = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"


def reading(games: Path) -> tuple[int, float, float]:
    """Return the games in a PGN file, our CPU seconds for all of them, and python-chess's games per
    CPU second."""
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
    """Yield name, nodes, our CPU seconds, and python-chess's nodes per second of perft."""
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


# positions from the opening to the endgame
SEARCHED = (
    START,
    "r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 3",
    "r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10",
    KIWIPETE,
    "2r3k1/pp3ppp/2n1b3/3p4/3P4/2PB1N2/P4PPP/R5K1 w - - 0 20",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
)
# UCI engines of Debian
ENGINES = {
    "toga2": (),
    "ethereal-chess": (),
    "stockfish": (("Use NNUE", "false"),),
}
ENGINE_SECONDS = 0.5  # per position; some engines ignore node limits


def engines_nodes() -> Iterator[tuple[str, float]]:
    """Yield name and nodes per CPU second of the installed UCI engines, on the same positions."""
    for name, options in ENGINES.items():
        path = shutil.which(name, path=os.pathsep.join([os.environ.get("PATH", ""), "/usr/games"]))
        if path is None:
            continue
        nodes = 0
        with chess.engine.SimpleEngine.popen_uci(path) as engine:
            engine.configure(dict(options))
            number = engine.transport.get_pid()
            started = seconds_of_process(number)
            for text in SEARCHED:
                info = engine.analyse(
                    chess.Board(text), chess.engine.Limit(time=ENGINE_SECONDS), game=text
                )
                nodes += info["nodes"]
            ended = seconds_of_process(number)
        if started is not None and ended is not None:
            yield name, nodes / (ended - started)
