"""Datasets on disk: what is written is read back, and what is not finished leaves nothing."""

import re
import resource
from dataclasses import replace

import numpy as np
import pytest

from tests.support import refusal
from tests.tuner.datasets.support import COLUMNS, dense, games_of
from tests.tuner.support import LAYOUT, write_sample
from tuner.datasets.dataset import Rows
from tuner.datasets.files import ARRAYS
from tuner.datasets.reader import open_dataset
from tuner.datasets.writing import DatasetWriter, copy_games, part
from tuner.learn.build import checked, require_learnable


def test_rows_are_the_dense_coefficients_and_nothing_else_is_lost(sample):
    data = sample.data
    assert (dense(data) == sample.coefficients).all()
    assert (data.count != 0).all() and len(data.index) == (sample.coefficients != 0).sum()
    for name in ("phase", "outcome", "weight"):
        assert (getattr(data, name) == getattr(sample, name)).all()
    assert (np.repeat(data.game, np.diff(data.first)) == sample.group).all()
    assert (data.games, data.columns, data.positions) == (30, COLUMNS, len(sample.phase))
    assert data.layout == LAYOUT


def test_three_bytes_a_nonzero_and_documented_types(sample):
    for name, kind in ARRAYS.items():
        array = np.load(sample.data.path / f"{name}.npy")  # any program reads these files
        assert array.dtype == kind and array.ndim == 1
    assert sum(np.dtype(ARRAYS[name]).itemsize for name in ("index", "count")) == 3


def test_the_pieces_in_which_a_dataset_is_written_change_nothing(sample, tmp_path):
    data = sample.data
    with DatasetWriter(tmp_path / "pieces") as writer:
        for a in range(0, data.positions, 7):
            writer.add_positions(data.rows(a, min(a + 7, data.positions)))
        writer.add_games(data.first[:-1], data.game, data.opening)
        writer.finish({key: value for key, value in data.manifest.items() if key != "format"})
    assert sorted(path.name for path in (tmp_path / "pieces").iterdir()) == sorted(
        p.name for p in data.path.iterdir()
    )
    for path in data.path.glob("*.npy"):
        assert path.read_bytes() == (tmp_path / "pieces" / path.name).read_bytes()


def test_the_last_column_that_an_index_can_name_is_kept(tmp_path):
    with DatasetWriter(tmp_path / "wide") as writer:
        writer.add_positions(
            Rows(
                np.array([0, 65535]),
                np.array([-128, 127]),
                np.array([0, 2]),
                np.zeros(1),
                np.ones(1),
            )
        )
        writer.add_games(
            np.zeros(1), np.array([2**64 - 1], np.uint64), np.array([2**63], np.uint64)
        )
        writer.finish(
            {
                "program": "",
                "game": "none",
                "sources": [],
                "options": {},
                "layout": [["a.b", [65536]]],
                "terms": "",
                "phases": 24,
                "stages": ["mg", "eg"],
            }
        )
    data = open_dataset(tmp_path / "wide")
    assert (data.index.tolist(), data.count.tolist()) == ([0, 65535], [-128, 127])
    assert (int(data.game[0]), int(data.opening[0]), float(data.weight[0])) == (
        2**64 - 1,
        2**63,
        1.0,
    )


def test_a_dataset_counted_with_other_terms_than_the_engines_is_refused(chess):
    engine, _, data = chess()
    assert checked(data, engine) is data
    for change, said in (
        ({"game": "tictactoe"}, "a dataset of tictactoe, expected chess"),
        (
            {"layout": [["material.pawn", []]]},
            "counted with different parameters (1 in place of 615)",
        ),
        ({"terms": "older"}, "counted by another version of the terms; build the dataset again"),
    ):
        assert refusal(checked, replace(data, manifest=data.manifest | change), engine).startswith(
            f"{data.path}: {said}"
        )


def test_an_unfinished_writer_leaves_nothing(sample, tmp_path):
    with pytest.raises(ZeroDivisionError), DatasetWriter(tmp_path / "new") as writer:
        writer.add_positions(Rows(np.zeros(1), np.ones(1), np.arange(2), np.zeros(1), np.zeros(1)))
        raise ZeroDivisionError
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("limit", [0, 130, 300])
def test_a_full_disk_is_reported_in_one_line_and_leaves_the_old_dataset(
    sample, copy, tmp_path, limit
):
    before, limits = games_of(sample.data), resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limits[1]))
    try:
        assert re.search(
            "copy: cannot be written: File too large$",
            refusal(copy_games, [(sample.data, np.arange(20))], copy, {}),
        )
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert games_of(open_dataset(copy)) == before
    assert list(tmp_path.iterdir()) == [copy]


def test_a_dataset_replaces_a_dataset_but_nothing_else(sample, copy, tmp_path):
    part(sample.data, np.arange(3), copy, "three")
    assert open_dataset(copy).games == 3
    assert list(tmp_path.iterdir()) == [copy]
    (tmp_path / "letters").mkdir()
    (tmp_path / "letters" / "dear.txt").write_text("dear")
    (tmp_path / "file").write_text("text")
    (tmp_path / "link").symlink_to(tmp_path / "gone")
    for name in ("letters", "file", "link"):
        assert re.search(
            f"{name}: exists and is not a dataset; choose another name",
            refusal(part, sample.data, np.arange(3), tmp_path / name, "three"),
        )
    assert (tmp_path / "letters" / "dear.txt").read_text() == "dear" and (
        tmp_path / "file"
    ).read_text() == "text"
    assert len(list(tmp_path.iterdir())) == 4


def test_nothing_can_be_learned_from_one_game_or_from_games_with_one_result(tmp_path):
    def data(outcomes):
        # a game without positions says nothing, also at the end
        lengths = np.array([2, 0, *[2] * (len(outcomes) - 1), 0])
        return write_sample(
            tmp_path / "data",
            np.ones((2 * len(outcomes), 1), np.int8),
            np.repeat(outcomes, 2),
            lengths,
        ).data

    require_learnable(data([1.0, -1.0]))
    require_learnable(data([0.0, 1.0]))
    for outcomes, said in (
        ([1.0], "only 1 game to learn from"),
        ([0.0] * 3, "every one of the 3 games is a draw"),
        ([1.0] * 3, "a win of the first player"),
        ([-1.0] * 3, "a loss of the first player"),
    ):
        assert re.search(said, refusal(require_learnable, data(outcomes)))
