"""Players that are processes, with a program that does what the test says."""

from __future__ import annotations

import sys

import pytest

from games.contest import CRASH, STALL, Forfeit
from games.process import EngineProcess
from games.protocol.player import ProcessPlayer
from games.streams import InputError

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
    assert player.running and player.ask("first\nlast one\n", b"last", 20.0) == [b"first", b"last one"]
    player.close()
    assert not player.running


@pytest.mark.parametrize(("program", "kind", "detail"), [
    (ECHO, STALL, "no move within 0.1 s"), ("import sys; input(); sys.exit(3)", CRASH, "exited with status 3")])
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
