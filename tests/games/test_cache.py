"""The location of the compile cache, the names of its folders, and their removal."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from games import cache


def test_the_name_of_a_unit_changes_with_every_source_and_the_salt(tmp_path):
    first, second = tmp_path / "a.py", tmp_path / "b.py"
    first.write_text("x = 1\n")
    second.write_text("y = 1\n")
    names = [cache.digest([first, second])]
    assert cache.digest([second, first]) == names[0]
    names.append(cache.digest([first, second], salt="other"))
    names.append(cache.digest([first]))
    second.write_text("y = 2\n")
    names.append(cache.digest([first, second]))
    second.rename(tmp_path / "c.py")
    names.append(cache.digest([first, tmp_path / "c.py"]))
    assert len(set(names)) == len(names)


def test_folders_that_were_not_used_for_a_month_are_removed(tmp_path):
    for name, days in [("chess-old", 31), ("chess-new", 29), ("tiny-old", 300), ("unrelated", 300)]:
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "code.nbc").write_text("x")
        os.utime(tmp_path / name, times=(time.time() - days * 86400,) * 2)
    assert sorted(path.name for path in cache.remove_unused(tmp_path)) == ["chess-old", "tiny-old"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["chess-new", "unrelated"]
    assert cache.remove_unused(tmp_path / "nowhere") == []


@pytest.mark.parametrize(("platform", "variables", "wanted"), [
    ("linux", {"XDG_CACHE_HOME": "/x"}, "/x/evaltune"),
    ("linux", {"HOME": "/h"}, "/h/.cache/evaltune"),
    ("darwin", {"HOME": "/h"}, "/h/Library/Caches/evaltune"),
    ("win32", {"LOCALAPPDATA": "/l"}, "/l/evaltune"),
    ("linux", {"EVALTUNE_CACHE": "/chosen", "XDG_CACHE_HOME": "/x"}, "/chosen"),
])
def test_the_cache_lies_where_the_system_keeps_caches(platform, variables, wanted, monkeypatch):
    for name in ("EVALTUNE_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "platform", platform)
    assert cache.cache_home() == Path(wanted)
