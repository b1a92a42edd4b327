"""What the tests of the commands share: running `tuner` in this process, and what it said."""

from __future__ import annotations

import contextlib
import io
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.games.tictactoe.support import random_games
from tuner.cli import main


@dataclass(frozen=True)
class Ran:
    """Exit status and output of a command."""

    status: int
    out: str
    err: str


def tuner(*arguments: object, stdin: bytes | None = None) -> Ran:
    """Run the command line; whatever escapes from it, which a user would see as a traceback, escapes from here."""
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
    """What was said on standard error, without the notes of the first run on a machine."""
    notes = ("tuner: compiling ", "tuner: compiled ")
    return "".join(line for line in text.splitlines(keepends=True) if not line.startswith(notes))


def done(*arguments: object, stdin: bytes | None = None) -> Ran:
    """Run a command that has to succeed."""
    ran = tuner(*arguments, stdin=stdin)
    assert ran.status == 0, ran.err
    return ran


def tictactoe_file(folder: Path, games: int = 400, seed: int = 1) -> Path:
    """Games played at random: quick to learn from."""
    path = folder / "games.ttt"
    path.write_text("\n".join(random_games(seed, games)) + "\n")
    return path
