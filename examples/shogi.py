"""Tune the values of pieces on the board and in hand, in shogi: python examples/shogi.py [FOLDER]

A position is a SFEN. `tuner usi learned.yaml` plays with the learned file in any shogi program."""

import sys
import tempfile
from pathlib import Path

import tuner

# Black has a horse on the board, White a bishop in hand
POSITION = "lnsgkgsnl/1r5+B1/pppppp1pp/6p2/9/2P6/PP1PPPPPP/7R1/LNSGKGSNL w b 1"


def main(folder: Path) -> None:
    start = tuner.load("shogi/classic")
    print(start.explain(POSITION))
    learned = tuner.tune(
        start,
        "samples",
        output=folder / "learned.yaml",
        run=folder / "run",
        only=("material.*", "hand.*"),
        method="logistic",
        per_game=4,
    )
    print(learned)
    print("expected score of Black:", learned.evaluation.expected_score(POSITION))
    print(tuner.play_match(learned.evaluation, start, games=20, depth=1, run=folder / "match"))
    print("the report:", tuner.write_report(learned.run, matches=[folder / "match"]))


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp()))
