"""Standard input and output as the system hands them over: closed, full, or of an encoding that lacks most characters."""

from __future__ import annotations

import errno
import os
import sys

# the disk, a quota, the largest file allowed, the device itself, too many open files: not what the program can mend
ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS, errno.EMFILE, errno.ENFILE)


def make_usable() -> None:
    """Have everything printed, as escapes where the encoding lacks a character; what is closed reads and writes nothing."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            try:
                os.fstat(number)
            except OSError:
                opened = os.open(os.devnull, os.O_RDWR)
                if opened != number:
                    os.dup2(opened, number)
                    os.close(opened)
            setattr(sys, name, open(number, "w" if number else "r", encoding="utf-8", closefd=False))
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def trouble(problem: OSError) -> str | None:
    """What to say of output for which there is no room, or no working device; None for other errors."""
    if problem.errno not in ROOM:
        return None
    try:
        sys.stdout.flush()
    except OSError:  # it would fail again at the end, with a traceback
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    where = os.fsdecode(problem.filename) if problem.filename else "output"  # files of ours have said their names
    return f"{where}: cannot be written: {problem.strerror}; make room, or choose another place"
