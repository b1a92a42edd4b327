"""Structure: primes, anchors, home points, stacks and stragglers; safety of blots."""

from evalterms.backgammon.race import count_on
from evalterms.backgammon.view import BAR_OF_THEM, QUARTERS, THEIR_HOME, hitting_rolls, longest_run
from evalterms.term import Term
from games.backgammon.rules.board import BAR, BAR_SET, HOME, count_at, occupied
from games.bits import EMPTY, ONE, lowest, popcount, without_lowest

structure = Term("structure")
PRIME, BLOCKED = structure.declare("prime blocked", 5)
ANCHOR, HOME_POINTS = structure.declare("anchor home_points", 6)
STACKED = structure.parameter("stacked")
BACK = structure.parameter("back", 4)


@structure.counts
def count_structure(us, them, emit):
    """Made points of ours in a row, from two to six; those of them before a checker of theirs in
    our home; points that we hold in their home, from their highest on; how many points of our home
    we have made; checkers beyond three on a point; and how many of our checkers are in their home
    or on the bar, from one to four."""
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


safety = Term("safety")
SHOTS = safety.parameter("shots", 7)
LOSS = safety.parameter("loss", 4)
ON_BAR = safety.parameter("bar", 7)


@safety.counts
def count_safety(us, them, emit):
    """Rolls of 36 that hit one of our blots, by the number of points that they have made in their
    home, from 0 to 6; blots that they could still hit, by quarter of the board, ours first; our
    checkers on the bar, by the same number of points."""
    made = popcount(them.made & THEIR_HOME)
    enemies = them.points | occupied(them.low, them.high) & BAR_OF_THEM
    if us.blots and enemies:
        lowest_enemy = enemies & (~enemies + BAR_OF_THEM)
        exposed = us.blots & ~(lowest_enemy | (lowest_enemy - BAR_OF_THEM))
        if exposed != EMPTY:
            emit(SHOTS + made, hitting_rolls(exposed, us.made, enemies))
            emit(LOSS, popcount(exposed & HOME))
            for k in range(3):
                emit(LOSS + k + 1, popcount(exposed & QUARTERS[k]))
    emit(ON_BAR + made, count_at(us.low, us.high, BAR))
