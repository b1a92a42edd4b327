"""The bundled games of shogi: what they are, and that the module that made them makes them
again."""

import re
import sys
from pathlib import Path

import pytest

from examples.sample_games import shogi as make_games
from games.shogi.files import reading
from games.shogi.files.reading import parse
from tests.games.shogi.test_players import FAIRY, needs_fairy
from tests.games.support import REPOSITORY

PATH = Path(REPOSITORY) / "games" / "samples" / "fairy400.csa.zst"
GAMES = 5000


@pytest.fixture(scope="module")
def games():
    return list(parse(str(PATH), reading.CSA))


@pytest.mark.long
@needs_fairy
def test_the_module_makes_the_first_ones_again():
    text = "\n".join(reading.lines_of(str(PATH)))
    for _, game in make_games.play_share((FAIRY, 1, range(2))):
        assert game.strip() in text


@pytest.mark.long
@needs_fairy
def test_the_command_of_the_page_makes_more(monkeypatch, tmp_path):
    page = (Path(REPOSITORY) / "docs" / "shogi.md").read_text(encoding="utf-8")
    (line,) = re.findall(r"python examples/sample_games/shogi.py ([^`\n]*)", page)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["make_games", *line.replace("10000", "2").split()])
    make_games.main()
    (path,) = tmp_path.iterdir()
    assert len(list(parse(str(path), reading.of_file(path.name)))) == 2
