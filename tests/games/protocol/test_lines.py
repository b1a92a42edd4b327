"""Values in the lines of protocols."""

import io
import re

import pytest

from games.protocol.server import LONGEST_LINE, arguments_of_go, lines_of, number, shown, truth
from tests.support import refusal

NUMBERS = {"depth": 1, "wtime": None}


def test_lines_of_any_bytes_are_read_and_long_ones_cut():
    lines = list(lines_of(io.BytesIO(b"uci\r\n\xff\n" + b"x" * (3 * LONGEST_LINE) + b"\nquit")))
    assert lines == ["uci\r\n", "\ufffd\n", "x" * (LONGEST_LINE + 1), "quit"]


@pytest.mark.parametrize(
    ("words", "found", "faults"),
    [
        ("depth 3 ponder", {"depth": 3, "ponder": True}, []),
        (
            "wtime -5 searchmoves a b depth 2",
            {"wtime": -5, "searchmoves": ("a", "b"), "depth": 2},
            [],
        ),
        ("depth ponder", {"ponder": True}, ["depth has no number; ignored"]),
        (
            "depth 0 x",
            {},
            [
                "depth 0 is not 1 or more; ignored",
                "go: unknown argument 'x'; expected depth, wtime, ponder or searchmoves",
            ],
        ),
        ("searchmoves", {"searchmoves": ()}, ["searchmoves names no move; ignored"]),
    ],
)
def test_arguments_of_go_that_are_valid_are_used_and_the_others_named(words, found, faults):
    assert arguments_of_go(words.split(), NUMBERS, ("ponder",), "searchmoves") == (found, faults)


def test_wrong_values_are_quoted_in_short():
    assert "Hash 9 is not from 1 to 8" in refusal(number, "Hash", "9", 1, 8, error=ValueError)
    assert re.search(
        "^Ponder 'x{59}...' is neither true nor false$",
        refusal(truth, "Ponder", "x" * 1000, error=ValueError),
    )
    assert truth("Ponder", "TRUE") and shown("\n") == "'\\n'"
