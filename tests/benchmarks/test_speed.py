"""What is measured with comes from the game: its positions, samples, references and targets."""

from pathlib import Path

from tests.benchmarks.speed import Row, networks
from tests.benchmarks.speed import backgammon as backgammon_bench
from tests.benchmarks.speed.__main__ import measured
from tests.conftest import SAMPLES
from tests.support import refusal


def test_a_reference_that_is_not_installed_is_left_out():
    without = Row("x", 2.0, "games/s", reference=("cshogi", None)).to_json()
    assert (without["reference"], without["reference_value"], without["ratio"]) == (
        None,
        None,
        None,
    )
    assert Row("x", 2.0, "games/s", reference=("cshogi", 4.0)).to_json()["ratio"] == 0.5


def rows_of(*rows: str, params: str, games: Path | None = None) -> list[dict]:
    return measured(rows, params, games)["rows"]


def test_search_and_self_play_of_backgammon_are_measured_by_decisions_and_games(monkeypatch):
    for name, number in (("SEARCHED", 2), ("GAMES", 20), ("LEARNING_GAMES", 32)):
        monkeypatch.setattr(backgammon_bench, name, number)
    found = rows_of("search", "selfplay", "learning", params="backgammon/classic")
    assert [(line["what"].partition(", ")[0], line["unit"]) for line in found] == [
        ("search", "decisions/s"),
        ("search", "decisions/s"),
        ("self-play", "games/s"),
        ("self-play with learning", "games/s"),
        ("  learning and writing", "% more"),
    ]
    assert [line["what"].split(", ")[1] for line in found[:4]] == [
        "depth 1",
        "depth 2",
        "depth 1",
        "depth 1",
    ]
    assert all(line["value"] > 0 for line in found)


def test_networks_of_backgammon_are_measured_from_counts_as_evaluations_and_in_games(monkeypatch):
    for name, number in (("WARM", 2), ("TIMED", 2), ("POSITIONS", 500), ("FROM_COUNTS", 500)):
        monkeypatch.setattr(networks, name, number)
    found = rows_of("network", params="backgammon/classic")
    assert [line["target"] for line in found] == [1.0, 1.0, 1800, 5000]
    assert all(line["value"] > 0 for line in found)
    assert (
        len(rows_of("network", params="classic")) == 2
    )  # no compiled code plays whole games of chess


def test_what_a_game_has_not_is_refused_by_name():
    assert "tictactoe: has no measurements" in refusal(
        measured, ["perft"], "tictactoe/classic", SAMPLES
    )
