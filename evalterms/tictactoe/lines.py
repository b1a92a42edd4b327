"""Lines that a side can still complete."""

from evalterms.term import Term
from games.bits import popcount
from games.tictactoe.rules import LINES

lines = Term("lines")
OPEN = lines.parameter("open", 2)
WIN = lines.parameter("win")


@lines.counts
def count_lines(us, them, emit):
    """Lines with one or two of our marks and none of theirs; and lines of two if we are to move,
    which wins."""
    for line in LINES:
        marks = popcount(us.marks & line)
        if not them.marks & line and 1 <= marks <= 2:
            emit(OPEN + marks - 1, 1)
            if marks == 2 and us.to_move:
                emit(WIN, 1)
