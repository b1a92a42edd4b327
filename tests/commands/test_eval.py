"""`tuner eval PARAMS FILE`: a score for each line, the same as of each position by itself."""

import bz2
import json

import numpy as np
import pytest

from tests.commands.support import done, refused
from tests.support import file_with
from tuner.evaluation import explain as evaluate_file
from tuner.evaluation.loading import load_engine


@pytest.fixture(scope="module")
def lines(small_pgn, chess):
    """Positions of games, as text."""
    engine, _, _ = chess()
    from games.record import ReadOptions, ReadReport

    batch, *_ = engine.game.files.read(
        str(small_pgn), ReadOptions(positions="all"), ReadReport(), print
    )
    return [engine.game.text(words) for words in batch.positions[:3000:3]]


@pytest.mark.parametrize("name", ["positions.epd", "positions.txt", "positions.fen.bz2"])
def test_each_line_has_its_score(lines, tmp_path, monkeypatch, name):
    monkeypatch.setattr(evaluate_file, "LINES", 300)
    engine, parameters = load_engine("classic")
    text = "# some positions\n\n" + "\r\n".join(
        f'{line} c9 "1-0"; hmvc 3;' if i % 2 else line for i, line in enumerate(lines)
    )
    path = file_with(
        tmp_path / name, bz2.compress(text.encode()) if name.endswith("bz2") else text.encode()
    )
    scores = np.array(done("eval", "classic", path).out.split(), float)
    expected = engine.evaluate(np.array([engine.game.position(line) for line in lines]), parameters)
    assert len(scores) == len(lines) and np.abs(scores - expected).max() < 0.02
    assert json.loads(done("eval", "classic", path, "--json").out)["scores"] == scores.tolist()


def test_standard_input_too(lines):
    assert done("eval", "classic", "-", stdin="\n".join(lines[:5]).encode()).out.count("\n") == 5


def test_any_number_of_threads_gives_the_same_bits(lines):
    engine, parameters = load_engine("pesto")
    positions = np.tile(np.array([engine.game.position(line) for line in lines]), (40, 1))
    one, three = (engine.evaluate_many(positions, parameters, workers) for workers in (1, 3))
    assert (one == three).all() and len(one) == len(positions) > 2 * (1 << 14)
    assert len(engine.evaluate_many(positions[:0], parameters)) == 0


def test_a_wrong_line_is_named(lines, tmp_path):
    (tmp_path / "a.epd").write_text(f"{lines[0]}\n\n8/8/8/8 w\n")
    said = refused("eval", "classic", tmp_path / "a.epd")
    assert f"{tmp_path / 'a.epd'}:3: the piece placement" in said
    assert "expected a position on each line" in said


MATE = "6k1/5ppp/8/8/8/8/8/R3K3 w - - "
SUITE = f"""# a comment
{MATE}bm Ra8#; id "mate";

{MATE}bm Ra8# Kd2; id "one of two"; c0 "Ra8#=10, Kd2=3";
{MATE}am Ra8#; id "avoided"; pv Ra8# K;
{MATE}bm Kd2; c0 "Kd2=90, Ra8#=20"; acd 3;
{MATE}am Kd2; id "found";
"""


def test_moves_that_are_found_and_avoided_are_counted_with_their_points(tmp_path):
    suite = file_with(tmp_path / "suite.epd", SUITE)
    for limit in (("--depth", 2), ("--nodes", 300)):
        found = json.loads(done("eval", "classic", suite, *limit, "--json").out)
        assert (found["positions"], found["solved"]) == (5, 3)
        assert found["unsolved"] == ["avoided", "line 6"]
        assert (found["points"], found["most"]) == (30, 100)
    text = done("eval", "classic", suite, "--depth", 2).out
    assert "solved 3 of 5 positions (60.0 %)" in text and "points: 30 of 100 (30.0 %)" in text


@pytest.mark.parametrize(
    "line, wanted",
    [
        (f'{MATE}id "x";', "suite.epd:1: has neither bm nor am; expected a move to find"),
        (f"{MATE}bm Rb9;", "suite.epd:1: "),
        ("nonsense bm e4;", "suite.epd:1: "),
        ("", "suite.epd: holds no position"),
    ],
)
def test_lines_that_are_no_positions_of_a_suite_are_named(tmp_path, line, wanted):
    suite = file_with(tmp_path / "suite.epd", f"{line}\n")
    assert wanted in refused("eval", "classic", suite, "--depth", 1)


def test_a_position_and_other_games_have_no_suite(tmp_path):
    suite = file_with(tmp_path / "suite.epd", SUITE)
    wanted = "no such file, expected one of positions with moves to find, for --depth"
    assert wanted in refused("eval", "classic", MATE + "0 1", "--depth", 1)
    wanted = "--all: --depth searches the positions of a suite"
    assert wanted in refused("eval", "classic", suite, "--depth", 1, "--all")
    wanted = "suites of shogi are not read here, only of chess"
    assert wanted in refused("eval", "shogi/classic", suite, "--nodes", 100)
