"""Learn piece values from labeled positions: python examples/labelled_positions.py [FOLDER]

The first half writes an EPD file, one position and its result per line, from games that
python-chess reads. The `id` names the game: positions of one game share its result, and standard
errors take that into account."""

import io
import sys
import tempfile
from importlib.resources import files
from pathlib import Path

import chess.pgn
import zstandard

import tuner

GAMES, EVERY = 300, 8  # games to read; one position of every 8 plies


def write_positions(path: Path) -> None:
    with (
        (files("games") / "samples/stockfish400.pgn.zst").open("rb") as packed,
        open(path, "w", encoding="utf-8") as out,
    ):
        games = io.TextIOWrapper(
            zstandard.ZstdDecompressor().stream_reader(packed), encoding="utf-8"
        )
        for number in range(GAMES):
            game = chess.pgn.read_game(games)
            for node in list(game.mainline())[EVERY::EVERY]:
                print(
                    f'{node.board().epd()} c9 "{game.headers["Result"]}"; id "game {number}";',
                    file=out,
                )


def main(folder: Path) -> None:
    write_positions(folder / "positions.epd")
    learned = tuner.tune(
        "material", folder / "positions.epd", output=folder / "learned.yaml", only="material.*"
    )
    print(learned)
    print(
        {
            name: learned.evaluation[name]
            for name in learned.evaluation
            if name.startswith("material.")
        }
    )


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp()))
