"""Who rolls next."""

import numpy as np

from evalterms.term import Term

roll = Term("roll")
ROLL = roll.parameter("next")


@roll.counts
def count_roll(us, them, emit):
    """Whether we roll next."""
    emit(ROLL, np.int64(us.to_move))
