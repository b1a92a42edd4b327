"""What `tuner bench` measures with comes from the game: its positions, samples, references and targets."""

from __future__ import annotations

import json

import pytest

from games.chess import bench as chess_bench
from games.shogi import bench as shogi_bench
from games.streams import InputError
from tests.commands.support import done, tuner
from tuner.bench import bench_of, row, samples_of
from tuner.engine.loading import SAMPLES


def test_each_game_has_its_own():
    assert bench_of("chess") is chess_bench and bench_of("shogi") is shogi_bench
    assert samples_of("zero") == SAMPLES


def test_a_game_without_measurements_is_refused_in_one_line():
    with pytest.raises(InputError, match="tictactoe: has no measurements"):
        bench_of("tictactoe")
    ran = tuner("bench", "perft", "--params", "tictactoe/classic")
    assert ran.status == 2 and ran.err.count("\n") == 1


def test_a_reference_that_is_not_installed_is_left_out():
    without = row("x", 2.0, "games/s", reference=("cshogi", None))
    assert (without["reference"], without["reference_value"], without["ratio"]) == (None, None, None)
    assert row("x", 2.0, "games/s", reference=("cshogi", 4.0))["ratio"] == 0.5


def test_perft_of_shogi_is_measured_on_its_own_positions(monkeypatch):
    monkeypatch.setattr(shogi_bench, "PERFT", ((*shogi_bench.PERFT[0][:2], 3),))
    rows = json.loads(done("bench", "perft", "--params", "shogi/hand", "--games", SAMPLES, "--json").out)["rows"]
    assert [line["what"] for line in rows] == ["perft, start to depth 3"]
    assert rows[0]["target"] == shogi_bench.TARGETS["perft"] and rows[0]["reference"] in ("cshogi", None)
