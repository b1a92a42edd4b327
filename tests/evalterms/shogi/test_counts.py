"""The counts of the terms of shogi against python-shogi; scores against counts; compiled code
against plain Python."""

import random
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

shogi = pytest.importorskip("shogi")

from games.shogi.files import sfen  # noqa: E402
from games.shogi.game import after  # noqa: E402
from games.shogi.rules import movegen  # noqa: E402
from games.shogi.rules.position import START  # noqa: E402
from tests.evalterms.shogi.brute_force import counts  # noqa: E402
from tuner.evaluation.loading import make_engine  # noqa: E402

CRAFTED = (
    "4k4/9/9/9/9/9/9/9/4K4 b RBGSNLP3g3s3n3l17p 7",
    "8k/1+R+B6/9/3+p+l+n+s2/4L4/3+P+L+N+S2/9/6+r+b1/K8 w - 9",
    "8k/9/2L3N2/1B3S3/4R4/3g1s3/9/8r/2K6 b b 1",
    "l7k/2l6/4n4/9/9/4N4/9/6L2/4K4 w 2G2g 33",
    "k8/9/9/2+P+L+N+S3/9/4+R+B3/9/9/8K b - 1",
)


def some_positions(games: int) -> list[np.ndarray]:
    """Positions of random games, and crafted ones with men of all kinds."""
    rng, found = random.Random(6), [sfen.position(text) for text in CRAFTED]
    for _ in range(games):
        words = START.copy()
        for ply in range(160):
            moves = movegen.moves_of(words)
            if not moves:
                break
            words = after(words, rng.choice(moves))
            if ply % 12 == 0:
                found.append(words)
    return found


def test_counts_are_those_of_the_second_implementation():
    engine, positions = make_engine("shogi"), some_positions(4)
    labels, rows = engine.layout.labels(), engine.coefficients(np.array(positions))
    met = Counter()
    for words, (first, last) in zip(positions, pairwise(rows.row), strict=True):
        found = {
            labels[i]: int(n)
            for i, n in zip(rows.index[first:last], rows.count[first:last], strict=True)
        }
        board = shogi.Board(sfen.text(words))
        expected = counts(board, shogi.BLACK)
        expected.subtract(counts(board, shogi.WHITE))
        assert found == {label: n for label, n in expected.items() if n}, sfen.text(words)
        met.update(label.split("[")[0] for label in found)
    assert {label.split("[")[0] for label in labels} - set(met) == set()


def test_turning_the_board_changes_the_sign():
    engine = make_engine("shogi")
    positions = np.array(some_positions(1))
    other = []
    for words in positions:
        board, white = sfen.board_of(words), int(words[13]) & 1
        hands = {
            (1 - owner, kind): n
            for owner in (0, 1)
            for kind, n in enumerate(sfen.hand_of(words, owner))
            if n
        }
        other.append(
            sfen.words_of(
                {80 - square: (1 - owner, kind) for square, (owner, kind) in board.items()},
                hands,
                1 - white,
                1,
            )
        )
    one, two = (
        engine.coefficients(np.array(rows)).dense(engine.layout.size).astype(int)
        for rows in (positions, other)
    )
    assert np.array_equal(one, -two)
