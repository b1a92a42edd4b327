"""Play a match between two evaluations and write its games: python examples/match.py [FOLDER]

Twenty games are far too few to tell anything about strength: see docs/matches.md for how
many it takes."""

import sys
import tempfile
from pathlib import Path

import tuner


def main(folder: Path) -> None:
    result = tuner.play_match(
        "classic", "material", games=20, depth=2, pgn=folder / "games.pgn", run=folder / "match"
    )
    print(result)
    print("points of classic:", result.wins + result.draws / 2)
    print("the report:", tuner.write_report(folder / "match"))


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp()))
