"""The race: how far both sides have to go, and what they will waste."""

from evalterms.backgammon.view import QUARTERS
from evalterms.term import Term
from games.backgammon.rules import inner
from games.backgammon.rules.board import BAR, HOME, count_at, pips_of
from games.bits import lowest, popcount, without_lowest

PIPS_OF_STEP, STEPS = 8, 10

race = Term("race")
LEAD = race.parameter("lead", STEPS)
CROSSOVERS, GAPS = race.declare("crossovers gaps")
WASTED = race.parameter("wasted", 3)


@inner("int64(uint64, uint64, uint64)")
def count_on(places, low, high):
    """Return the number of checkers on a set of places."""
    number = 0
    while places:
        number += count_at(low, high, lowest(places))
        places = without_lowest(places)
    return number


@race.counts
def count_race(us, them, emit):
    """How far we lead in pips: the first number for any lead, the second beyond 8 pips, the third
    beyond 16, up to 72; quarters of the board that our checkers have still to cross; empty points
    of our home; checkers beyond two on our points 1, 2 and 3."""
    theirs = 25 * 15 - pips_of(them.low, them.high)  # their places are numbered as ours: 25 is off
    lead = theirs - pips_of(us.low, us.high)
    for k in range(min(max((lead + PIPS_OF_STEP - 1) // PIPS_OF_STEP, 0), STEPS)):
        emit(LEAD + k, 1)
    crossovers = 4 * count_at(us.low, us.high, BAR)
    for k in range(3):
        crossovers += (k + 1) * count_on(us.points & QUARTERS[k], us.low, us.high)
    emit(CROSSOVERS, crossovers)
    emit(GAPS, popcount(HOME & ~us.points))
    for k in range(3):
        emit(WASTED + k, max(count_at(us.low, us.high, k + 1) - 2, 0))
