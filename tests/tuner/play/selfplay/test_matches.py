"""Strength measured during a run of self-play in a game without dice."""

import itertools
from pathlib import Path

import pytest
import yaml

from tests.commands.support import done, refused, tuner
from tests.tuner.core.support import read_records
from tuner.play.selfplay.run import MatchMeasurement
from tuner.report.charts import short

RUN = ("selfplay", "material", "--depth", 1, "--plies", 40, "--seed", 3, "--games", 24)
MEASURE = ("--measure", "random", "--measure", "zero", "--measure-every", 8)
SHORT = ("--measure-games", 6, "--measure-plies", 60)


@pytest.fixture(scope="module")
def measured(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("measured") / "run"
    done(*RUN, *MEASURE, *SHORT, "--run", folder)
    return folder


def lines_of(folder: Path) -> list[dict]:
    return read_records(folder)


def test_matches_and_what_had_learned_are_kept(measured):
    lines = lines_of(measured)
    assert [line["games"] for line in lines if "matches" in line] == [8, 16, 24]
    for line in lines:
        against = line["matches"]
        assert [match["opponent"] for match in against] == ["random", "zero"]
        for match in against:
            assert match["games"] == 6 and match["wins"] == len(match["plies"])
            assert match["wins"] + match["draws"] <= 6
            assert match["plies"] == sorted(match["plies"]) and max(match["plies"], default=0) <= 60
    assert against[0]["wins"] > 0  # material at depth 1 against random moves
    kept = sorted(int(path.stem) for path in (measured / "checkpoints").glob("*.yaml"))
    assert kept == [8, 16, 24]
    last = (measured / "checkpoints" / "24.yaml").read_text()
    assert last == (measured / "params.yaml").read_text()
    assert last != (measured / "checkpoints" / "8.yaml").read_text()


def test_it_changes_nothing_that_is_learned(measured, tmp_path):
    done(*RUN, "--run", tmp_path / "run")
    assert (tmp_path / "run/games.pgn").read_bytes() == (measured / "games.pgn").read_bytes()
    here, there = lines_of(tmp_path / "run"), lines_of(measured)
    assert [line["values"] for line in here] == [line["values"] for line in there]


def test_a_resumed_run_measures_the_same_games(measured, tmp_path):
    done(*RUN[:-1], 16, *MEASURE, *SHORT, "--run", tmp_path / "run")
    done("selfplay", "--resume", tmp_path / "run", "--games", 24)
    found = [line["matches"] for line in lines_of(tmp_path / "run")]
    assert found == [line["matches"] for line in lines_of(measured)]


@pytest.mark.parametrize("measurement", [1, 2, 3])
def test_an_interrupted_measurement_is_made_when_the_run_is_resumed(
    measured, tmp_path, monkeypatch, measurement
):
    calls, of = itertools.count(1), MatchMeasurement.measured

    def interrupted(self, evaluation, asked):
        if next(calls) == measurement:
            asked.set()
        return of(self, evaluation, asked)

    monkeypatch.setattr(MatchMeasurement, "measured", interrupted)
    ran = tuner(*RUN, *MEASURE, *SHORT, "--run", tmp_path / "run")
    assert ran.status == 130 and "continue with: tuner selfplay --resume" in ran.out + ran.err
    assert len(lines_of(tmp_path / "run")) == measurement - 1
    done("selfplay", "--resume", tmp_path / "run")
    games, weights = (
        [(folder / "games.pgn").read_bytes() for folder in (tmp_path / "run", measured)],
        [
            yaml.safe_load((folder / "params.yaml").read_text())["weights"]
            for folder in (tmp_path / "run", measured)
        ],
    )
    assert games[0] == games[1] and weights[0] == weights[1]
    found = [line["matches"] for line in lines_of(tmp_path / "run")]
    assert found == [line["matches"] for line in lines_of(measured)]


@pytest.mark.long
def test_checkpoints_play_a_tournament_and_the_page_draws_two_runs(measured, tmp_path):
    out = done("tournament", measured, "zero", "--games", 2, "--depth", 1, "--plies", 40).out
    assert all(f"run {games}" in out for games in (8, 16, 24))
    done(*RUN, "--seed", 4, *MEASURE, *SHORT, "--run", tmp_path / "other")
    page = tmp_path / "page.html"
    done("report", measured, tmp_path / "other", "-o", page)
    text = page.read_text()
    for said in ("Games won against random", "Games won against zero, by ply", "other</span>"):
        assert said in text
    line = lines_of(measured)[0]["matches"][0]
    assert f"share won, with 95 % interval: from {short(line['wins'] / 6)} to" in text


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--measure-every", 5), "--measure-every: is for --measure PLAYER"),
        (("--measure", "uci:/no/such/engine"), "/no/such/engine"),
        (("--measure", "mine.yaml", "-o", "mine.yaml"), "mine.yaml"),
        (("--measure", "random", "--measure-games", 7), "measure-games is 7, expected an even"),
    ],
)
def test_mistakes_are_one_line(tmp_path, monkeypatch, words, said):
    monkeypatch.chdir(tmp_path)
    done("params", "--new", "material", "-o", "mine.yaml")
    before = Path("mine.yaml").read_bytes()
    assert said in refused(*RUN, *words)
    assert Path("mine.yaml").read_bytes() == before


def test_runs_beside_another_are_of_self_play_and_three_at_most(measured, tmp_path):
    assert "5 runs, expected at most 4" in refused("report", *[measured] * 5)
    played = tmp_path / "match"
    done("match", "material", "zero", "--games", 2, "--depth", 1, "--run", played)
    assert "not a run of self-play" in refused("report", played, measured)
