"""The bundled games of shogi: what they are, and that the module that made them makes them
again."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest

from examples.sample_games import shogi as make_games
from games.shogi.files import reading
from games.shogi.files.reading import parse
from games.shogi.rules.endings import result
from tests.games.shogi.test_players import FAIRY, needs_fairy
from tests.games.support import REPOSITORY

PATH = Path(REPOSITORY) / "games" / "samples" / "fairy400.csa.zst"
GAMES = 5000


@pytest.fixture(scope="module")
def games():
    return list(parse(str(PATH), reading.CSA))


@pytest.mark.long
def test_they_are_distinct_whole_games_without_faults(games):
    assert len(games) == GAMES and PATH.stat().st_size < 1_300_000
    assert not [game.fault for game in games if game.fault]
    assert len({tuple(game.moves) for game in games}) == GAMES
    assert all(
        game.names["event"] == "evaltune samples"
        and game.names["black"] == "Fairy-Stockfish 11.1, 400 nodes"
        for game in games
    )


@pytest.mark.long
def test_each_ends_by_the_rules_as_it_says_or_after_the_longest_game(games):
    for game in games:
        found = result(game.line)
        assert game.result == found and (found is not None or len(game.moves) == make_games.LONGEST)
    results = np.array([game.result for game in games], float)
    assert (results == 1).mean() == pytest.approx(0.5, abs=0.08) and np.mean(
        [len(game.moves) for game in games]
    ) > 80


@needs_fairy
def test_the_module_makes_the_first_ones_again():
    text = "\n".join(reading.lines_of(str(PATH)))
    for _, game in make_games.play_share((FAIRY, 1, range(2))):
        assert game.strip() in text


@needs_fairy
def test_the_command_of_the_page_makes_more(monkeypatch, tmp_path):
    page = (Path(REPOSITORY) / "docs" / "shogi.md").read_text(encoding="utf-8")
    (line,) = re.findall(r"python examples/sample_games/shogi.py ([^`\n]*)", page)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["make_games", *line.replace("10000", "2").split()])
    make_games.main()
    (path,) = tmp_path.iterdir()
    assert len(list(parse(str(path), reading.of_file(path.name)))) == 2
