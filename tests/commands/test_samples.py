"""Bundled games have a name, as bundled parameters have: it is that of the game that the parameters
are for."""

import pytest

from tests.games.support import REPOSITORY
from tuner.evaluation.loading import SAMPLES, games_path, sources_for

FILES = {
    "chess": "stockfish400.pgn.zst",
    "shogi": "fairy400.csa.zst",
    "backgammon": "pubeval.mat.zst",
}


@pytest.mark.parametrize("game", FILES)
def test_the_name_is_that_of_the_games_of_the_parameters(game, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = str(REPOSITORY / "games" / "samples" / FILES[game])
    assert sources_for(f"{game}/zero", [SAMPLES, f"{game}/samples", "-", "a/samples"]) == [
        path,
        path,
        "-",
        "a/samples",
    ]
    assert games_path(SAMPLES, game) == path == games_path(f"{game}/samples")


def test_a_file_of_that_name_takes_precedence(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / SAMPLES).mkdir()
    assert sources_for("classic", [SAMPLES]) == [SAMPLES]
