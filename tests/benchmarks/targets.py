"""Every target of speed is reached: `pytest tests/benchmarks/targets.py` on an idle machine."""

import pytest

from tests.benchmarks.speed.__main__ import ROWS, measured


@pytest.mark.parametrize("name", ROWS)
def test_the_target_is_reached(name):
    assert [row for row in measured([name], "classic", None)["rows"] if row["met"] is False] == []
