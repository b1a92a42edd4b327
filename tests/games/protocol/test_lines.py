"""Values in the lines of protocols."""

import io
import shlex
import sys

import pytest

from games.process import EngineProcess, ProcessPlayer, cpu_seconds
from games.protocol.server import LONGEST_LINE, arguments_of_go, lines_of, number, shown, truth
from games.record import CRASH, STALL, Forfeit
from games.streams import InputError

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
    with pytest.raises(ValueError, match="Hash 9 is not from 1 to 8"):
        number("Hash", "9", 1, 8)
    with pytest.raises(ValueError, match="^Ponder 'x{59}...' is neither true nor false$"):
        truth("Ponder", "x" * 1000)
    assert truth("Ponder", "TRUE") and shown("\n") == "'\\n'"


ECHO = "import sys\nfor line in sys.stdin: print(line, end='', flush=True)"


class Asked(ProcessPlayer):
    """A program of one's own; an empty one does not start."""

    def __init__(self, program: str) -> None:
        super().__init__()
        self.program = program

    def start(self) -> None:
        if not self.program:
            raise InputError("no program")
        self._process = EngineProcess(f'{sys.executable} -c "{self.program}"', "a program")


def test_lines_are_read_up_to_the_answer():
    player = Asked(ECHO)
    player.begin("1")
    assert player.running and player.ask("first\nlast one\n", b"last", 20.0) == [
        b"first",
        b"last one",
    ]
    player.close()
    assert not player.running


@pytest.mark.parametrize(
    ("program", "kind", "detail"),
    [
        (ECHO, STALL, "no move within 0.1 s"),
        ("import sys; input(); sys.exit(3)", CRASH, "exited with status 3"),
    ],
)
def test_silence_and_an_end_forfeit_and_the_program_is_started_again(program, kind, detail):
    player = Asked(program)
    player.begin("1")
    with pytest.raises(Forfeit) as forfeit:
        player.ask("first\n", b"last", 0.1 if kind == STALL else 20.0)
    assert (forfeit.value.kind, forfeit.value.detail) == (kind, detail)
    with pytest.raises(Forfeit, match="ended before"):
        player.ask("first\n", b"first", 20.0)
    player.program = ECHO
    player.begin("2")
    assert player.ask("first\n", b"first", 20.0) == [b"first"]
    player.close()


def test_a_program_that_does_not_start_again_forfeits():
    with pytest.raises(Forfeit, match="does not restart: no program"):
        Asked("").begin("1")


def test_the_cpu_time_of_another_process_is_that_of_the_system():
    """Beside what the process itself says."""
    busy = (
        "import time\nwhile time.process_time() < 0.5: pass\nprint(time.process_time(),"
        " flush=True)\ninput()"
    )
    process = EngineProcess(shlex.join([sys.executable, "-c", busy]))
    try:
        said = float(process.until(b"0", 60)[-1])
        assert (
            said <= cpu_seconds(process.number) + 0.05 and cpu_seconds(process.number) < said + 0.2
        )
    finally:
        process.kill()
    assert cpu_seconds(1 << 30) is None
