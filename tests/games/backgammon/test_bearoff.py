"""The bear-off table against gnubg's, and against a search of a few small positions."""

import functools

import numpy as np
import pytest

from games.backgammon import bearoff
from games.backgammon.board import counts_of, packed, with_dice
from games.backgammon.rules import afterstates


def side(*points: int) -> np.ndarray:
    """A position of the first player with these counts on points 1 to 6, the second with one checker on its ace point."""
    counts = np.zeros((2, 26), np.int64)
    counts[0, 1:1 + len(points)] = points
    counts[1, 1] = 1
    counts[:, 0] = 15 - counts.sum(1)
    return packed(counts)


def test_every_row_is_a_distribution_and_has_a_position():
    table = bearoff.table()
    assert table.shape == (54_264, 32) and abs(table[1:].sum(1) - 1).max() < 1e-5
    sides = bearoff._sides()
    found = [bearoff._row(np.array([*sides[row], 0, 0, 0], np.uint64), 0) for row in range(0, bearoff.ROWS, 97)]
    assert found == list(range(0, bearoff.ROWS, 97))


def test_distributions_are_those_of_gnubg(step=23):
    """gnubg keeps 16 bits of each probability. Where two moves have means as good as equal it may take the other, which happens
    in 220 rows; means agree in all."""
    gnubg = pytest.importorskip("gnubg_nn", reason="needs gnubg-nn")
    counts, table, close, rolls = bearoff.counts_of_rows(), bearoff.table(), [], np.arange(1, 33)
    for row in range(1, bearoff.ROWS, step):
        expected = np.zeros(32)
        found = gnubg.bearoff_probabilities(tuple(counts[row].tolist()))
        expected[:len(found)] = found
        close.append(abs(table[row] - expected).max() < 1e-4)
        assert abs(table[row] - expected).max() < 3e-3
        assert abs(table[row] @ rolls - expected @ rolls / expected.sum()) < 2.5e-4
    assert np.mean(close) > 0.99


@functools.cache
def mean(points: tuple[int, ...]) -> float:
    """The mean number of rolls, by the rules alone."""
    if not any(points):
        return 0.0
    total = 0.0
    for a in range(1, 7):
        for b in range(1, a + 1):
            after, _ = afterstates(with_dice(side(*points), (a, b)))
            best = min(mean(tuple(counts_of(each)[0, 1:7].tolist())) for each in after)
            total += (1 + best) * (1 if a == b else 2) / 36
    return total


@pytest.mark.parametrize("points", [(1, 0, 0, 0, 0, 1), (0, 2, 0, 1, 0, 0), (3, 0, 0, 0, 1, 0), (0, 0, 0, 0, 0, 2)])
def test_means_are_those_of_a_search(points):
    found = bearoff.rolls(side(*points), 0)
    assert abs(found @ np.arange(1, 33) - mean(points)) < 1e-5


def test_the_chance_to_win_a_race():
    assert bearoff.win_chance(side(1)) == 1
    two = packed(np.array([[13, 0, 0, 0, 0, 0, 2, *[0] * 19], [14, 1, *[0] * 24]]), False)
    assert abs(bearoff.win_chance(two) - bearoff.rolls(two, 0)[0]) < 1e-7  # a six-six, or five-five and so on
    with pytest.raises(ValueError, match="not all checkers are at home"):
        bearoff.rolls(packed(np.array([[14, *[0] * 6, 1, *[0] * 18], [14, 1, *[0] * 24]])), 0)


def test_the_table_is_kept(monkeypatch, tmp_path):
    monkeypatch.setenv("EVALTUNE_CACHE", str(tmp_path))
    bearoff.table.cache_clear()
    table = bearoff.table()
    (path,) = tmp_path.glob("bearoff-*/table.npy")
    bearoff.table.cache_clear()
    monkeypatch.setattr(bearoff, "compute", None)  # not called again
    assert (bearoff.table() == table).all()
    monkeypatch.undo()
    path.write_bytes(path.read_bytes()[:1000])
    monkeypatch.setenv("EVALTUNE_CACHE", str(tmp_path))
    bearoff.table.cache_clear()
    assert (bearoff.table() == table).all()
    bearoff.table.cache_clear()
