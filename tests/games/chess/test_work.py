"""Reading takes time in proportion to the bytes, whatever they are: measured by byte accesses, not by the clock."""

from __future__ import annotations

import json

import pytest

from tests.games.chess.rubbish import RUBBISH
from tests.games.test_plain import plain

MOST = 32  # looks at a byte, of any kind of rubbish


@pytest.fixture(scope="module")
def looks() -> dict[str, dict[str, list[int]]]:
    finished = plain("-m", "tests.games.chess.work")
    assert finished.returncode == 0, finished.stderr
    return json.loads(finished.stdout)


@pytest.mark.parametrize("reader", ["games.chess.pgn", "games.chess.epd"])
@pytest.mark.parametrize("kind", RUBBISH)
def test_twice_as_many_bytes_are_looked_at_twice_as_often(reader, kind, looks):
    few, many = looks[reader][kind]
    assert many <= MOST * len(RUBBISH[kind](4000))
    assert many <= 2.5 * few + 1000
