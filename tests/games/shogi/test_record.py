"""The record of shogi does what every game's record must."""

from __future__ import annotations

import pytest

from games.conformance import checks_of
from games.shogi.shogi import GAME


@pytest.mark.parametrize("check", checks_of(GAME), ids=lambda check: check.__name__)
def test_shogi_conforms(check):
    check()
