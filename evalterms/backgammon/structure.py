"""Structure: primes, anchors, home points, stacks and stragglers."""

from evalterms.backgammon.race import count_on
from evalterms.backgammon.sets import THEIR_HOME, longest_run
from evalterms.term import Term
from games.backgammon.board import BAR_SET, HOME
from games.bits import ONE, lowest, popcount, without_lowest

structure = Term("structure")
PRIME = structure.parameter("prime", 5)
BLOCKED = structure.parameter("blocked", 5)
ANCHOR = structure.parameter("anchor", 6)
HOME_POINTS = structure.parameter("home_points", 6)
STACKED = structure.parameter("stacked")
BACK = structure.parameter("back", 4)


@structure.counts
def count_structure(us, them, emit):
    """Made points of ours in a row, from two to six; those of them before a checker of theirs in our home; points that we hold in
    their home, from their highest on; how many points of our home we have made; checkers beyond three on a point; and how many of
    our checkers are in their home or on the bar, from one to four."""
    run = min(longest_run(us.made), 6)
    if run > 1:
        emit(PRIME + run - 2, 1)
    trapped = them.points & HOME
    if trapped:
        before = longest_run(us.made & ~((trapped & (~trapped + ONE)) - ONE))
        if before > 1:
            emit(BLOCKED + min(before, 6) - 2, 1)
    anchors = us.made & THEIR_HOME
    while anchors:
        emit(ANCHOR + lowest(anchors) - 19, 1)
        anchors = without_lowest(anchors)
    made = popcount(us.made & HOME)
    if made:
        emit(HOME_POINTS + made - 1, 1)
    emit(STACKED, max(count_on(us.spare, us.low, us.high) - 3 * popcount(us.spare), 0))
    back = count_on(us.points & THEIR_HOME | BAR_SET, us.low, us.high)
    if back:
        emit(BACK + min(back, 4) - 1, 1)
