"""Traps of Numba's types are reported: sets of squares mixed with Python integers, counts that are not integers."""

import pytest

from evalterms.chess import view
from evalterms.term import Term
from evalterms.types import complaints
from games.bits import ONE, lowest, popcount
from games.chess.unit import inner


def signed_mask(us, them, emit):
    emit(0, popcount(us.pawns & 255))


def added(us, them, emit):
    emit(0, popcount(us.pawns + 1))


def with_a_square(us, them, emit):
    emit(0, popcount(us.pawns | lowest(us.king)))


def in_place(us, them, emit):
    squares = us.pawns
    squares |= 1
    emit(0, popcount(squares))


def compared(us, them, emit):
    emit(0, 1 if us.pawns < 1024 else 0)


@inner("uint64(uint64)")
def helper(squares):
    return squares ^ 7


def in_a_helper(us, them, emit):
    emit(0, popcount(helper(us.pawns)))


def half(us, them, emit):
    emit(0, popcount(us.pawns) / 2)


def unclear(us, them, emit):
    emit(0, popcount(us.pwns))


def shifted(us, them, emit):
    emit(0, popcount(us.pawns << 8 & ~us.king | us.pawns >> lowest(us.king)))


def with_nothing(us, them, emit):
    if us.pawns & us.queens == 0 and us.king != 0:
        emit(0, popcount(us.pawns ^ ONE))


def found(function) -> list[tuple[str, str]]:
    term = Term("tried")
    term.parameter("number")
    term.counts(function)
    return list(complaints(term, view))


@pytest.mark.parametrize(("function", "line"), [
    (signed_mask, 1), (added, 1), (with_a_square, 1), (in_place, 2), (compared, 1)])
def test_mixing_squares_with_an_integer_is_found_with_its_line(function, line):
    ((place, text),) = found(function)
    assert place == f"{__file__}:{function.__code__.co_firstlineno + line}"
    assert "mixes" in text


def test_mixing_in_a_helper_is_found():
    ((place, _),) = found(in_a_helper)
    assert place == f"{__file__}:{helper.py_func.__code__.co_firstlineno + 2}"


def test_a_count_that_is_no_integer_is_found():
    assert [text for _, text in found(half)] == ["the emitted count is a float64, expected a whole number"]


def test_code_without_types_is_one_line_with_its_place():
    assert found(unclear) == [(f"{__file__}:{unclear.__code__.co_firstlineno + 1}", "cannot be compiled: Side has no field pwns")]


@pytest.mark.parametrize("function", [shifted, with_nothing])
def test_shifts_and_comparisons_with_zero_are_no_traps(function):
    assert found(function) == []
