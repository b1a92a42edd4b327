"""Tune a term of your own: python examples/own_term.py [FOLDER]

The term is in rook_terms.py beside this file. Its weights start at zero; they are learned, and all
others keep their values."""

import sys
import tempfile
from pathlib import Path

import tuner

TERMS = Path(__file__).with_name("rook_terms.py")


def main(folder: Path) -> None:
    start = tuner.load("classic", terms=[TERMS], add_missing=True)
    learned = tuner.tune(
        start,
        "samples",
        output=folder / "learned.yaml",
        only="rooks.*",
        per_game=2,
        method="logistic",
    )
    for name in ("rooks.connected", "rooks.behind_pawn"):
        print(
            name,
            {stage: round(float(number), 1) for stage, number in learned.evaluation[name].items()},
            "+/-",
            {
                stage: round(1.96 * float(error), 1)
                for stage, error in learned.evaluation.standard_errors(name).items()
            },
        )
    print(learned.evaluation.explain("4k3/8/8/3P4/8/8/8/R2RK3 w - - 0 1"))


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp()))
