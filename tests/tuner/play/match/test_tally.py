"""Counting pairs: the same as counting games; a test stops at the same pair in whatever order pairs
end."""

import json
import random

import pytest

from games.record import Control
from tests.tuner.play.match.support import match_result
from tests.tuner.statistics.support import count_games, swapped
from tuner.play.match.journal import PairLine
from tuner.play.match.tally import Tally, first_forfeit_text
from tuner.play.players import PlayerSpec
from tuner.results.match import Ladder, LadderRow
from tuner.statistics.intervals import wilson_interval
from tuner.statistics.pentanomial import Results
from tuner.statistics.sprt import Sprt, decide, log_likelihood_ratio


def lines(n: int, seed: int = 1, better: float = 0.0) -> list[PairLine]:
    dice = random.Random(seed)
    outcomes = [dice.choices((-1, 0, 1), (1, 1, 1 + better), k=2) for _ in range(n)]
    return [
        PairLine(0, pair, tuple(points), (40, 50), ("rules", "crash"), forfeits=(None, "b crash"))
        for pair, points in enumerate(outcomes)
    ]


def test_pairs_are_counted_as_games_are():
    tally, made = Tally(), lines(200)
    for line in random.Random(2).sample(made, len(made)):
        tally.add(line)
    assert tally.results == count_games([outcome for line in made for outcome in line.outcomes])
    assert (tally.plies, tally.faults, tally.ends) == (
        200 * 90,
        {"b crash": 200},
        {"rules": 200, "crash": 200},
    )


def test_a_test_ends_at_the_same_pair_whatever_the_order():
    test, made = Sprt(0, 20), lines(800, better=0.8)
    found = []
    for shuffle in (0, 3, 50):
        dice, tally = random.Random(shuffle), Tally(test)
        ended = [line.pair + dice.uniform(0, shuffle) for line in made]
        for _, line in sorted(zip(ended, made, strict=True), key=lambda item: item[0]):
            tally.add(line)
        found.append((tally.decision, tally.results, tally.last))
        assert tally.counts(tally.last) and not tally.counts(tally.last + 1)
    assert found[0] == found[1] == found[2] and found[0][0] == "H1"
    results, last = found[0][1:]
    assert results.games == 2 * (last + 1) < 1600
    assert decide(test, log_likelihood_ratio(test, results.pairs)) == "H1"
    without = count_games([outcome for line in made[:last] for outcome in line.outcomes])
    assert decide(test, log_likelihood_ratio(test, without.pairs)) is None


def test_a_rung_of_the_ladder_has_its_interval():
    ladder = Ladder(
        80, "random", "depth 2", [LadderRow("learned", 87, 150), LadderRow("zero", 0, 0)]
    )
    row = ladder.plain["rows"][0]
    assert (row["share"], (row["low"], row["high"])) == (0.58, wilson_interval(87, 150))
    text = "\n".join(ladder.lines)
    assert (
        "Wins within 80 plies against random, depth 2" in text
        and "learned     87 of 150     58.0 %  [50.0, 65.6]" in text
    )


@pytest.mark.parametrize(
    ("forfeit", "nodes", "wanted"),
    [
        (
            "b stall",
            5000,
            (
                "two lost a game by stall; the match continues. Some engines ignore a limit of"
                " nodes and search without end: give --depth or --movetime"
            ),
        ),
        ("a stall", None, "one lost a game by stall; the match continues"),
        ("a illegal move", 5000, "one lost a game by illegal move; the match continues"),
    ],
)
def test_the_first_forfeit_is_reported_with_its_likely_cause(forfeit, nodes, wanted):
    players = tuple(
        PlayerSpec(name, Control(depth=None if nodes else 4, nodes=nodes))
        for name in ("one", "two")
    )
    assert first_forfeit_text(forfeit, players) == wanted


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
