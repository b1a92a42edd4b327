"""The result of a match as text and as a dict."""

import json

import pytest

from tests.tuner.play.match.support import match_result
from tests.tuner.statistics.support import count_games, swapped
from tuner.statistics.pentanomial import Results
from tuner.statistics.sprt import Sprt

MATCH = Results((0, 2, 15, 5, 8), wins=36, losses=17, draws=7)
# as fastchess printed it, which has +/- 66.55 and 87.91 by 1.96 errors in place of Student's t
PRINTED = """\
Elo: 113.94 +/- 70.78, nElo: 164.11 +/- 93.30
LOS: 99.94 %, DrawRatio: 50.00 %, PairsRatio: 6.50
Games: 60, Wins: 36, Losses: 17, Draws: 7, Points: 39.5 (65.83 %)
Ptnml(0-2): [0, 2, 15, 5, 8]
LLR: 1.29 (43.9%) (-2.94, 2.94) [0.00, 20.00]"""


def result_block(results: Results, test: Sprt | None = None) -> str:
    return "\n".join(match_result(results, test=test).block[1:])


def result_dict(results: Results, names: tuple[str, str], test: Sprt | None = None) -> dict:
    return match_result(results, names, test).result


def test_block_is_what_fastchess_prints_and_its_sprt_the_normalized_one():
    assert result_block(MATCH, test=Sprt(0, 20)) == PRINTED
    assert "LLR: 1.68 (56.9%)" in result_block(MATCH, test=Sprt(0, 20, model="logistic"))


def test_block_without_a_test_has_no_ratio_and_with_names_a_heading():
    found = match_result(MATCH, ("learned", "classic"))
    assert found.block == ["Results of learned vs classic:", *PRINTED.splitlines()[:-1]]
    heading = "Results of learned vs classic (depth 4, 8 random plies):"
    assert str(found).splitlines() == [heading, *found.block[1:]]


def test_share_of_the_way_is_of_the_bound_on_that_side_and_negative_towards_h0():
    last = result_block(swapped(MATCH), test=Sprt(-20, 0, alpha=0.05, beta=0.01)).splitlines()[-1]
    assert last == "LLR: -1.29 (-28.4%) (-4.55, 2.99) [-20.00, 0.00]"


@pytest.mark.parametrize(
    "outcomes, lines",
    [
        (
            [],
            [
                "Elo: unknown",
                "LOS: - %, DrawRatio: - %, PairsRatio: -",
                "Games: 0, Wins: 0, Losses: 0, Draws: 0, Points: 0.0 (- %)",
                "Ptnml(0-2): [0, 0, 0, 0, 0]",
            ],
        ),
        (
            [1] * 6,
            [
                "Elo: at least -42.95",
                "LOS: 95.84 %, DrawRatio: 0.00 %, PairsRatio: inf",
                "Games: 6, Wins: 6, Losses: 0, Draws: 0, Points: 6.0 (100.00 %)",
                "Ptnml(0-2): [0, 0, 0, 0, 3]",
            ],
        ),
        (
            [-1] * 6,
            [
                "Elo: at most 42.95",
                "LOS: 4.16 %, DrawRatio: 0.00 %, PairsRatio: 0.00",
                "Games: 6, Wins: 0, Losses: 6, Draws: 0, Points: 0.0 (0.00 %)",
                "Ptnml(0-2): [3, 0, 0, 0, 0]",
            ],
        ),
        (
            [0, 0, 1],
            [
                "Elo: 0.00 +/- 495.30",
                "LOS: 50.00 %, DrawRatio: 100.00 %, PairsRatio: -",
                "Games: 3, Wins: 1, Losses: 0, Draws: 2, Points: 2.0 (66.67 %)",
                "Ptnml(0-2): [0, 0, 1, 0, 0]",
            ],
        ),
    ],
)
def test_block_at_the_edges(outcomes, lines):
    results = count_games(outcomes)
    assert result_block(results).splitlines() == lines
    json.dumps(result_dict(results, ("a", "b"), Sprt(0, 5)), allow_nan=False)


def test_nothing_is_printed_as_minus_zero():
    assert result_block(Results((25_000, 25_001, 50_000, 25_000, 25_000), 0, 0, 0)).startswith(
        "Elo: 0.00 +/-"
    )


def test_dict_holds_the_numbers_of_the_block():
    found = json.loads(
        json.dumps(result_dict(MATCH, ("learned", "classic"), Sprt(0, 20)), allow_nan=False)
    )
    assert found["players"] == ["learned", "classic"]
    assert (found["games"], found["wins"], found["losses"], found["draws"], found["points"]) == (
        60,
        36,
        17,
        7,
        39.5,
    )
    assert found["pentanomial"] == [0, 2, 15, 5, 8] and found["unpaired"] == 0
    assert found["elo"]["value"] == pytest.approx(113.94, abs=0.005)
    assert found["elo"]["high"] - found["elo"]["low"] == pytest.approx(2 * 70.78, abs=0.01)
    assert found["normalized_elo"]["high"] - found["normalized_elo"]["low"] == pytest.approx(
        2 * 93.30, abs=0.01
    )
    assert (
        found["sprt"]["llr"] == pytest.approx(1.29, abs=0.005) and found["sprt"]["decision"] is None
    )
    assert found["sprt"]["model"] == "normalized" and found["sprt"]["bounds"] == pytest.approx(
        [-2.944, 2.944], abs=0.001
    )
    assert "sprt" not in result_dict(MATCH, ("learned", "classic"))


def test_infinite_and_unknown_numbers_are_null_in_json():
    found = result_dict(count_games([1, 1, 1, 1]), ("a", "b"))
    low = found["elo"].pop("low")
    assert (
        found["elo"] == {"value": None, "high": None, "standard_error": None} and -120 < low < -100
    )
    assert found["pairs_ratio"] is None and 0.9 < found["los"] < 0.95


def test_an_interval_that_is_open_on_one_side_is_told_as_a_bound():
    found = result_block(Results((0, 0, 0, 1, 5), 11, 0, 1))
    assert found.startswith("Elo: at least ") and ", nElo: " in found
