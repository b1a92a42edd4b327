"""Authors of terms are told where a set of shogi meets something else."""

import numpy as np
import pytest

from evalterms.framework.check import complaints
from evalterms.shogi import view
from evalterms.term import Term
from games import bits
from games.shogi.rules.squares import popcount


def with_number(us, them, emit):
    emit(0, popcount(us.pawns & np.uint64(1)))


def with_literal(us, them, emit):
    emit(0, popcount(us.pawns & 1))


def with_other_sets(us, them, emit):
    emit(0, bits.popcount(us.pawns))


def compared(us, them, emit):
    emit(0, us.pawns > them.pawns)


def emitted(us, them, emit):
    emit(0, us.pawns)


def right(us, them, emit):
    emit(0, popcount(us.pawns & ~them.men))


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (with_number, "cannot be compiled: and is not defined for Squares and uint64"),
        (with_literal, "cannot be compiled: and is not defined for Squares and Literal[int](1)"),
        (with_other_sets, "cannot be compiled: Squares where uint64 is expected"),
        (compared, "cannot be compiled: gt is not defined for Squares and Squares"),
        (emitted, "cannot be compiled: Squares where int64 is expected"),
        (right, None),
    ],
)
def test_a_set_where_something_else_belongs_is_named_with_its_line(function, message):
    term = Term("own")
    term.parameter("weight")
    term.counts(function)
    found = list(complaints(term, view))
    if message is None:
        assert found == []
    else:
        ((place, text),) = found
        assert place == f"{__file__}:{function.__code__.co_firstlineno + 1}"
        assert text == message
