"""Make the bundled games of backgammon: pubeval against itself, to the end and without a cube, as
one money session.

    python examples/sample_games/backgammon.py -o pubeval.mat.zst

Dice are those of seed 1, so that the same games come out anywhere.
"""

import argparse
from pathlib import Path

import zstandard

from games.backgammon.files.mat import GameRecord, mat_text
from games.backgammon.rules.board import start
from games.backgammon.rules.dice import rolled
from games.backgammon.rules.play import afterstates, points, pubeval_move
from games.record import Dice

GAMES, SEED = 1200, 1


def play(number: int) -> GameRecord:
    """Return game `number`."""
    game = GameRecord(("pubeval", "pubeval"))
    words = start()
    while not points(words):
        words = rolled(words, Dice(SEED, number))
        after, moves = afterstates(words)
        k = pubeval_move(words, after)
        game.rolled.append(words)
        game.afterstates.append(after[k])
        game.moves.append(int(moves[k]))
        words = after[k]
    game.finish(None)
    return game


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("-o", "--output", type=Path, required=True)
    output = parser.parse_args().output
    games = [play(number) for number in range(GAMES)]
    for before, game in zip(games, games[1:], strict=False):
        won = before.points
        game.score = before.score[0] + max(won, 0), before.score[1] + max(-won, 0)
    output.write_bytes(zstandard.compress(mat_text(games).encode(), 19))


if __name__ == "__main__":
    main()
