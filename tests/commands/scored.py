"""Positions with scores whose results have known chances, as a file of labeled positions."""

from pathlib import Path

import numpy as np

from games.chess.files.fen import position
from games.chess.game import STOCK
from tests.games.support import random_boards
from tuner.statistics.wdl import WdlModel

CHANCES = WdlModel(np.array([150.0, -60.0]), np.array([60.0, 0.0]))


def scored_positions(path: Path, number: int = 400) -> Path:
    """Write so many positions, of White's view, and return their file."""
    dice = np.random.default_rng(5)
    boards = [board.copy() for board in random_boards(5, number // 40 + 20, 120)]
    lines = []
    for i in dice.choice(len(boards), number, replace=False):
        fen = boards[i].fen()
        share = STOCK.shares(STOCK.count(position(fen)[None]))[0]
        score = round(dice.normal(0, 150))
        chances = CHANCES.chances(score, share)
        result = dice.choice([1.0, 0.5, 0.0], p=[float(part) for part in chances])
        lines.append(f"{fen} | {score} | {result}\n")
    path.write_text("".join(lines))
    return path
