"""What an evaluation thinks that pieces are worth: how much it changes when one is taken away."""

import random
import re

import numpy as np

from games.record import Game
from tuner.evaluation.evaluation import Evaluation

POSITIONS = 1000  # that are looked at
PIECE = re.compile(r"\+?[A-Za-z]")  # of a board by ranks; `+R` is a promoted rook of shogi
EMPTY = re.compile(r"\d+")


def piece_values(evaluation: Evaluation, positions: np.ndarray, seed: int = 1) -> dict[str, float]:
    """Return the worth of each kind of piece but the king in centipawns, for its owner: the mean
    change of the evaluation over positions (n, words) from which one piece of the kind, drawn at
    random, is taken away. Empty for games whose boards are not written by ranks (backgammon)."""
    game = evaluation.game
    if game.has_dice:
        return {}
    drawn = random.Random(seed)
    chosen = drawn.sample(range(len(positions)), min(POSITIONS, len(positions)))
    changed: list[tuple[str, int, int, np.ndarray]] = []  # kind, sign of its owner, position, after
    for place, text in zip(chosen, game.texts(positions[chosen]), strict=True):
        board, _, rest = text.partition(" ")
        pieces = list(PIECE.finditer(board))
        drawn.shuffle(pieces)
        for kind, piece in {each[0].upper(): each for each in pieces}.items():
            after = f"{board[: piece.start()]}1{board[piece.end() :]}"
            words = None if kind == "K" else _position(game, f"{_joined(after)} {rest}")
            if words is not None:
                changed.append((kind, 1 if piece[0].isupper() else -1, place, words))
    if not changed:
        return {}
    kinds, signs, places, changed_words = (
        np.array(column) for column in zip(*changed, strict=True)
    )
    rows = (evaluation.positions(words) for words in (positions[places], changed_words))
    before, without = (each.evaluations(evaluation.weights) for each in rows)
    lost = signs * (before - without)
    means = {kind: round(float(lost[kinds == kind].mean()), 1) for kind in set(kinds.tolist())}
    return dict(sorted(means.items(), key=lambda item: (item[1], item[0])))


def _joined(board: str) -> str:
    """Return a board in which empty squares beside each other are one number."""
    return EMPTY.sub(lambda digits: str(sum(map(int, digits[0]))), board)


def _position(game: Game, text: str) -> np.ndarray | None:
    """Return a position, or None if the rules do not allow it: a king may be in check, a castling
    right without its rook."""
    try:
        return game.position(text)
    except ValueError:
        return None
