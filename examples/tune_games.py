"""Tune piece values on the bundled games: python examples/tune_games.py [FOLDER]

For your own games name their files in place of "samples", and leave out the second line of options,
which is here to finish in seconds: the default method learns from searches of their positions,
which makes stronger evaluations than results alone."""

import sys
import tempfile
from pathlib import Path

import tuner


def main(folder: Path) -> None:
    classic = tuner.load("classic")
    learned = tuner.tune(
        classic,
        "samples",
        output=folder / "learned.yaml",
        run=folder / "run",
        only="material.*",
        method="logistic",
        per_game=4,
    )
    print(learned)
    print(classic.compare(learned.evaluation))
    print("the report:", tuner.write_report(learned.run))


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp()))
