"""What people see while a command works: a live line and wrapped notes in a terminal, plain lines
elsewhere."""

import sys
import time

import pytest

from tests.commands.support import done, in_terminal, tictactoe_file
from tuner.commands import display
from tuner.commands.display import TerminalDisplay, duration

SEARCHING = ("--method", "rootstrap", "--depth", 2, "--per-game", 30, "--only", "material.*")


@pytest.fixture
def wait(monkeypatch):
    """A function that lets some seconds pass on the display's clock."""
    now = [0.0]

    def pass_by(seconds: float) -> None:
        now[0] += seconds

    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    return pass_by


def test_the_time_left_of_a_pass_is_shown_for_large_data_alone(monkeypatch, wait):
    with TerminalDisplay() as shown:
        shown.begin("learning")
        texts = []
        monkeypatch.setattr(shown, "_show", texts.append)
        shown.passing(10, display.LARGE - 1)
        assert texts == []
        for part in range(1, 101):
            wait(1)
            shown.passing(part * 1_000_000, 100_000_000)
    # a second for each percent, from the second percent on
    assert (
        texts[0] == "pass 3% of 100,000,000 positions, 32 s left in this pass" and len(texts) == 97
    )
    assert texts[47] == "pass 50% of 100,000,000 positions, 48 s left in this pass"


def test_without_a_terminal_a_step_prints_a_line_every_ten_seconds(capsys, wait):
    with TerminalDisplay() as shown:
        shown.begin("searching", 4000)
        for _ in range(2000):
            wait(0.5)
            shown.searched()
    lines = capsys.readouterr().err.splitlines()
    assert lines == [
        f"searching: {n:,} of 4,000 positions, {duration(0.5 * (4000 - n))} left"
        for n in range(20, 2001, 20)
    ]


def test_positions_from_a_stream_are_counted_without_a_total(capsys, wait):
    with TerminalDisplay() as shown:
        shown.begin("searching")
        for _ in range(7):
            wait(2)
            shown.searched()
    assert capsys.readouterr().err == "searching: 5 positions\n"


@pytest.mark.long
def test_notes_wrap_at_words_in_a_terminal_and_nowhere_else(tmp_path):
    games = tictactoe_file(tmp_path)
    command = (
        "tune",
        "tictactoe/classic",
        games,
        "--method",
        "logistic",
        "-o",
        tmp_path / "out.yaml",
    )
    plain = done(*command).err.splitlines()
    assert max(map(len, plain)) > 50
    ran = in_terminal(*command, columns=40)
    assert ran.status == 0
    lines = [line.rstrip() for line in ran.screen.splitlines()]
    notes = lines[: next(i for i, line in enumerate(lines) if line.startswith("wrote "))]
    assert max(map(len, notes)) <= 40
    assert " ".join(" ".join(notes).split()) == " ".join(" ".join(plain).split())  # no word is cut


def test_durations_are_short():
    assert [duration(seconds) for seconds in (0.4, 119, 150, 7199, 7200, 12_000)] == [
        "0 s",
        "119 s",
        "2 min",
        "120 min",
        "2 h 0 min",
        "3 h 20 min",
    ]


def test_the_display_works_where_standard_error_is_no_terminal():
    assert not sys.stderr.isatty()
    with TerminalDisplay() as shown:
        shown.begin("starting")
