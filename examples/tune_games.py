"""Tune piece values on games in PGN: python examples/tune_games.py [FOLDER]

The second line of options is here to finish in seconds. Leave it out for your own games: the default method learns from searches
of their positions, which makes stronger evaluations than results alone.
"""

import sys
import tempfile
from pathlib import Path

import tuner


def main(folder: Path) -> None:
    classic = tuner.load("classic")
    learned = tuner.tune(classic, "games/samples/stockfish400.pgn.zst", output=folder / "learned.yaml", run=folder / "run",
                         only="material.*", method="logistic", per_game=4)
    print(learned)
    print(classic.compare(learned.evaluation))
    print("the report:", tuner.write_report(learned.run))


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp()))
