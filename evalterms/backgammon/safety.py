"""Safety: the rolls that hit a blot, and checkers on the bar, by how many points of their home the other side has made."""

from evalterms.backgammon.sets import BAR_OF_THEM, QUARTERS, THEIR_HOME, hitting_rolls
from evalterms.term import Term
from games.backgammon.board import BAR, HOME, count_at, occupied
from games.bits import EMPTY, popcount

safety = Term("safety")
SHOTS = safety.parameter("shots", 7)
LOSS = safety.parameter("loss", 4)
ON_BAR = safety.parameter("bar", 7)


@safety.counts
def count_safety(us, them, emit):
    """Rolls of 36 that hit one of our blots, by the number of points that they have made in their home, from 0 to 6; blots that
    they could still hit, by quarter of the board, ours first; our checkers on the bar, by the same number of points."""
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
