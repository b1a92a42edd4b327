"""Shared by the tests of tic-tac-toe: all positions, random games, reading a file."""

import random
from functools import cache
from pathlib import Path

import numpy as np

from games.record import PositionBatch, ReadOptions, ReadReport
from games.tictactoe.game import GAME

RESULTS = {1: "1-0", 0: "1/2-1/2", -1: "0-1"}


@cache
def all_positions() -> dict[str, list[str]]:
    """Every position that a game leads to, and those that one move makes of it."""
    found: dict[str, list[str]] = {}
    pending = [GAME.text(GAME.start())]
    while pending:
        text = pending.pop()
        if text not in found:
            words = GAME.position(text)
            found[text] = [GAME.text(GAME.play(words, move)) for move in GAME.legal_moves(words)]
            pending += found[text]
    return found


def random_games(seed: int, games: int) -> list[str]:
    """Random games as lines of a file."""
    rng, found = random.Random(seed), []
    for _ in range(games):
        line, moves = [GAME.start()], []
        while (result := GAME.result(line)) is None:
            move = rng.choice(GAME.legal_moves(line[-1]))
            moves.append(GAME.move_text(line[-1], move))
            line.append(GAME.play(line[-1], move))
        found.append(" ".join([RESULTS[result], *moves]))
    return found


def read(path: Path, **options) -> tuple[list[PositionBatch], ReadReport, list[str]]:
    """Batches, report and notes; all positions of all games by default."""
    options = {"positions": "all", "skip_start": 0, "duplicates": "keep"} | options
    report, notes = ReadReport(), []
    return (
        list(GAME.files.read(str(path), ReadOptions(**options), report, notes.append)),
        report,
        notes,
    )


def texts(batches: list[PositionBatch]) -> list[str]:
    """The positions of batches as text."""
    return [GAME.text(words) for batch in batches for words in np.asarray(batch.positions)]
