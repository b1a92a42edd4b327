"""Datasets of datasets.

Splits have whole openings, the same for the same seed, and no game or opening on both sides; parts
and unions hold the right games."""

from types import SimpleNamespace

import numpy as np
import pytest

from tests.support import refusal
from tests.tuner.datasets.support import COLUMNS, games_of, sample_in, with_manifest
from tests.tuner.support import random_coefficients, write_sample
from tuner.datasets import writing as module
from tuner.datasets.reader import open_dataset
from tuner.datasets.writing import merge, part, split_games


def games(seed: int, n: int, openings: int, identities: int | None = None) -> SimpleNamespace:
    """What a split depends on: games with random openings; with fewer identities than games, some
    come several times."""
    random = np.random.default_rng(seed)
    names = random.integers(0, 2**64, openings, np.uint64)
    game = np.arange(n) if identities is None else random.integers(0, identities, n)
    return SimpleNamespace(game=game.astype(np.uint64), opening=random.choice(names, n))


CASES = [
    games(seed, 300, openings, identities)
    for seed in range(10)
    for openings, identities in ((300, None), (20, None), (150, 200), (100, 280), (290, 290))
]


@pytest.mark.parametrize("data", CASES)
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_every_game_is_on_one_side_and_no_game_and_no_opening_on_both(data, share):
    kept, held = split_games(data, share, seed=1)
    assert sorted([*kept, *held]) == list(range(300))
    assert (np.diff(kept) > 0).all() and (np.diff(held) > 0).all()
    assert not np.isin(data.game[kept], data.game[held]).any()
    assert not np.isin(data.opening[kept], data.opening[held]).any()


def test_the_cases_distinguish_a_split_by_opening_alone_from_a_correct_one():
    """Some games come under two openings of different sides."""
    assert (
        sum(
            len(np.unique(data.opening[data.game == game])) > 1
            for data in CASES
            for game in np.unique(data.game)
        )
        > 100
    )


@pytest.mark.parametrize("share", [0.05, 0.1, 0.5, 0.8])
def test_the_share_held_out_is_the_one_wanted(share):
    data = games(3, 20_000, 18_000)
    for seed in (1, 2):
        assert len(split_games(data, share, seed)[1]) / 20_000 == pytest.approx(share, abs=0.02)


def test_nothing_is_held_out_for_a_share_of_nothing():
    kept, held = split_games(games(4, 50, 40), 0.0, 1)
    assert len(kept) == 50 and len(held) == 0


def test_a_split_is_the_same_for_the_same_seed_and_another_for_another():
    data = games(5, 1000, 900)
    for seed in (0, 1, 2**40):
        for first, again in zip(
            split_games(data, 0.3, seed), split_games(data, 0.3, seed), strict=True
        ):
            assert (first == again).all()
    sides = [np.isin(np.arange(1000), split_games(data, 0.3, seed)[1]) for seed in range(6)]
    for i in range(6):
        for j in range(i):
            # independent sides agree in 0.7 * 0.7 + 0.3 * 0.3 of the games
            assert (sides[i] == sides[j]).mean() == pytest.approx(0.58, abs=0.08)


def test_the_side_of_an_opening_does_not_depend_on_the_order_or_on_the_other_games():
    data = games(6, 1000, 900)
    _, held = split_games(data, 0.3, 1)
    expected = set(data.opening[held].tolist())
    order = np.random.default_rng(7).permutation(1000)[:600]
    fewer = SimpleNamespace(game=data.game[order], opening=data.opening[order])
    _, held = split_games(fewer, 0.3, 1)
    assert set(fewer.opening[held].tolist()) == expected & set(fewer.opening.tolist())


def test_openings_that_are_numbers_in_a_row_are_spread_as_well():
    data = SimpleNamespace(
        game=np.arange(5000, dtype=np.uint64), opening=np.arange(5000, dtype=np.uint64)
    )
    _, held = split_games(data, 0.2, 1)
    assert len(held) / 5000 == pytest.approx(0.2, abs=0.02)
    assert (np.diff(held) == 1).mean() == pytest.approx(0.2, abs=0.05)  # neighbors are not alike


def test_a_split_of_a_real_dataset_is_by_its_own_openings(tmp_path):
    random = np.random.default_rng(8)
    openings = random.integers(0, 30, 100)
    data = write_sample(
        tmp_path / "data",
        random_coefficients(random, 300, 3),
        np.zeros(300),
        np.full(100, 3),
        openings=openings,
    ).data
    kept, held = split_games(data, 0.3, 1)
    assert len(held) > 5
    assert not set(openings[kept]) & set(openings[held])


@pytest.mark.parametrize("most", [1 << 16, 3])
def test_a_part_holds_the_chosen_games_and_no_other(sample, tmp_path, monkeypatch, most):
    monkeypatch.setattr(module._copy_run, "__defaults__", (most,))
    chosen = np.flatnonzero(np.random.default_rng(2).random(30) < 0.5)
    found = part(sample.data, chosen, tmp_path / "part", "some")
    whole = games_of(sample.data)
    assert list(games_of(found).values()) == [whole[g] for g in chosen]
    assert (
        found.manifest["options"] == {"part": "some"}
        and found.manifest["layout"] == sample.data.manifest["layout"]
    )
    assert games_of(open_dataset(tmp_path / "part")) == games_of(found)


def test_a_part_without_games_is_refused(sample, tmp_path):
    assert "would hold no game; choose another share or seed" in refusal(
        part, sample.data, np.zeros(0, np.int64), tmp_path / "part", "none"
    )
    assert not (tmp_path / "part").exists()


def test_a_union_holds_every_game_once_in_the_order_of_the_datasets(sample, tmp_path):
    other = sample_in(
        tmp_path / "other", seed=2, identities=np.arange(20, 50)
    ).data  # 20 to 30 are in both
    twice = sample_in(
        tmp_path / "twice", seed=3, identities=np.full(30, 99)
    ).data  # the same game thirty times
    found = merge([sample.data, other, twice], tmp_path / "union")
    expected = [
        *games_of(sample.data).values(),
        *(g for g in games_of(other).values() if g[0] > 30),
        games_of(twice)[0],
    ]
    assert list(games_of(found).values()) == expected
    assert [source["file"] for source in found.manifest["sources"]] == ["none"] * 3


def test_merged_parts_are_the_whole(sample, tmp_path):
    parts = [
        part(sample.data, np.arange(*span), tmp_path / name, name)
        for name, span in (("a", (0, 11)), ("b", (11, 30)))
    ]
    assert games_of(merge(parts, tmp_path / "union")) == games_of(sample.data)


@pytest.mark.parametrize(
    ("key", "value"),
    [("game", "other"), ("layout", [["a.b", [COLUMNS]]]), ("terms", "other"), ("phases", 25)],
)
def test_datasets_of_different_terms_are_not_merged(sample, copy, tmp_path, key, value):
    other = open_dataset(with_manifest(copy, **{key: value}))
    assert (
        refusal(merge, [sample.data, other], tmp_path / "union")
        == f"{copy}: differs in {key} from {sample.data.path}; build both with the same terms"
    )
    assert not (tmp_path / "union").exists()
