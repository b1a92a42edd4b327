"""The rules of shogi against cshogi at full length, and speeds: `pytest tests/benchmarks/shogi.py`
on an idle machine (about half an hour)."""

import random

import pytest

pytest.importorskip("cshogi")

from games.search.searcher import Limits
from games.shogi.files import sfen
from games.shogi.rules import endings, movegen
from tests.games.shogi import against_cshogi, files
from tests.games.shogi.plain_search import lines, plain_value
from tests.games.shogi.support import searcher_of
from tests.games.shogi.test_rules import PERFT, SPARSE


@pytest.mark.parametrize("text", PERFT)
def test_perft_gives_the_published_counts_at_all_depths(text):
    assert (
        tuple(movegen.perft(sfen.position(text), depth) for depth in range(1, len(PERFT[text]) + 1))
        == PERFT[text]
    )


def test_a_million_random_positions_have_the_legal_moves_that_cshogi_gives():
    assert against_cshogi.play_games(1_000_000, seed=3)[endings.MATE] > 1_000


def test_ten_thousand_games_end_as_cshogi_says():
    ends = against_cshogi.end_games(SPARSE, 10_000, seed=4)
    assert (
        min(ends[end] for end in (endings.MATE, endings.REPETITION, endings.PERPETUAL_CHECK)) > 100
    )


def test_two_thousand_csa_and_five_hundred_kif_games_are_read_as_cshogi_reads_them(tmp_path):
    rng = random.Random(7)
    for _ in range(100):
        files.compare_csa(tmp_path / "games.csa", rng, 20)
    for _ in range(500):
        files.compare_kif(tmp_path / "game.kif", rng)


def test_twenty_thousand_damaged_files_are_read_or_refused_in_one_line(tmp_path):
    accepted, refused = files.trials(tmp_path, 20_000, seed=8)
    assert min(accepted, refused) > 10_000


@pytest.mark.parametrize(("depth", "n"), [(1, 1500), (2, 400), (3, 40)])
def test_exact_values_are_those_of_plain_minimax_in_many_positions(depth, n):
    searcher = searcher_of("hand", playing=False, megabytes=1)
    for line in lines(depth + 20, n):
        assert searcher.search(line, Limits(depth=depth)).value == plain_value(
            searcher, line, depth
        ), sfen.text(line[-1])
