"""Standard streams that are closed, full, or of an encoding that lacks most characters."""

from __future__ import annotations

import errno
import os
import sys

# disk full, quota, file size limit, device error, read-only, too many open files: problems of the system, not of the program
ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS, errno.EMFILE, errno.ENFILE)


def make_usable() -> None:
    """Print characters that the encoding lacks as escapes, and connect closed streams to the null device."""
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
    """Return an error message for output that a full disk or a broken device refused; None for other errors."""
    if problem.errno not in ROOM:
        return None
    try:
        sys.stdout.flush()
    except OSError:  # it would fail again at exit, with a traceback
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    where = os.fsdecode(problem.filename) if problem.filename else "output"  # files are named, standard output is not
    return f"{where}: cannot be written: {problem.strerror}; make room, or choose another place"
