"""Generate the bundled sample games with Stockfish.

    python games/chess/make_games.py --games 6300 -o games/samples/stockfish400.pgn.zst

Each game starts with eight uniformly random legal plies from the initial position; then Stockfish
plays both sides at a fixed number of nodes a move with its classical evaluation. Nothing is
adjudicated: a game ends by mate, stalemate, insufficient material, threefold repetition or the
fifty-move rule. Game i depends on the seed and i alone, so the file does not depend on the number
of workers. Needs Debian's package `stockfish` (15.1: the last release line with a classical
evaluation)."""

from __future__ import annotations

import argparse
import multiprocessing
import os
import random
from pathlib import Path

import chess
import chess.engine
import chess.pgn
import zstandard
from rich.progress import track

RANDOM_PLIES = 8
NODES = 400


def random_opening(rng: random.Random) -> chess.Board:
    """Eight random plies from the initial position, drawn again when the game ends within them."""
    while True:
        board = chess.Board()
        for _ in range(RANDOM_PLIES):
            moves = sorted(board.legal_moves, key=chess.Move.uci)
            if not moves:
                break
            board.push(rng.choice(moves))
        if not board.is_game_over(claim_draw=True):
            return board


def play(engine: chess.engine.SimpleEngine, seed: int, number: int) -> str:
    """One game as PGN text."""
    board = random_opening(random.Random(f"{seed}.{number}"))
    limit = chess.engine.Limit(nodes=NODES)
    while not (board.is_game_over() or board.halfmove_clock >= 100 or board.is_repetition(3)):
        move = engine.play(board, limit, game=number).move
        assert move is not None, "the game is not over"
        board.push(move)
    outcome = board.outcome(claim_draw=True)
    assert outcome is not None, "the game is over"
    game = chess.pgn.Game.from_board(board)
    game.headers.clear()
    game.headers["Event"] = "evaltune samples"
    game.headers["Round"] = str(number + 1)
    game.headers["White"] = game.headers["Black"] = f"Stockfish 15.1 classical, {NODES} nodes"
    game.headers["Result"] = outcome.result()
    return str(game)


def play_share(task: tuple[str, int, range]) -> list[str]:
    """The games of one share of the numbers, with one engine process."""
    command, seed, numbers = task
    with chess.engine.SimpleEngine.popen_uci(command) as engine:
        engine.configure({"Use NNUE": False, "Threads": 1, "Hash": 1})
        return [play(engine, seed, number) for number in numbers]


def movetext(game: str) -> str:
    return game.split("\n\n", 1)[1]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--games", type=int, default=6300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    parser.add_argument("--stockfish", default="/usr/games/stockfish")
    options = parser.parse_args()

    shares = [range(start, min(start + 25, options.games)) for start in range(0, options.games, 25)]
    tasks = [(options.stockfish, options.seed, share) for share in shares]
    distinct: dict[str, str] = {}
    with multiprocessing.Pool(options.workers) as pool:
        for games in track(pool.imap(play_share, tasks), total=len(tasks), description="games"):
            for game in games:
                distinct.setdefault(movetext(game), game)
    text = "\n\n".join(distinct.values()) + "\n"
    temporary = options.output.with_suffix(".tmp")
    temporary.write_bytes(zstandard.ZstdCompressor(level=19).compress(text.encode()))
    os.replace(temporary, options.output)
    print(
        f"{len(distinct)} distinct games of {options.games}, {options.output.stat().st_size:,}"
        " bytes"
    )


if __name__ == "__main__":
    main()
