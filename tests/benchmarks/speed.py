"""Every speed that `tuner bench` has a target for is reached: `pytest tests/benchmarks/speed.py` on
an idle machine."""

import json

import pytest

from tuner.cli import main
from tuner.commands.bench import ROWS


@pytest.mark.parametrize("name", ROWS)
def test_the_target_is_reached(name, capsys):
    assert main(["bench", name, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [row for row in rows if row["met"] is False] == []
