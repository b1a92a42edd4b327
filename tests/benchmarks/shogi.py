"""The rules of shogi against cshogi at full length: `pytest tests/benchmarks/shogi.py` (about half an hour)."""

from __future__ import annotations

import pytest

pytest.importorskip("cshogi")

from games.shogi import endings, perft, sfen
from tests.games.shogi import against_cshogi
from tests.games.shogi.test_rules import PERFT, SPARSE


@pytest.mark.parametrize("text", PERFT)
def test_perft_gives_the_published_counts_at_all_depths(text):
    assert tuple(perft.perft(sfen.position(text), depth) for depth in range(1, len(PERFT[text]) + 1)) == PERFT[text]


def test_a_million_random_positions_have_the_legal_moves_that_cshogi_gives():
    assert against_cshogi.play_games(1_000_000, seed=3)[endings.MATE] > 1_000


def test_ten_thousand_games_end_as_cshogi_says():
    ends = against_cshogi.end_games(SPARSE, 10_000, seed=4)
    assert min(ends[end] for end in (endings.MATE, endings.REPETITION, endings.PERPETUAL_CHECK)) > 100
