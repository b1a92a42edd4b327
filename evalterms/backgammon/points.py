"""The raw board, Tesauro's 98 numbers of a side, and who rolls next."""

import numpy as np

from evalterms.term import Term
from games.backgammon.rules.board import BAR, OFF, count_at
from games.bits import lowest, without_lowest

points = Term("points")
CHECKERS = points.parameter("checkers", 24, 4)
ON_BAR, BORNE_OFF = points.declare("bar off")


@points.counts
def count_points(us, them, emit):
    """For each of our points from 1 to 24: at least one checker, two, three, and how many beyond
    three; checkers on the bar and off."""
    places = us.points
    while places:
        place = lowest(places)
        number = count_at(us.low, us.high, place)
        at = CHECKERS + 4 * (place - 1)
        emit(at, 1)  # without branches on the number: the CPU would guess half of them wrong
        emit(at + 1, np.int64(number > 1))
        emit(at + 2, np.int64(number > 2))
        emit(at + 3, max(number - 3, 0))
        places = without_lowest(places)
    emit(ON_BAR, count_at(us.low, us.high, BAR))
    emit(BORNE_OFF, count_at(us.low, us.high, OFF))


roll = Term("roll")
ROLL = roll.parameter("next")


@roll.counts
def count_roll(us, them, emit):
    """Whether we roll next."""
    emit(ROLL, np.int64(us.to_move))
