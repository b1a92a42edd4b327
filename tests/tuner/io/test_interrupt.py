"""Ctrl-C is heard, whatever runs when it comes."""

import io
import signal
import time

import pytest
from rich.console import Console
from rich.text import Text

from tuner.core.text import number, signed
from tuner.io.interrupt import interrupts, prompt_interrupts
from tuner.io.terminal import coloured, show_lines, show_table, side_by_side


@pytest.fixture(autouse=True)
def heard():
    """Ctrl-C, which a program under nohup or in the background ignores."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


class Ending:
    def __del__(self) -> None:
        signal.raise_signal(signal.SIGINT)


def test_an_interrupt_in_what_ends_an_object_is_not_lost(capfd):
    with pytest.raises(KeyboardInterrupt), prompt_interrupts():
        Ending()
        for _ in range(1000):
            time.sleep(0.01)
    assert "Exception ignored" not in capfd.readouterr().err


def test_a_second_interrupt_is_an_exception():
    with interrupts() as interrupted:
        signal.raise_signal(signal.SIGINT)
        assert interrupted.is_set()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)


def printed(width: int = 40, **how: bool) -> tuple[Console, io.StringIO]:
    out = io.StringIO()
    return Console(file=out, width=width, highlight=False, markup=False, emoji=False, **how), out


def test_a_table_has_one_text_column_and_numbers_on_the_right():
    console, out = printed()
    show_table(
        console, "pieces", ["", "value"], [["pawn", "1.0"], ["queen", Text("+12.0", "green")]]
    )
    title, *lines, end = out.getvalue().split("\n")[:-1]  # spaces between columns differ by version
    assert [title, end] == ["pieces", ""] and len({len(line) for line in lines}) == 1
    assert [line.split() for line in lines] == [["value"], ["pawn", "1.0"], ["queen", "+12.0"]]


def test_lines_are_not_wrapped_and_brackets_are_no_markup():
    console, out = printed(10)
    show_lines(console, "[bold] and :smile: in a long line")
    assert out.getvalue() == "[bold] and :smile: in a long line\n"


@pytest.mark.parametrize(
    ("value", "plain", "change"),
    [
        (None, "-", "-"),
        (0.04, "0.0", ""),
        (-0.04, "0.0", ""),
        (-2.5, "-2.5", "-2.5"),
        (3.14, "3.1", "+3.1"),
    ],
)
def test_numbers_have_fixed_digits_and_no_minus_before_zero(value, plain, change):
    assert (number(value), signed(value)) == (plain, change)


def test_a_change_has_the_colour_of_its_sign():
    assert [str(coloured(text).style) for text in ("+1.0*", "-1.0", "", "0", ".")] == [
        "green",
        "red",
        "",
        "",
        "",
    ]


def test_grids_that_do_not_fit_side_by_side_go_into_several_rows():
    grid = [["1", "-20"], ["300", "4"]]
    blocks = [(head, grid) for head in ("one", "two", "three", "four")]
    width = len("300   4")
    for per_row in (1, 2, 4):
        lines = [str(line) for line in side_by_side(blocks, per_row * (width + 4) - 4)]
        heads = [line.split() for line in lines[::3]]
        assert len(heads) == 4 // per_row and sum(heads, []) == ["one", "two", "three", "four"]
        assert (
            lines[1].split() == ["1", "-20"] * per_row
            and lines[2].split() == ["300", "4"] * per_row
        )
        assert max(map(len, lines)) <= per_row * (width + 4) - 4
