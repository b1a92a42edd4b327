"""Generate the bundled sample games of shogi with Fairy-Stockfish.

    python examples/sample_games/shogi.py --games 5000 -o games/samples/fairy400.csa.zst

Each game starts with eight random legal plies; then the engine plays both sides at a fixed number
of nodes a move. Nothing is adjudicated: a game ends by the rules, or undecided after 400 plies.
Game i depends on the seed and i alone, so that the file does not depend on the number of workers;
it is written after every thousand games. Needs Debian's package `fairy-stockfish` (11.1)."""

import argparse
import multiprocessing
import os
import random
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import zstandard

from games.protocol.player import EnginePlayer
from games.record import PLIES, RULES, Control, PlayedGame
from games.shogi.engines.contest import external
from games.shogi.files.csa import game_text
from games.shogi.rules.endings import ending, result
from games.shogi.rules.movegen import moves_of, play
from games.shogi.rules.position import START

RANDOM_PLIES, NODES, LONGEST, SHARE = 8, 400, 400, 25
WRITTEN = 40  # shares after which the file is written again


def played(engine: EnginePlayer, seed: int, number: int) -> PlayedGame:
    """Play a game."""
    rng = random.Random(f"{seed}.{number}")
    line: list[np.ndarray] = [START.copy()]
    moves: list[int] = []
    engine.begin(f"{seed}/{number}/1/0", line[0])
    while ending(line) is None and len(moves) < LONGEST:
        legal = sorted(moves_of(line[-1]))
        moves.append(
            rng.choice(legal)
            if len(moves) < RANDOM_PLIES
            else engine.choose(np.array(line), moves, None).move
        )
        after = np.empty_like(line[-1])
        play(line[-1], moves[-1], after)
        line.append(after)
    name = f"Fairy-Stockfish 11.1, {NODES} nodes"
    outcome = result(line)
    return PlayedGame(
        np.array(line),
        moves,
        min(RANDOM_PLIES, len(moves)),
        [],
        [],
        outcome,
        PLIES if outcome is None else RULES,
        players=(name, name),
        round=str(number + 1),
        control=f"{NODES} nodes a move",
        event="evaltune samples",
    )


def play_share(task: tuple[str, int, range]) -> list[tuple[bytes, str]]:
    """Play one share of the numbers with one engine process; returns the moves and the text of each
    game."""
    command, seed, numbers = task
    engine = external("usi", command, {"Threads": "1"}, Control(nodes=NODES), 1)
    try:
        games = [played(engine, seed, number) for number in numbers]
    finally:
        engine.close()
    return [(np.array(game.moves, np.uint32).tobytes(), game_text(game)) for game in games]


def write(output: Path, texts: Iterable[str]) -> None:
    """Write the games, compressed, in place of the file."""
    temporary = output.with_suffix(".tmp")
    temporary.write_bytes(zstandard.ZstdCompressor(level=19).compress("".join(texts).encode()))
    os.replace(temporary, output)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--games", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    parser.add_argument("--engine", default="/usr/games/fairy-stockfish")
    options = parser.parse_args()

    tasks = [
        (options.engine, options.seed, range(start, min(start + SHARE, options.games)))
        for start in range(0, options.games, SHARE)
    ]
    distinct: dict[bytes, str] = {}
    with multiprocessing.Pool(options.workers) as pool:
        for number, games in enumerate(pool.imap(play_share, tasks), 1):
            for moves, text in games:
                distinct.setdefault(moves, text)
            if number % WRITTEN == 0 or number == len(tasks):
                write(options.output, distinct.values())
    print(
        f"{len(distinct)} distinct games of {options.games}, {options.output.stat().st_size:,}"
        " bytes"
    )


if __name__ == "__main__":
    main()
