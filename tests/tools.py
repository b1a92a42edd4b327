"""Programs that some tests need: one is here if it answers, for a name on the path may be a shim
with nothing behind it."""

import functools
import os
import shutil
import subprocess

PATIENCE = 60  # seconds for a program to say its version


@functools.cache
def tool(*names: str) -> str | None:
    """The path of the first of these programs that says its version; None: no folder of the path
    has one that works."""
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    found = (shutil.which(name, path=folder) for name in names for folder in folders)
    return next((path for path in found if path and _answers(path)), None)


def _answers(path: str) -> bool:
    try:
        return (
            subprocess.run(
                [path, "--version"],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=PATIENCE,
                check=False,
            ).returncode
            == 0
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
