"""Seven encodings of chess positions, three networks, three stages of the game

of a dissertation on networks trained by temporal differences (2019), section 3.2.1. Which side
won is learned from one position of each game that ended in mate: at a random ply of the last
half, of the last quarter, or the last position. The document: differences are "negligible and
statistically insignificant" at 0.5 and 0.75; at 1.0 the list of pieces is best.
"""

from __future__ import annotations

import io
import random
from pathlib import Path

import chess.pgn
import zstandard
from study import Study, mean_sd

import games

ENCODINGS = [
    "bitboard768",
    "mailbox64",
    "antisymmetric384",
    "pieces384",
    "pieces192",
    "compressed200",
    "compressed100",
]
NETWORKS = {  # hidden layers
    "small": "0",
    "medium": "64",
    "large": "{inputs},64",
}
STAGES = (0.5, 0.75, 1.0)
SAMPLES = Path(games.__file__).parent / "samples" / "stockfish400.pgn.zst"


def mated_games(most: int) -> list[list[str]]:
    """Return the positions of bundled games that end in mate, as FENs."""
    found: list[list[str]] = []
    with SAMPLES.open("rb") as packed:
        text = io.TextIOWrapper(zstandard.ZstdDecompressor().stream_reader(packed))
        while len(found) < most and (game := chess.pgn.read_game(text)) is not None:
            board, line = game.board(), [game.board().fen()]
            for move in game.mainline_moves():
                board.push(move)
                line.append(board.fen())
            if board.is_checkmate():
                found.append(line)
    return found


def write_positions(path: Path, lines: list[list[str]], stage: float) -> None:
    """Write one position of each game with the result."""
    draw = random.Random(1)
    rows = ["fen,result"]
    for line in lines:
        won = "1-0" if line[-1].split()[1] == "b" else "0-1"
        ply = int(draw.uniform(stage, 1.0) * (len(line) - 1))
        rows.append(f"{line[ply]},{won}")
    path.write_text("\n".join(rows) + "\n")


def main() -> None:
    study = Study(__doc__)
    repeats = 1 if study.quick else 3
    lines = mated_games(1500 if study.quick else 10_000)
    rows, bars = [], {}
    for stage in STAGES[1:2] if study.quick else STAGES:
        positions = study.folder / f"positions-{stage}.csv"
        write_positions(positions, lines, stage)
        for encoding in ENCODINGS[:2] if study.quick else ENCODINGS:
            for name, hidden in list(NETWORKS.items())[: 2 if study.quick else 3]:
                inputs = encoding.lstrip("abcdefghijklmnopqrstuvwxyz")
                found = study.tuner(
                    *("network", "classic", positions, "--method", "logistic"),
                    *("--encoding", encoding, "--hidden", hidden.format(inputs=inputs)),
                    *("--loss", "mse", "--repeats", repeats, "--held-out", 0.2),
                    *("--positions", "all", "-o", study.folder / "net.yaml"),
                )
                shares = [100 * one["winners"][-1]["value"] for one in found["repeats"]]
                rows.append((stage, encoding, name, mean_sd(shares)))
                bars.setdefault(f"{name}, {stage}", []).append(
                    (len(bars.get(f"{name}, {stage}", [])), sum(shares) / len(shares))
                )
    study.picture("encoding, in the order of the table", "winners predicted, %", bars)
    held = found["held_out_positions"]
    study.finish(
        ("stage", "encoding", "network", "winners predicted, %, mean ± SD"),
        rows,
        f"{len(lines):,} games, of which {held:,} are held out: one standard error of a share near"
        f" 80 % is {100 * (0.16 / held) ** 0.5:.1f} points. The document had 550,000.",
        "At stage 1.0 all positions are mates: who is to move has lost, and gives the label away.",
    )


if __name__ == "__main__":
    main()
