"""Parts and unions of datasets hold the right games."""

from __future__ import annotations

import numpy as np
import pytest

from games.streams import InputError
from tests.tuner.datasets.support import COLUMNS, games_of, sample_in, with_manifest
from tuner.datasets import merge as module
from tuner.datasets.merge import merge, part
from tuner.datasets.reader import open_dataset


@pytest.mark.parametrize("most", [1 << 16, 3])
def test_a_part_holds_the_chosen_games_and_no_other(sample, tmp_path, monkeypatch, most):
    monkeypatch.setattr(module._copy_run, "__defaults__", (most,))
    chosen = np.flatnonzero(np.random.default_rng(2).random(30) < 0.5)
    found = part(sample.data, chosen, tmp_path / "part", "some")
    whole = games_of(sample.data)
    assert list(games_of(found).values()) == [whole[g] for g in chosen]
    assert found.manifest["options"] == {"part": "some"} and found.manifest["layout"] == sample.data.manifest["layout"]
    assert games_of(open_dataset(tmp_path / "part")) == games_of(found)


def test_a_part_without_games_is_refused(sample, tmp_path):
    with pytest.raises(InputError, match="would hold no game; choose another share or seed"):
        part(sample.data, np.zeros(0, np.int64), tmp_path / "part", "none")
    assert not (tmp_path / "part").exists()


def test_a_union_holds_every_game_once_in_the_order_of_the_datasets(sample, tmp_path):
    other = sample_in(tmp_path / "other", seed=2, identities=np.arange(20, 50)).data  # 20 to 30 are in both
    twice = sample_in(tmp_path / "twice", seed=3, identities=np.full(30, 99)).data  # the same game thirty times
    found = merge([sample.data, other, twice], tmp_path / "union")
    expected = [*games_of(sample.data).values(), *(g for g in games_of(other).values() if g[0] > 30), games_of(twice)[0]]
    assert list(games_of(found).values()) == expected
    assert [source["file"] for source in found.manifest["sources"]] == ["none"] * 3


def test_merged_parts_are_the_whole(sample, tmp_path):
    parts = [part(sample.data, np.arange(*span), tmp_path / name, name) for name, span in (("a", (0, 11)), ("b", (11, 30)))]
    assert games_of(merge(parts, tmp_path / "union")) == games_of(sample.data)


@pytest.mark.parametrize(("key", "value"), [("game", "other"), ("layout", [["a.b", [COLUMNS]]]), ("terms", "other"),
                                            ("phases", 25)])
def test_datasets_of_different_terms_are_not_merged(sample, copy, tmp_path, key, value):
    other = open_dataset(with_manifest(copy, **{key: value}))
    with pytest.raises(InputError) as caught:
        merge([sample.data, other], tmp_path / "union")
    assert str(caught.value) == f"{copy}: differs in {key} from {sample.data.path}; build both with the same terms"
    assert not (tmp_path / "union").exists()
