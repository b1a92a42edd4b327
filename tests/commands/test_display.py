"""What people see while a command works: a live line and wrapped notes in a terminal, plain lines
elsewhere."""

import itertools
import os
import re
import sys
import time

import pytest

from games.record import ReadOptions, ReadReport
from tests.commands.support import done, in_terminal, tictactoe_file
from tuner.commands import display
from tuner.commands.display import TerminalDisplay, duration
from tuner.evaluation.loading import load_engine, quiescence_of
from tuner.learn.build import count_positions

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


@pytest.mark.parametrize("report", ["reading", "learning", "passing", "counting", "playing"])
def test_every_long_step_prints_lines_without_a_terminal(capsys, wait, report):
    given = {
        "reading": (ReadReport(games=7),),
        "learning": ({"iteration": 3, "objective": 0.5},),
        "passing": (50_000_000, 100_000_000),
        "counting": (7,),
        "playing": ("7 games", 7),
    }[report]
    with TerminalDisplay() as shown:
        shown.begin("a step", 20)
        for _ in range(12):
            wait(4)
            getattr(shown, report)(*given)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 4 and all(line.startswith("a step: ") for line in lines)
    assert {
        "reading": "7 games, ",
        "learning": "iteration 3",
        "passing": "pass 50% of ",
        "counting": "7 of 20, ",
        "playing": "7 games",
    }[report] in lines[0]


def test_matches_and_games_show_their_share_and_the_time_left(capsys, wait):
    """By the clock, and for the games of this process alone."""
    with TerminalDisplay() as shown:
        shown.begin("playing", 200)
        for pairs in (101, 102, 103, 104, 105):
            wait(5)
            shown.playing(f"{2 * pairs} games", pairs)
    lines = capsys.readouterr().err.splitlines()
    assert lines == ["playing: 204 games  51%, 8 min left", "playing: 208 games  52%, 8 min left"]


@pytest.mark.parametrize(("positions", "said"), [(900, "90/s"), (2_500_000, "0.25 M/s")])
def test_the_speed_of_reading_is_never_zero(capsys, wait, positions, said):
    with TerminalDisplay() as shown:
        shown.begin("reading")
        wait(10)
        shown.reading(ReadReport(games=7, positions=positions))
    assert capsys.readouterr().err == f"reading: 7 games, {positions:,} positions, {said}\n"


def test_positions_from_a_stream_are_counted_without_a_total(capsys, wait):
    with TerminalDisplay() as shown:
        shown.begin("searching")
        for _ in range(7):
            wait(2)
            shown.searched()
    assert capsys.readouterr().err == "searching: 5 positions\n"


@pytest.mark.long
def test_the_search_shows_a_live_line_with_a_total_and_leaves_nothing_but_notes(
    small_pgn, tmp_path
):
    ran = in_terminal("tune", "classic", small_pgn, *SEARCHING, "-o", tmp_path / "out.yaml")
    assert ran.status == 0, ran.out
    shown = re.findall(r"searching .*?([\d,]+) of ([\d,]+) positions", ran.out)
    numbers = [tuple(int(text.replace(",", "")) for text in pair) for pair in shown]
    searched = max(total for _, total in numbers)
    assert {total for _, total in numbers} == {searched} and all(
        a <= b for (a, _), (b, _) in itertools.pairwise(numbers)
    )
    assert re.search(
        rf"^  positions +{searched:,} \(", ran.screen, re.MULTILINE
    )  # all that were read were searched
    assert "searching" not in ran.screen


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


def test_positions_are_counted_before_the_search_where_they_can_be_read_twice(
    small_pgn, small_dataset, tmp_path
):
    engine, _ = load_engine("classic")
    quiescence, options = quiescence_of(engine, "classic"), ReadOptions(skip_start=8)

    def counted(*sources: object) -> int | None:
        return count_positions(
            engine,
            [str(source) for source in sources],
            options,
            quiescence,
            print,
            lambda report: None,
        )

    assert (
        counted(small_pgn) == counted(small_pgn, small_pgn) == small_dataset.positions
    )  # repeated games are left out
    os.mkfifo(tmp_path / "pipe.pgn")
    assert [
        counted(small_pgn, other)
        for other in ("-", tmp_path / "pipe.pgn", tmp_path, small_dataset.path)
    ] == [None] * 4


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
