"""What the tests of the commands share: running `tuner` in this process or in a terminal, and its
output."""

import contextlib
import fcntl
import io
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from dataclasses import dataclass
from pathlib import Path

from tests.games.support import REPOSITORY
from tests.games.tictactoe.support import random_games
from tests.support import file_with
from tuner.cli import main

PATIENCE = 600  # seconds, for a process on a busy machine
# A program under nohup or in the background ignores these signals, and so do the programs that it
# starts. Python with this hears them and becomes the Python that it is given arguments for; code
# between fork and exec, in a process with threads, could wait for ever.
HEARING = (
    sys.executable,
    "-ISc",
    "import os, signal, sys\n"
    "for each in (signal.SIGINT, signal.SIGHUP):\n"
    "    signal.signal(each, signal.SIG_DFL)\n"
    "os.execv(sys.executable, [sys.executable, *sys.argv[1:]])",
)


@dataclass(frozen=True)
class Ran:
    """Exit status and output of a command."""

    status: int
    out: str
    err: str


def tuner(*arguments: object, stdin: bytes | None = None) -> Ran:
    """Run the command line; whatever escapes from it, which a user would see as a traceback,
    escapes from here."""
    out, err, before = io.StringIO(), io.StringIO(), sys.stdin
    if stdin is not None:
        sys.stdin = io.TextIOWrapper(io.BytesIO(stdin))
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                status = main([str(argument) for argument in arguments])
            except SystemExit as problem:
                status = problem.code
    finally:
        sys.stdin = before
    return Ran(status, out.getvalue(), without_compiling(err.getvalue()))


def without_compiling(text: str) -> str:
    """Return what was printed on standard error, without the notes of the first run on a
    machine."""
    notes = ("tuner: compiling ", "tuner: compiled ")
    return "".join(line for line in text.splitlines(keepends=True) if not line.startswith(notes))


def done(*arguments: object, stdin: bytes | None = None) -> Ran:
    """Run a command that has to succeed."""
    ran = tuner(*arguments, stdin=stdin)
    assert ran.status == 0, ran.err
    return ran


def refused(*arguments: object, stdin: bytes | None = None) -> str:
    """Run a command that has to be refused, and return its one line; a line of its own may tell of
    each bad game before, and of progress where a machine is slow."""
    ran = tuner(*arguments, stdin=stdin)
    assert (ran.status, ran.out) == (2, ""), ran
    *notes, last = ran.err.splitlines()
    assert last.startswith("tuner") and last.isprintable(), ran.err
    beside = ("reading: ", "searching: ")
    assert all("skipped" in note or note.startswith(beside) for note in notes), ran.err
    return last


def tictactoe_file(folder: Path, games: int = 400, seed: int = 1) -> Path:
    """Games played at random: quick to learn from."""
    return file_with(folder / "games.ttt", "\n".join(random_games(seed, games)) + "\n")


@dataclass(frozen=True)
class Shown:
    """Exit status, all that a process wrote to its terminal, and what was left on the screen at the
    end, line by line."""

    status: int
    out: str
    screen: str


def in_terminal(*arguments: object, columns: int = 80, **environment: str) -> Shown:
    """Run the command line as a process whose standard streams are a terminal."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    clean = {
        name: value
        for name, value in os.environ.items()
        if name not in ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES")
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "tuner", *map(str, arguments)],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        cwd=REPOSITORY,
        env={**clean, "TERM": "xterm-256color", **environment},
    )
    os.close(theirs)
    pieces = []
    with contextlib.suppress(OSError):  # Linux raises it when the other side is closed
        while piece := os.read(ours, 1 << 16):
            pieces.append(piece)
    os.close(ours)
    out = b"".join(pieces).decode()
    return Shown(process.wait(PATIENCE), out, screen_of(out))


def screen_of(out: str) -> str:
    """Return the lines that a terminal shows at the end, after cursor up, erase line and carriage
    return, without colors."""
    lines, row, column = [""], 0, 0
    for part in re.findall(r"\x1b\[[0-9;?]*[A-Za-z]|\r|\n|[^\x1b\r\n]+", out):
        if part == "\n":
            row += 1
            lines += [""] * (row + 1 - len(lines))
        elif part == "\r":
            column = 0
        elif part.startswith("\x1b"):
            if part.endswith("A"):
                row = max(0, row - int(part[2:-1] or 1))
            elif part.endswith("K"):
                lines[row] = ""
        else:
            lines[row] = lines[row].ljust(column)[:column] + part + lines[row][column + len(part) :]
            column += len(part)
    return "\n".join(line.rstrip() for line in lines)
