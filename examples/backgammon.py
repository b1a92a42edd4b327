"""Train a network of backgammon by self-play, tune an evaluation on the bundled games, and play a
match between the two: python examples/backgammon.py [FOLDER]

The result is in points a game, also with less luck (docs/backgammon.md)."""

import sys
import tempfile
from pathlib import Path

import tuner

START = "4HPwATDgc/ABMA"  # the position ID of gnubg


def main(folder: Path) -> None:
    network = tuner.learn_by_selfplay(
        "backgammon", games=10_000, hidden=(20,), run=folder / "network"
    )
    print(network)
    learned = tuner.tune("backgammon/classic", "samples", output=folder / "learned.yaml")
    print(learned)
    for player in (network.learned, learned.evaluation):
        print(player, player.evaluate(START))
    result = tuner.play_match(network.learned, learned.evaluation, games=100, run=folder / "match")
    print(result)
    print("the report:", tuner.write_report(folder / "match"))


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp()))
