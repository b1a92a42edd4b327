"""scikit-learn and the csv module read what is written."""

import csv

import numpy as np
import pytest

from tests.tuner.datasets.rows.support import SMALL, random_rows
from tuner.datasets.rows import formats
from tuner.datasets.rows.values import RowBatch


def test_scikit_learn_reads_what_we_write(tmp_path):
    datasets = pytest.importorskip("sklearn.datasets", reason="scikit-learn is not installed")
    rows = random_rows(9, 60)
    rows = rows._replace(outcome=np.nan_to_num(rows.outcome))
    path = str(tmp_path / "rows.svm")
    formats.write(path, [rows], SMALL)
    matrix, label, game = datasets.load_svmlight_file(
        path, n_features=SMALL.size + 1, zero_based=True, query_id=True
    )
    assert np.array_equal(label, (rows.outcome.astype(float) + 1) / 2) and np.array_equal(
        game.view(np.uint64), rows.game
    )
    assert np.array_equal(matrix[:, 0].toarray().ravel(), rows.phase)
    assert np.array_equal(matrix[:, 1:].astype(np.float32).toarray(), matrix_of(rows))


def matrix_of(rows: RowBatch) -> np.ndarray:
    dense = np.zeros((len(rows.phase), SMALL.size), np.float32)
    dense[np.repeat(np.arange(len(dense)), np.diff(rows.row)), rows.index] = rows.count
    return dense


def test_csv_has_a_column_for_each_field_and_number(tmp_path):
    rows = random_rows(11, 60)
    formats.write(tmp_path / "rows.csv", [rows], SMALL)
    with open(tmp_path / "rows.csv", newline="") as stream:
        header, *lines = csv.reader(stream)
    first = header.index(SMALL.labels()[0])
    assert header[first:] == SMALL.labels() and len(lines) == 60
    assert np.array_equal(np.float32([line[first:] for line in lines]), matrix_of(rows))
