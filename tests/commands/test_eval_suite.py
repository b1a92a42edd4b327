"""`tuner eval FILE suite.epd`: positions solved, points, and what is refused."""

import json

import pytest

from tests.commands.support import done, refused

MATE = "6k1/5ppp/8/8/8/8/8/R3K3 w - - "
SUITE = f"""# a comment
{MATE}bm Ra8#; id "mate";

{MATE}bm Ra8# Kd2; id "one of two"; c0 "Ra8#=10, Kd2=3";
{MATE}am Ra8#; id "avoided"; pv Ra8# K;
{MATE}bm Kd2; c0 "Kd2=90, Ra8#=20"; acd 3;
{MATE}am Kd2; id "found";
"""


def test_moves_that_are_found_and_avoided_are_counted_with_their_points(tmp_path):
    suite = tmp_path / "suite.epd"
    suite.write_text(SUITE)
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
    suite = tmp_path / "suite.epd"
    suite.write_text(f"{line}\n")
    assert wanted in refused("eval", "classic", suite, "--depth", 1)


def test_a_position_and_other_games_have_no_suite(tmp_path):
    suite = tmp_path / "suite.epd"
    suite.write_text(SUITE)
    wanted = "no such file, expected one of positions with moves to find, for --depth"
    assert wanted in refused("eval", "classic", MATE + "0 1", "--depth", 1)
    wanted = "--all: --depth searches the positions of a suite"
    assert wanted in refused("eval", "classic", suite, "--depth", 1, "--all")
    wanted = "suites of shogi are not read here, only of chess"
    assert wanted in refused("eval", "shogi/classic", suite, "--nodes", 100)
