"""Every field of a side against python-chess, by a term that counts every square of every field."""

import chess
import numpy as np
import pytest

from evalterms.chess.view import Side
from evalterms.framework.compose import compose
from evalterms.term import Term
from games.bits import lowest, without_lowest
from games.chess.files.fen import fen
from games.record import find
from tests.evalterms.chess import brute_force
from tests.evalterms.support import some_positions
from tuner.evaluation.engine import CompiledTerms
from tuner.parameters.parameters import layout_of

fields = Term("fields")
for name in Side._fields:
    fields.parameter(name, 8, 8)


@fields.counts
def count_fields(us, them, emit):
    """Every square of every field."""
    base = 0
    for squares in us:
        while squares:
            emit(base + lowest(squares), 1)
            squares = without_lowest(squares)
        base += 64


KINDS = {
    "pawn": chess.PAWN,
    "knight": chess.KNIGHT,
    "bishop": chess.BISHOP,
    "rook": chess.ROOK,
    "queen": chess.QUEEN,
    "king": chess.KING,
}


def squares_of(us: brute_force.Side, field: str) -> list[int]:
    """Squares of one field, as White numbers them."""
    if field.endswith("_attacks") and (kind := KINDS.get(field.removesuffix("_attacks"))):
        return [square for square in chess.SQUARES if us.attacks(square, kind)]
    if kind := KINDS.get(field.removesuffix("s")):
        return us.squares(kind)
    least = {"attacks": 1, "double_attacks": 2}
    if field in least:
        return [square for square in chess.SQUARES if len(us.attackers[square]) >= least[field]]
    return list(us.men)


@pytest.fixture(scope="module")
def engine():
    return CompiledTerms(find("chess"), compose("chess", [fields]), layout_of([fields]))


def test_every_field_of_both_sides_agrees_with_python_chess(engine):
    rows = some_positions("chess")[::40].copy()
    found = engine.coefficients(rows).dense(engine.layout.size).astype(int)
    for words, row in zip(rows, found, strict=True):
        board, expected = chess.Board(fen(words)), np.zeros(engine.layout.size, int)
        for colour, sign, turned in ((chess.WHITE, 1, 0), (chess.BLACK, -1, 56)):
            side = brute_force.Side(board, colour)
            for i, name in enumerate(Side._fields):
                if name == "to_move":
                    expected[64 * i] += sign * (board.turn == colour)
                else:
                    for square in squares_of(side, name):
                        expected[64 * i + (square ^ turned)] += sign
        assert (row == expected).all(), fen(words)
