"""Programs that some tests need: one is here if it answers, for a name on the path may be a shim with nothing behind it."""

from __future__ import annotations

import functools
import shutil
import subprocess

PATIENCE = 60  # seconds for a program to say its version


@functools.cache
def tool(*names: str) -> str | None:
    """The path of the first of these programs that says its version; None: this machine has none that works."""
    return next((path for name in names if (path := shutil.which(name)) and _answers(path)), None)


def _answers(path: str) -> bool:
    try:
        return subprocess.run([path, "--version"], stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE,
                              check=False).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False
