"""A dataset of random games, and a copy of it to damage."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from tests.tuner.datasets.support import sample_in


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    return sample_in(tmp_path_factory.mktemp("dataset") / "data", openings=np.arange(30) % 7)


@pytest.fixture
def copy(sample, tmp_path):
    """Return the path of a copy of the dataset, to damage."""
    return Path(shutil.copytree(sample.data.path, tmp_path / "copy"))
