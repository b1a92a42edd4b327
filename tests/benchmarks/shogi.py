"""The rules of shogi against cshogi at full length, and speeds: `pytest tests/benchmarks/shogi.py`
on an idle machine (about half an hour)."""

import random
import time

import pytest

pytest.importorskip("cshogi")

from games.search.searcher import Limits
from games.shogi.engines.contest import openings
from games.shogi.files import sfen
from games.shogi.game import GAME
from games.shogi.rules import endings, movegen
from tests.benchmarks.speed import Workload, samples_of
from tests.benchmarks.speed.play import searches
from tests.benchmarks.speed.shogi import LIGHT, TARGETS, counting
from tests.games.shogi import against_cshogi, files
from tests.games.shogi.plain_search import lines, plain_value
from tests.games.shogi.support import searcher_of
from tests.games.shogi.test_rules import PERFT, SPARSE


def test_perft_is_as_fast_as_its_target_and_faster_than_cshogi():
    for name, nodes, seconds, reference in counting():
        assert nodes / seconds > max(1e6 * TARGETS["perft"], reference), name


def test_the_search_is_as_fast_as_its_targets(tmp_path):
    rows = [
        row
        for row in searches(Workload("shogi/classic", samples_of("shogi/classic"), tmp_path))
        if row.what.startswith("search, exact")
    ]
    assert [row.what for row in rows] == ["search, exact, shogi/classic", f"search, exact, {LIGHT}"]
    assert [(row.what, row.value) for row in rows if row.value < row.target] == []


@pytest.mark.parametrize("name", ["hand", "classic"])
def test_self_play_three_plies_deep_is_four_games_a_cpu_second(name):
    """From positions of the bundled games, as the source begins its games."""
    searcher = searcher_of(name, playing=False, megabytes=4)
    found = openings(str(samples_of("shogi/hand")), pytest.fail)
    starts = [found[i] for i in range(20)]
    searcher.search([GAME.start()], Limits(depth=3))
    plies, started = 0, time.process_time()
    for start, moves in starts:
        searcher.clear()
        line = [start]
        for move in moves[:30]:
            line.append(GAME.play(line[-1], move))
        first = len(line)
        while GAME.result(line) is None and len(line) < first + 160:
            line.append(GAME.play(line[-1], searcher.search(line, Limits(depth=3)).move))
        plies += len(line) - first
    speed = len(starts) / (time.process_time() - started)
    assert speed >= 4.0, f"{speed:.2f} games of {plies / len(starts):.0f} plies a CPU second"


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
