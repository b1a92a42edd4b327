"""Counting pairs: the same as counting games; a test stops at the same pair in whatever order pairs
end."""

import random

from tests.tuner.statistics.support import count_games
from tuner.play.match.journal import PairLine
from tuner.play.match.tally import Tally
from tuner.results.match import Ladder, LadderRow
from tuner.statistics.intervals import wilson_interval
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
