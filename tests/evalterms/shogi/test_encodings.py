"""What networks see of a shogi position, from the text of SFEN."""

import numpy as np

from evalterms.shogi.encodings import ENCODINGS, HELD, KINDS, SIDE
from games.record import find
from games.shogi.rules.squares import SQUARES
from tests.tuner.evaluation.networks.support import counts_of_positions

GAME = find("shogi")
LETTERS = ["p", "l", "n", "s", "g", "b", "r", "k", "+p", "+l", "+n", "+s", "+b", "+r"]
HANDS = "plnsbrg"


def some_positions(games: int) -> np.ndarray:
    """Positions of random games."""
    random, found = np.random.default_rng(2), []
    for _ in range(games):
        line = [GAME.start()]
        while len(line) < 200 and GAME.result(line) is None:
            moves = GAME.legal_moves(line[-1])
            line.append(GAME.play(line[-1], moves[random.integers(len(moves))]))
        found += line
    return np.array(found)


def counts_of_text(text: str) -> np.ndarray:
    """The counts of a position in SFEN."""
    board, mover, hands, *_ = text.split()
    found = np.zeros((2, SIDE), int)  # Black's and White's
    for row, line in enumerate(board.split("/")):
        column, promoted = 0, ""
        for letter in line:
            if letter.isdigit():
                column += int(letter)
            elif letter == "+":
                promoted = "+"
            else:
                r, c = (row, column) if mover == "b" else (8 - row, 8 - column)
                kind = LETTERS.index(promoted + letter.lower())
                found[int(letter.islower()), SQUARES * kind + 72 - 9 * r + c] = 1
                column, promoted = column + 1, ""
    number = ""
    for letter in hands.replace("-", ""):
        if letter.isdigit():
            number += letter
        else:
            place = KINDS * SQUARES + HANDS.index(letter.lower())
            found[int(letter.islower()), place] = int(number or 1)
            number = ""
    return found[:: 1 if mover == "b" else -1].ravel()


def test_men_are_those_of_the_text():
    positions, encoding = some_positions(12), ENCODINGS["men2282"]
    assert encoding.size == 2 * SIDE == 2282 and len(HANDS) == HELD
    found = counts_of_positions(encoding, positions)
    expected = np.array([counts_of_text(GAME.text(words)) for words in positions])
    np.testing.assert_array_equal(found, expected)
    assert found[:, KINDS * SQUARES : SIDE].any(axis=0).all()  # each kind was in hand
    assert found.sum(axis=0)[8 * SQUARES : 14 * SQUARES].sum() > 50  # and some were promoted
